"""Outcomes and standing choices of the in-memory store."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from recalld.actors.store.memory_outcome_state import KeptChoice, KeptOutcome, OutcomeState
from recalld.actors.store.memory_state import Entry, StoreState, UserState
from recalld.actors.store.outcome_rules import check_outcome, no_such_memory, set_decision
from recalld.models.domain.outcomes import (
    OUTCOMES_MAX,
    OutcomeRecorded,
    OutcomeTally,
    RecordOutcome,
    ReportedOutcome,
)
from recalld.models.domain.records import MemoryStatus
from recalld.models.domain.standing import (
    STANDING_KINDS,
    MemoryOutcomes,
    SetStanding,
    StandingAction,
    StandingCandidate,
    StandingCandidates,
    StandingChoice,
    StandingSet,
)
from recalld.models.policy.standing.block import choice_after, holds_after


def record_outcome(state: StoreState, command: RecordOutcome) -> OutcomeRecorded:
    """Keep a report. Raises as `check_outcome` does."""
    user = state.users.get(command.user)
    entry = None if user is None else user.entries.get(command.memory_id)
    is_there = entry is not None and entry.memory.status is not MemoryStatus.FORGOTTEN
    check_outcome(command, state.decisions.get(command.decision_id), is_memory_there=is_there)
    kept = state.user(command.user).reports
    key = (command.decision_id, command.memory_id, command.result)
    if any((each.reported.decision_id, each.reported.memory_id, each.reported.result) == key for each in kept.outcomes):
        return OutcomeRecorded(is_new=False)
    reported = ReportedOutcome(
        decision_id=command.decision_id, memory_id=command.memory_id, result=command.result, at_ms=command.at_ms
    )
    kept.outcomes.append(KeptOutcome(reported=reported, recorded_at_ms=command.now_ms))
    del kept.outcomes[:-OUTCOMES_MAX]
    return OutcomeRecorded(is_new=True)


def set_standing(state: StoreState, command: SetStanding) -> StandingSet:
    """Note what a person decided. Raises `NOT_FOUND` for a memory that is not live."""
    user = state.users.get(command.user)
    entry = None if user is None else user.entries.get(command.memory_id)
    if user is None or entry is None or not (entry.is_indexed and entry.memory.is_live(command.now_ms)):
        raise no_such_memory(command.memory_id)
    choices = user.reports.choices
    before = choices.get(command.memory_id)
    held = None if before is None else before.choice
    by_kind = entry.memory.kind in STANDING_KINDS
    has_reports = any(each.reported.memory_id == command.memory_id for each in user.reports.outcomes)
    counted = _counted(user.reports, command.memory_id)
    choice = choice_after(command.action, held, by_kind=by_kind, has_reports=has_reports)
    is_fresh_start = command.action is StandingAction.RESTORE and counted != OutcomeTally()
    is_changed = choice is not held or (choice is StandingChoice.RESTORED and is_fresh_start)
    if choice is None:
        choices.pop(command.memory_id, None)
    elif is_changed:
        choices[command.memory_id] = KeptChoice(choice=choice, at_ms=command.now_ms)
    decision = set_decision(command, is_changed=is_changed)
    state.append_decision(decision)
    return StandingSet(
        choice=choice,
        is_standing=holds_after(choice, by_kind=by_kind),
        is_changed=is_changed,
        decision_id=decision.id,
    )


def tallies(kept: OutcomeState, memory_ids: Sequence[str]) -> dict[str, OutcomeTally]:
    """Reports on each memory, counted."""
    return {id_: _tally(each for each in kept.outcomes if each.reported.memory_id == id_) for id_ in memory_ids}


def reported(kept: OutcomeState, *, memory_id: str, decision_id: str, limit: int) -> MemoryOutcomes:
    """What was reported on a memory, or on a decision."""
    about = [
        each
        for each in kept.outcomes
        if (each.reported.memory_id == memory_id if memory_id else each.reported.decision_id == decision_id)
    ]
    choice = kept.choices.get(memory_id)
    newest = tuple(each.reported for each in reversed(about))[: max(limit, 0)]
    return MemoryOutcomes(tally=_tally(about), newest=newest, choice=None if choice is None else choice.choice)


def standing_candidates(user: UserState, scope: str, *, now_ms: int, limit: int) -> StandingCandidates:
    """Live memories of the scope and the global one that may stand, pinned ones first, then the newest."""
    chosen = {
        memory_id
        for memory_id, kept in user.reports.choices.items()
        if kept.choice in {StandingChoice.PINNED, StandingChoice.DEMOTED}
    }
    found = [
        _candidate(user, entry)
        for entry in user.live(now_ms)
        if entry.memory.scope in ("", scope) and (entry.memory.kind in STANDING_KINDS or entry.memory.id in chosen)
    ]
    found.sort(key=lambda each: (each.memory.created_at_ms, each.memory.id), reverse=True)
    found.sort(key=lambda each: each.choice is not StandingChoice.PINNED)
    size = max(limit, 0)
    return StandingCandidates(candidates=tuple(found[:size]), unread=max(len(found) - size, 0))


def _candidate(user: UserState, entry: Entry) -> StandingCandidate:
    memory, choice = entry.memory, user.reports.choices.get(entry.memory.id)
    evidence = user.admission.evidence_of(memory.id)
    return StandingCandidate(
        memory=memory,
        tally=_counted(user.reports, memory.id),
        turns=max(
            sum(turn.memory_id == memory.id for turn in user.turns.values()),
            sum(bool(each.turn_id) for each in evidence),
        ),
        found_by=frozenset(each.generator for each in evidence),
        is_promoted=any(row.promoted_to == memory.id for row in user.admission.observations.values()),
        choice=None if choice is None else choice.choice,
    )


def _counted(kept: OutcomeState, memory_id: str) -> OutcomeTally:
    """The reports on a memory that count: those since it was restored, if it was."""
    choice = kept.choices.get(memory_id)
    since_ms = choice.at_ms if choice is not None and choice.choice is StandingChoice.RESTORED else None
    return _tally(
        each
        for each in kept.outcomes
        if each.reported.memory_id == memory_id and (since_ms is None or each.recorded_at_ms > since_ms)
    )


def _tally(outcomes: Iterable[KeptOutcome]) -> OutcomeTally:
    tally = OutcomeTally()
    for each in outcomes:
        tally = tally.plus(each.reported.result)
    return tally
