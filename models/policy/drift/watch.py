"""From a user's newest ledger rows to what has changed about each gate, and what may be wrong with it.

Guards: gates that die silently. Silence is also their normal answer, so that one that always says no looks like one
with nothing to say; and one that always says yes looks like one with much to say.
Cost: a few sorts over at most some thousand rows. Fails: towards saying nothing; below the minimum it says how many
decisions there are, and of how many. Its error rates: `tests/unit/policy/drift` holds false alarms on stationary
streams below one in twenty, and finds planted shifts.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Final

import msgspec

from recalld.models.domain.drift import (
    AlarmName,
    Band,
    DecisionSample,
    DriftAlarm,
    DriftReport,
    GateDrift,
    GateName,
    Reference,
    Shift,
    Statistic,
)
from recalld.models.domain.reasons import AdmissionReason, Op, RecallDecision, RecallReason
from recalld.models.policy.drift.histogram import Histogram, histogram_of
from recalld.models.policy.drift.ks import SCORES_MIN, ks, ks_band, ks_limit
from recalld.models.policy.drift.psi import band_of, binned_names, psi, psi_limit
from recalld.models.policy.drift.remedies import REMEDIES
from recalld.models.policy.drift.shadow_counts import shadow_counts

ROWS_PER_DECISION: Final = 6
"""Ledger rows read for each decision of the window: three windows, and every second recall may have judged nothing."""
EARLIER_WINDOWS: Final = 2
NO_TEXT_SHARE: Final = 0.5
JUMP_MIN: Final = 0.15
"""A smaller change of a rate is no alarm, however sure it is: what users talk about changes from week to week."""
_Z: Final = 3.2905
"""Two-sided: one in 1,000 lies beyond, of a standard normal variable."""
_NOTHING_LEFT: Final = frozenset({"dropped", "refused"})
REASONS: Final = "reasons"
SCORES: Final = "scores"


class DriftRules(msgspec.Struct, frozen=True, kw_only=True):
    """How much is looked at.

    Attributes:
        window: Newest decisions of a gate that are compared with those before; there are at least `decisions_min`.
        decisions_min: Decisions on either side below which nothing is said.
        silent_after: Decisions without an exception after which a gate never, or always, fires. None of n means a rate
            below 3/n, with 95 % confidence.
    """

    window: int = 500
    decisions_min: int = 200
    silent_after: int = 500

    @property
    def rows_max(self) -> int:
        """Ledger rows of each kind to read for one user."""
        return ROWS_PER_DECISION * max(self.window, self.silent_after)


class DriftContext(msgspec.Struct, frozen=True, kw_only=True):
    """What the daemon knows beside the ledger.

    Attributes:
        mismatches: Why the calibration does not hold for what runs; empty when it does.
        scores: How scores are distributed on the data of the calibration in force; None: not told.
        calibration_id: Its id.
        is_own: Whether it was fitted on this installation's own data.
    """

    mismatches: tuple[str, ...] = ()
    scores: Histogram | None = None
    calibration_id: str = ""
    is_own: bool = False


class _Gate(msgspec.Struct, frozen=True):
    """How one gate is read out of the samples."""

    name: GateName
    op: Op
    counts: Callable[[DecisionSample], bool]
    fired: Callable[[DecisionSample], bool]
    cause: Callable[[DecisionSample], str]
    no_text: str


def _is_judged(sample: DecisionSample) -> bool:
    return sample.relevance is not None and not sample.is_search


_GATES: Final = (
    _Gate(
        name=GateName.TURN,
        op=Op.RECALL,
        counts=lambda sample: not sample.is_search and sample.decision != RecallDecision.ERROR,
        fired=lambda sample: sample.decision != RecallDecision.SKIP,
        cause=lambda sample: sample.rule or sample.reason,
        no_text=RecallReason.NO_USER_TEXT,
    ),
    _Gate(
        name=GateName.RELEVANCE,
        op=Op.RECALL,
        counts=_is_judged,
        fired=lambda sample: sample.decided > 0,
        cause=lambda sample: sample.reason,
        no_text="",
    ),
    _Gate(
        name=GateName.WRITE,
        op=Op.OBSERVE,
        counts=lambda sample: sample.reason != AdmissionReason.NOT_USER_SPEAKER,
        fired=lambda sample: sample.decision not in _NOTHING_LEFT,
        cause=lambda sample: sample.reason,
        no_text=AdmissionReason.NO_USER_TEXT,
    ),
)


def watch(user: str, samples: Sequence[DecisionSample], rules: DriftRules, context: DriftContext) -> DriftReport:
    """Look at a user's decisions.

    Args:
        user: Whose.
        samples: Rows of recalls and observed turns, newest first, of each kind at most `rules.rows_max`.
        rules: How much is looked at.
        context: What else is known.
    """
    return DriftReport(
        user=user,
        gates=tuple(_watch_gate(gate, samples, rules, context) for gate in _GATES),
        shadow=shadow_counts(samples),
    )


def _watch_gate(gate: _Gate, samples: Sequence[DecisionSample], rules: DriftRules, context: DriftContext) -> GateDrift:
    mine = [sample for sample in samples if sample.op is gate.op and gate.counts(sample)]
    newest, earlier = _windows(mine, rules)
    shifts = _shifts(gate, newest, earlier, rules, context)
    alarms = (
        *_mismatch(gate, context),
        *_dead(gate, mine, rules),
        *_without_text(gate, newest, rules),
        *_jump(gate, newest, earlier, rules),
        *_shift_alarms(gate, shifts),
    )
    return GateDrift(
        gate=gate.name,
        n=len(newest),
        fired=sum(map(gate.fired, newest)),
        earlier_n=len(earlier),
        earlier_fired=sum(map(gate.fired, earlier)),
        too_few=_too_few(newest, earlier, rules),
        shifts=shifts,
        alarms=alarms,
    )


def _windows(
    mine: Sequence[DecisionSample], rules: DriftRules
) -> tuple[Sequence[DecisionSample], Sequence[DecisionSample]]:
    """The newest decisions and those before them: half and half, until there are enough for a whole window."""
    size = min(rules.window, max(rules.decisions_min, len(mine) // 2))
    return mine[:size], mine[size : size + EARLIER_WINDOWS * rules.window]


def _too_few(newest: Sequence[DecisionSample], earlier: Sequence[DecisionSample], rules: DriftRules) -> str:
    if len(newest) < rules.decisions_min:
        return f"too few decisions: {len(newest)} of {rules.decisions_min}"
    if len(earlier) < rules.decisions_min:
        return f"too few earlier decisions to compare with: {len(earlier)} of {rules.decisions_min}"
    return ""


def _alarm(gate: _Gate, name: AlarmName, seen: str) -> DriftAlarm:
    return DriftAlarm(name=name, seen=seen, remedy=REMEDIES[gate.name, name])


def _mismatch(gate: _Gate, context: DriftContext) -> tuple[DriftAlarm, ...]:
    if gate.name is not GateName.RELEVANCE or not context.mismatches:
        return ()
    return (_alarm(gate, AlarmName.CALIBRATION_MISMATCH, "; ".join(context.mismatches)),)


def _dead(gate: _Gate, mine: Sequence[DecisionSample], rules: DriftRules) -> tuple[DriftAlarm, ...]:
    """A gate that has said the same for very long."""
    looked_at = mine[: rules.silent_after]
    if len(looked_at) < rules.silent_after:
        return ()
    fired = sum(map(gate.fired, looked_at))
    if fired == 0:
        return (_alarm(gate, AlarmName.NEVER_FIRES, f"let nothing through in the last {len(looked_at)} decisions"),)
    if fired == len(looked_at):
        seen = f"let something through in each of the last {len(looked_at)} decisions"
        return (_alarm(gate, AlarmName.ALWAYS_FIRES, seen),)
    return ()


def _without_text(gate: _Gate, newest: Sequence[DecisionSample], rules: DriftRules) -> tuple[DriftAlarm, ...]:
    if not gate.no_text or len(newest) < rules.decisions_min:
        return ()
    count = sum(sample.reason == gate.no_text for sample in newest)
    if count < NO_TEXT_SHARE * len(newest):
        return ()
    seen = f"{count} of the last {len(newest)} turns had no word of the user"
    return (_alarm(gate, AlarmName.NO_USER_TEXT, seen),)


def _jump(
    gate: _Gate, newest: Sequence[DecisionSample], earlier: Sequence[DecisionSample], rules: DriftRules
) -> tuple[DriftAlarm, ...]:
    n, m = len(newest), len(earlier)
    if min(n, m) < rules.decisions_min:
        return ()
    now, before = sum(map(gate.fired, newest)) / n, sum(map(gate.fired, earlier)) / m
    pooled = (now * n + before * m) / (n + m)
    error = math.sqrt(pooled * (1.0 - pooled) * (1.0 / n + 1.0 / m))
    if abs(now - before) < max(JUMP_MIN, _Z * error):
        return ()
    seen = f"let something through in {now:.0%} of the last {n} decisions, and in {before:.0%} of the {m} before"
    return (_alarm(gate, AlarmName.RATE_JUMP, seen),)


def _shifts(
    gate: _Gate,
    newest: Sequence[DecisionSample],
    earlier: Sequence[DecisionSample],
    rules: DriftRules,
    context: DriftContext,
) -> tuple[Shift, ...]:
    shifts: list[Shift] = []
    if min(len(newest), len(earlier)) >= rules.decisions_min:
        counts, before = binned_names([gate.cause(each) for each in newest], [gate.cause(each) for each in earlier])
        shifts.append(_psi_shift(REASONS, counts, before, Reference.EARLIER))
    if gate.name is GateName.RELEVANCE:
        shifts += _score_shifts(newest, earlier, rules, context)
    return tuple(shifts)


def _score_shifts(
    newest: Sequence[DecisionSample], earlier: Sequence[DecisionSample], rules: DriftRules, context: DriftContext
) -> list[Shift]:
    """Scores beside those of before, and beside those of the calibration; of another calibration none is compared."""
    calibration_id = newest[0].calibration_id if newest else ""
    now, before = _scores_of(newest, calibration_id), _scores_of(earlier, calibration_id)
    shifts: list[Shift] = []
    if min(len(now), len(before)) >= rules.decisions_min:
        reference = histogram_of(before)
        counts = histogram_of(now, reference.edges).counts
        shifts.append(_psi_shift(SCORES, counts, reference.counts, Reference.EARLIER))
        if min(len(now), len(before)) >= SCORES_MIN:
            shifts.append(_ks_shift(now, before))
    sample = context.scores
    is_of_it = context.calibration_id != "" and context.calibration_id in calibration_id.split("+")
    if sample is not None and is_of_it and min(len(now), sample.n) >= rules.decisions_min:
        counts = histogram_of(now, sample.edges).counts
        against = Reference.CALIBRATION if context.is_own else Reference.SHIPPED_CALIBRATION
        shifts.append(_psi_shift(SCORES, counts, sample.counts, against))
    return shifts


def _scores_of(samples: Sequence[DecisionSample], calibration_id: str) -> list[float]:
    return [each.relevance for each in samples if each.relevance is not None and each.calibration_id == calibration_id]


def _psi_shift(what: str, counts: Sequence[int], before: Sequence[int], reference: Reference) -> Shift:
    value = psi(counts, before)
    n, reference_n = sum(counts), sum(before)
    return Shift(
        what=what,
        statistic=Statistic.PSI,
        reference=reference,
        value=value,
        limit=psi_limit(n=n, reference_n=reference_n, bins=len(counts)),
        band=band_of(value),
        n=n,
        reference_n=reference_n,
    )


def _ks_shift(now: Sequence[float], before: Sequence[float]) -> Shift:
    value = ks(now, before)
    return Shift(
        what=SCORES,
        statistic=Statistic.KS,
        reference=Reference.EARLIER,
        value=value,
        limit=ks_limit(n=len(now), reference_n=len(before)),
        band=ks_band(value),
        n=len(now),
        reference_n=len(before),
    )


def _shift_alarms(gate: _Gate, shifts: Sequence[Shift]) -> tuple[DriftAlarm, ...]:
    """One alarm for reasons and one for scores, with every figure beyond its limit."""
    alarms: list[DriftAlarm] = []
    for what, name in ((REASONS, AlarmName.REASON_SHIFT), (SCORES, AlarmName.SCORE_SHIFT)):
        beyond = [
            shift
            for shift in shifts
            if shift.what == what
            and shift.reference is not Reference.SHIPPED_CALIBRATION
            and shift.band is Band.LARGE
            and shift.value >= shift.limit
        ]
        if beyond:
            alarms.append(_alarm(gate, name, "; ".join(map(_sentence, beyond))))
    return tuple(alarms)


def _sentence(shift: Shift) -> str:
    against = "those before" if shift.reference is Reference.EARLIER else "those of the calibration"
    return (
        f"{shift.what} of the last {shift.n} decisions differ from {against} ({shift.reference_n}): "
        f"{shift.statistic.upper()} {shift.value:.2f}, limit {shift.limit:.2f}"
    )
