"""How a recall ends: what is shown, and decision, mode and reason from what each step left."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from recalld.actors.recall.candidates import Found
from recalld.actors.recall.coverage import limited_by
from recalld.actors.recall.gate import GateRun
from recalld.actors.supervisor import GateTrouble
from recalld.models.domain.reasons import DropReason, RecallDecision, RecallMode, RecallReason
from recalld.models.domain.recall import Candidate, Coverage, DroppedItem, RecalledItem, RecallOutcome, RecallTimings
from recalld.models.policy.degraded_list import LAG_MAX, DegradedList, stand_out
from recalld.models.policy.floor import FloorValues
from recalld.models.policy.pack import Packed, pack
from recalld.models.policy.preselection import Unread
from recalld.models.policy.silence import why_silent

_SHOWN_OR_EXCLUDED = frozenset({DropReason.ALREADY_VISIBLE, DropReason.EXCLUDED_BY_CALLER})


class Passed(msgspec.Struct, frozen=True, kw_only=True):
    """Candidates after floor and exclusions, and what was left out on the way.

    Attributes:
        timed: Those that answer by their time alone, newest first; no gate judges them.
        candidates: Those that are to be judged, best first.
        ranked: Both, and those that are excluded, in the floor's order.
        dropped: Excluded or below the floor.
        below_floor: How many were below the floor.
        unread: Those that lie behind so many others that nobody has read them; none of them is below the floor.
    """

    timed: tuple[Candidate, ...]
    candidates: tuple[Candidate, ...]
    dropped: tuple[DroppedItem, ...]
    below_floor: int
    ranked: tuple[Candidate, ...]
    unread: tuple[Unread, ...] = ()

    @property
    def in_order(self) -> tuple[Candidate, ...]:
        """All that is left, best first."""
        return (*self.timed, *self.candidates)

    def stand_out(self, limits: OutcomeLimits) -> DegradedList:
        """What is shown of it where nothing was judged, and what is held back."""
        kept = frozenset(each.memory.id for each in self.in_order)
        return stand_out(
            self.ranked,
            kept=kept,
            floors=limits.floors,
            items_max=limits.degraded_max_items,
            timed=frozenset(each.memory.id for each in self.timed),
            lag_max=limits.lag_max,
        )

    @property
    def is_best_excluded(self) -> bool:
        """Whether the first of all is in view already, or was excluded by the caller."""
        if not self.ranked:
            return False
        best = self.ranked[0].memory.id
        return any(item.memory_id == best and item.reason in _SHOWN_OR_EXCLUDED for item in self.dropped)


class OutcomeLimits(msgspec.Struct, frozen=True, kw_only=True):
    """How much may be shown; see docs/operating.md."""

    max_items: int
    max_chars: int
    degraded_max_items: int
    floors: FloorValues
    lag_max: float = LAG_MAX


class _Shown(msgspec.Struct, frozen=True, kw_only=True):
    """What is to be packed, and what the gate (or the cap of a degraded answer) held back."""

    items: tuple[RecalledItem, ...]
    dropped: tuple[DroppedItem, ...]


def outcome_of(recall_id: str, found: Found, passed: Passed, run: GateRun, limits: OutcomeLimits) -> RecallOutcome:
    """The outcome of a recall that came to candidates; its timings are the caller's to add.

    Args:
        recall_id: Its id.
        found: What was nominated.
        passed: What of it floor and exclusions left.
        run: What the gate made of `passed.candidates`.
        limits: How much may be shown.
    """
    shown = _shown(found, passed, run, limits)
    packed = pack(shown.items, max_items=limits.max_items, max_chars=limits.max_chars)
    trouble = run.trouble or found.trouble
    reason = _reason(found, passed, run, shown, packed, limits)
    coverage = found.coverage or _seen(found)
    ungated = passed.stand_out(limits).shown
    kept_back = _not_among(ungated, packed.items)
    return RecallOutcome(
        recall_id=recall_id,
        decision=_decision(packed.items, reason),
        mode=_mode(found.trouble, run.trouble),
        reason=reason,
        items=packed.items,
        dropped=(*shown.dropped, *packed.dropped, *passed.dropped, *_outranked(passed)),
        floor_items=tuple(each.memory.id for each in ungated),
        degraded_reason=None if trouble is None else trouble.reason,
        degraded_detail="" if trouble is None else trouble.detail,
        coverage=msgspec.structs.replace(
            coverage,
            limited_by=limited_by(
                found.limits,
                report=run.report,
                packed=packed.dropped,
            ),
        ),
        gate=msgspec.structs.replace(
            run.report,
            filtered_by_floor=passed.below_floor,
            kept_back=len(kept_back),
            kept_back_chars=sum(len(each.memory.text) for each in kept_back),
        ),
        timings=RecallTimings(),
    )


def _not_among(candidates: Sequence[Candidate], items: Sequence[RecalledItem]) -> list[Candidate]:
    shown = {item.memory.id for item in items}
    return [each for each in candidates if each.memory.id not in shown]


def _shown(found: Found, passed: Passed, run: GateRun, limits: OutcomeLimits) -> _Shown:
    """What the gate let through, or in its stead what stands out of the floor's own list, in its own order."""
    if run.trouble is None:
        timed = tuple(_unjudged(each, answers_by_time=True) for each in passed.timed)
        return _Shown(items=(*timed, *run.passed), dropped=run.dropped)
    listed = passed.stand_out(limits)
    if found.asks_only_for_time and not found.timed:  # nobody asked for what is near to "what did we decide"
        listed = DegradedList(shown=(), dropped=tuple(_out_of_interval(each) for each in passed.in_order))
    timed_ids = {each.memory.id for each in passed.timed}
    return _Shown(
        items=tuple(_unjudged(each, answers_by_time=each.memory.id in timed_ids) for each in listed.shown),
        dropped=listed.dropped,
    )


def _out_of_interval(candidate: Candidate) -> DroppedItem:
    return DroppedItem(memory_id=candidate.memory.id, reason=DropReason.OUT_OF_INTERVAL, evidence=candidate.evidence)


def _outranked(passed: Passed) -> tuple[DroppedItem, ...]:
    return tuple(
        DroppedItem(memory_id=each.memory_id, reason=DropReason.OUTRANKED, evidence=each.evidence)
        for each in passed.unread
    )


def _unjudged(candidate: Candidate, *, answers_by_time: bool) -> RecalledItem:
    return RecalledItem(
        memory=candidate.memory, evidence=candidate.evidence, relevance=None, answers_by_time=answers_by_time
    )


def _seen(found: Found) -> Coverage:
    """The least that is there, where nobody could count in time: what was found of it."""
    return Coverage(discovered=len(found.candidates), searched=len(found.candidates))


def _decision(items: Sequence[RecalledItem], reason: RecallReason) -> RecallDecision:
    """Silence because something broke is an error, and never looks like silence because nothing helped."""
    if items:
        return RecallDecision.INJECT
    return RecallDecision.ERROR if reason is RecallReason.DEGRADED else RecallDecision.SILENT


def _reason(
    found: Found, passed: Passed, run: GateRun, shown: _Shown, packed: Packed, limits: OutcomeLimits
) -> RecallReason:
    """Why it ended so."""
    if packed.items:
        return _why_shown(packed.items, is_gated=run.trouble is None)
    # Without items to show in spite of a failed gate, `degraded_max_items` is 0: a limit as well.
    if shown.items or (run.trouble is not None and not limits.degraded_max_items):
        return RecallReason.OVER_LIMITS
    # Nothing stands out but what is excluded. Of a time that is all that was asked for, nothing is there.
    if run.trouble is not None and not (found.asks_only_for_time and not found.timed):
        return RecallReason.EXCLUDED
    return why_silent(
        coverage=found.coverage,
        has_vectors=found.trouble is None,
        candidates=len(found.candidates) + len(found.unread),
        above_floor=len(found.candidates) + len(found.unread) - passed.below_floor,
        not_excluded=len(passed.in_order) + len(passed.unread),
        timed=found.timed,
        asks_only_for_time=found.asks_only_for_time,
        is_best_excluded=passed.is_best_excluded,
    )


def _why_shown(items: Sequence[RecalledItem], *, is_gated: bool) -> RecallReason:
    if is_gated and any(item.relevance is not None for item in items):
        return RecallReason.RELEVANT
    return RecallReason.IN_INTERVAL if any(item.answers_by_time for item in items) else RecallReason.PASSED_FLOOR


def _mode(vector: GateTrouble | None, gate: GateTrouble | None) -> RecallMode:
    """Where on the ladder the recall ran. A foreign query is not a fault, but it was not gated either."""
    if vector is not None:
        return RecallMode.LEXICAL_ONLY
    return RecallMode.GATED if gate is None else RecallMode.FLOOR_ONLY
