"""Having a model read turns in batches: is one due, and which turns are in it?

Guards: the time of a model, and turns against being lost between two calls. Cost: a walk over the turns that wait.
Fails: towards waiting. The turns that wait are the candidates, in order of arrival; `cluster` and `failures` say which
of them failed together and how often. What is read now is named in `items`; the others wait, whatever comes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

import msgspec

from recalld.models.domain.decide import DecideCandidate, DecideRequest
from recalld.models.domain.decision import (
    CandidateReason,
    DecideEvidence,
    DecideLimits,
    DecideParams,
    DecideReason,
    Decision,
    GateDecision,
    JudgedCandidate,
)
from recalld.models.policy.debounce import (
    DebounceCode,
    DebounceRules,
    NextStep,
    WaitingTurn,
    cooled_until,
    next_step,
    pause_after,
)
from recalld.models.policy.profiles.answers import answer, lacking
from recalld.models.policy.profiles.reading import age_ms_of
from recalld.models.policy.profiles.spec import DebounceProfile

RULE = "debounce"
CALLED_MS = "called_ms"
"""Counter: when the last call ended, Unix epoch milliseconds; where it is missing there was none."""
FORCED = "forced"
"""Counter: 1 when somebody asked for a batch now."""
_WAITS: Mapping[DebounceCode, DecideReason] = MappingProxyType(
    {DebounceCode.SUPERSEDED: DecideReason.QUIET_AWAITED, DebounceCode.COOLED: DecideReason.COOLING_DOWN}
)


def decide_debounce(request: DecideRequest, profile: DebounceProfile) -> Decision:
    """Name the turns to read now, or the moment to ask again."""
    now_ms = request.now_ms
    if not request.candidates:
        return answer(profile, GateDecision.SKIP, DecideReason.NOTHING_WAITING, decided_by=RULE)
    if now_ms is None:
        return lacking(profile, "now")
    if any(age_ms_of(each, now_ms) is None for each in request.candidates):
        return lacking(profile, "candidates.at_ms", "candidates.age_ms")
    rules = rules_of(profile)
    called_ms = request.counters.get(CALLED_MS)
    turns, set_aside = _waiting(request.candidates, rules, now_ms=now_ms, called_ms=called_ms)
    step = next_step(
        turns,
        rules,
        now_ms=now_ms,
        cool_until_ms=0 if called_ms is None else cooled_until(called_ms, rules),
        is_forced=request.counters.get(FORCED, 0) > 0,
    )
    return _answered(request, profile, step, set_aside)


def rules_of(profile: DebounceProfile) -> DebounceRules:
    """The profile's settings, as the rules of the queue."""
    wait_max_ms = profile.keep_ms if profile.wait_max_ms is None else profile.wait_max_ms
    return DebounceRules(
        quiet_ms=wait_max_ms if profile.quiet_ms is None else profile.quiet_ms,
        wait_max_ms=wait_max_ms,
        gathered_min=profile.gathered_min,
        batch_max=profile.batch_max,
        cooldown_ms=profile.cooldown_ms,
        tries_max=profile.tries_max,
        pause_ms=profile.pause_ms,
        keep_ms=profile.keep_ms,
    )


def _waiting(
    candidates: Sequence[DecideCandidate], rules: DebounceRules, *, now_ms: int, called_ms: int | None
) -> tuple[list[WaitingTurn], frozenset[int]]:
    """The candidates as turns, numbered from 1, and the numbers of those that are not tried again.

    A batch that failed often enough is halved here, the halves being tried one after another.
    """
    groups: dict[str, list[int]] = {}
    for number, candidate in enumerate(candidates, start=1):
        if candidate.cluster and candidate.failures:
            groups.setdefault(candidate.cluster, []).append(number)
    group_of: dict[int, int] = {}
    set_aside: set[int] = set()
    for name, numbers in groups.items():
        is_spent = max(each.failures for each in candidates if each.cluster == name) >= rules.tries_max
        if is_spent and len(numbers) == 1:
            set_aside.update(numbers)
            continue
        middle = len(numbers) // 2 if is_spent else len(numbers)
        for part in (numbers[:middle], numbers[middle:]):
            group_of |= dict.fromkeys(part, part[0] if part else 0)
    turns = []
    for number, candidate in enumerate(candidates, start=1):
        if number not in set_aside:
            added_ms = now_ms - (age_ms_of(candidate, now_ms) or 0)
            turn = WaitingTurn(number=number, added_ms=added_ms, chars=len(candidate.text))
            turns.append(_failed(turn, candidate, group_of.get(number, 0), rules, called_ms=called_ms))
    return turns, frozenset(set_aside)


def _failed(
    turn: WaitingTurn, candidate: DecideCandidate, group: int, rules: DebounceRules, *, called_ms: int | None
) -> WaitingTurn:
    """The turn with what its batch's failures mean for it."""
    if not group:
        return turn
    is_halved = candidate.failures >= rules.tries_max
    paused_until_ms = 0 if is_halved or called_ms is None else called_ms + pause_after(candidate.failures, rules)
    return msgspec.structs.replace(turn, group=group, failures=candidate.failures, paused_until_ms=paused_until_ms)


def _answered(request: DecideRequest, profile: DebounceProfile, step: NextStep, set_aside: frozenset[int]) -> Decision:
    read = frozenset(each.number for each in step.batch)
    judged = tuple(
        JudgedCandidate(id=candidate.id, reason=_reason(number, read, step, set_aside))
        for number, candidate in enumerate(request.candidates, start=1)
    )
    evidence = DecideEvidence(
        candidates=judged,
        counts={
            "waiting": len(judged) - len(set_aside) - len(step.expired),
            "set_aside": len(set_aside),
            "expired": len(step.expired),
        },
        thresholds={"gathered_min": float(profile.gathered_min), "tries_max": float(profile.tries_max)},
    )
    if step.batch:
        items = tuple(each.id for each in judged if each.reason is CandidateReason.PASSED)
        params = DecideParams(items=items, limits=DecideLimits(batch_max=len(items)))
        decision, reason = GateDecision.RUN, DecideReason.BATCH_DUE
    elif step.waits_for is None:
        params, decision, reason = DecideParams(), GateDecision.SKIP, DecideReason.NOTHING_WAITING
    else:
        params = DecideParams(not_before_ms=step.look_at_ms)
        decision, reason = GateDecision.DEFER, _WAITS[step.waits_for]
    return answer(profile, decision, reason, decided_by=RULE, params=params, evidence=evidence)


def _reason(number: int, read: frozenset[int], step: NextStep, set_aside: frozenset[int]) -> CandidateReason:
    if number in read:
        return CandidateReason.PASSED
    if number in set_aside:
        return CandidateReason.SET_ASIDE
    return CandidateReason.EXPIRED if number in step.expired else CandidateReason.WAITING
