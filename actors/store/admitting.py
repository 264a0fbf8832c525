"""Admitting a turn: all of its facts in one transaction, once, and judged on what they leave behind together."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from recalld.actors.store.admission_rows import RecordedFact, RecordedFacts, RecordedTurn
from recalld.actors.store.admission_tables import AdmissionTables
from recalld.actors.store.caps import is_capped, refused_usage, with_caps
from recalld.actors.store.fact_writing import FactWriter, Room
from recalld.actors.store.rules import EMPTY_BODY
from recalld.models.domain.admission_store import (
    AdmitTurn,
    DroppedFact,
    FactOutcome,
    FactResult,
    FactWrite,
    TurnAdmitted,
)
from recalld.models.domain.facts import Disposition
from recalld.models.domain.reasons import AdmissionReason, RememberOutcome
from recalld.models.domain.store import DecisionRow
from recalld.models.domain.turn_body import FactLine, TurnBody
from recalld.models.domain.usage import Usage
from recalld.models.policy.capacity import fits, is_nearly_full

_BEST_FIRST = (
    (Disposition.RECORD, "kept"),
    (Disposition.PROPOSE, "proposed"),
    (Disposition.OBSERVE, "observed"),
)
_DROPPED = "dropped"
_REFUSED = "refused"


def admit_turn(tables: AdmissionTables, command: AdmitTurn) -> TurnAdmitted:
    """Write all facts of a turn, or answer with what was recorded when the turn was first seen.

    Args:
        tables: The user's tables, inside the transaction.
        command: What the policy let through, and what it dropped.

    Raises:
        RecalldError: `CONFLICT` for an id that is taken; the transaction must then be rolled back.
    """
    earlier = tables.turn(command.turn_key) if command.turn_key else None
    if earlier is not None:
        return _repeated(tables, earlier, command)
    writes = tuple(_signed(write, command.decision.id) for write in command.writes)
    results = _write_within_caps(tables, writes, command)
    reason = _reason(results, command.dropped)
    if command.turn_key:
        tables.record_turn(command.turn_key, _recorded(command, results, reason), command.now_ms)
    tables.append_decision(_completed(command, writes, results, reason))
    return TurnAdmitted(decision_id=command.decision.id, results=results, dropped=command.dropped)


def _write_within_caps(
    tables: AdmissionTables, writes: Sequence[FactWrite], command: AdmitTurn
) -> tuple[FactResult, ...]:
    """Write facts; where the caps are exceeded, without promotions, and if need be without any record."""
    limits, now_ms = command.limits, command.now_ms
    scopes = tuple(dict.fromkeys(write.memory.scope for write in writes))
    before = {scope: tables.usage(scope, now_ms) for scope in scopes} if is_capped(limits) else {}
    for room in Room:
        with tables.attempt() as attempt:
            results = _write_all(tables, writes, command, room)
            after = {scope: with_caps(tables.usage(scope, now_ms), limits) for scope in before}
            if room is Room.NO_RECORDS or all(fits(before[scope], after[scope]) for scope in before):
                return _with_usage(tables, writes, results, after, command)
            attempt.undo()
    raise AssertionError  # pragma: no cover - the last room is always enough


def _write_all(
    tables: AdmissionTables, writes: Sequence[FactWrite], command: AdmitTurn, room: Room
) -> tuple[FactResult, ...]:
    writer = FactWriter(
        tables,
        now_ms=command.now_ms,
        limits=command.limits,
        session=command.session,
        proposer=command.proposer,
        ration_since_ms=command.ration_since_ms,
        room=room,
    )
    return tuple(writer.write(write) for write in writes)


def _with_usage(
    tables: AdmissionTables,
    writes: Sequence[FactWrite],
    results: Sequence[FactResult],
    after: dict[str, Usage],
    command: AdmitTurn,
) -> tuple[FactResult, ...]:
    """Results with the usage where a cap refused them, or is nearly reached."""
    told: list[FactResult] = []
    for write, result in zip(writes, results, strict=True):
        usage = after.get(write.memory.scope)
        if result.reason is AdmissionReason.OVER_CAPACITY:
            usage = refused_usage(tables, write.memory.scope, command.limits, command.now_ms)
        elif usage is None or result.memory is None or not is_nearly_full(usage):
            usage = None
        told.append(msgspec.structs.replace(result, usage=usage, found=write.found))
    return tuple(told)


def _signed(write: FactWrite, decision_id: str) -> FactWrite:
    return msgspec.structs.replace(write, evidence=msgspec.structs.replace(write.evidence, decision_id=decision_id))


def _reason(results: Sequence[FactResult], dropped: Sequence[DroppedFact]) -> AdmissionReason:
    """The reason of a turn as a whole: of what came furthest, or of the first that was dropped."""
    ranked = sorted(results, key=lambda result: tuple(Disposition).index(result.disposition))
    if ranked:
        return ranked[0].reason
    return dropped[0].reason if dropped else AdmissionReason.NOTHING_STATED


def _decision(results: Sequence[FactResult]) -> str:
    dispositions = {result.disposition for result in results}
    best = next((word for disposition, word in _BEST_FIRST if disposition in dispositions), None)
    if best is not None:
        return best
    return _REFUSED if any(result.outcome is FactOutcome.REFUSED for result in results) else _DROPPED


def _completed(
    command: AdmitTurn, writes: Sequence[FactWrite], results: Sequence[FactResult], reason: AdmissionReason
) -> DecisionRow:
    """The ledger row with what its caller left open."""
    row = command.decision
    lines = tuple(_line(write, result) for write, result in zip(writes, results, strict=True))
    body = row.body
    if body in (b"", EMPTY_BODY):
        body = msgspec.json.encode(_body(command, lines))
    return msgspec.structs.replace(
        row, decision=row.decision or _decision(results), reason=row.reason or reason.value, body=body
    )


def _body(command: AdmitTurn, lines: tuple[FactLine, ...]) -> TurnBody:
    spent = command.spent
    return TurnBody(
        facts=lines,
        dropped=command.dropped,
        read_ms=spent.read_ms,
        judge_ms=spent.judge_ms,
        policy_ms=spent.policy_ms,
    )


def _line(write: FactWrite, result: FactResult) -> FactLine:
    noted = result.proposal or result.observation
    return FactLine(
        outcome=result.outcome,
        disposition=result.disposition,
        reason=result.reason,
        generator=write.evidence.generator,
        source_rule=write.evidence.rule,
        decided_by="" if write.found is None else write.found.decided_by,
        memory_id="" if result.memory is None else result.memory.id,
        note_id="" if noted is None else noted.id,
        superseded=result.superseded,
    )


def _recorded(command: AdmitTurn, results: Sequence[FactResult], reason: AdmissionReason) -> RecordedTurn:
    first = next((result for result in results if result.memory is not None), None)
    return RecordedTurn(
        decision_id=command.decision.id,
        reason=reason,
        outcome=None if first is None else _as_saved(first.outcome),
        memory_id=None if first is None or first.memory is None else first.memory.id,
        facts=RecordedFacts(facts=tuple(map(_recorded_fact, results)), dropped=command.dropped),
    )


def _recorded_fact(result: FactResult) -> RecordedFact:
    return RecordedFact(
        outcome=result.outcome,
        disposition=result.disposition,
        reason=result.reason,
        memory_id="" if result.memory is None else result.memory.id,
        superseded=result.superseded,
        observation_id="" if result.observation is None else result.observation.id,
        proposal_id="" if result.proposal is None else result.proposal.id,
        usage=result.usage,
        found=result.found,
    )


def _as_saved(outcome: FactOutcome) -> RememberOutcome:
    """The outcome of a record in the words of a save, for whoever meets the turn by that way."""
    match outcome:
        case FactOutcome.DUPLICATE:
            return RememberOutcome.DUPLICATE
        case FactOutcome.UPDATED:
            return RememberOutcome.UPDATED
        case FactOutcome.SUPERSEDED:
            return RememberOutcome.SUPERSEDED
        case _:
            return RememberOutcome.CREATED


def _repeated(tables: AdmissionTables, earlier: RecordedTurn, command: AdmitTurn) -> TurnAdmitted:
    """What was recorded of a turn, with records and notes as they are now."""
    facts = earlier.facts or _facts_of_save(earlier)
    return TurnAdmitted(
        decision_id=earlier.decision_id,
        results=tuple(_result(tables, fact, command) for fact in facts.facts),
        dropped=facts.dropped,
        is_repeat=True,
    )


def _result(tables: AdmissionTables, fact: RecordedFact, command: AdmitTurn) -> FactResult:
    since_ms = command.now_ms - command.limits.promote_window_ms
    observed = tables.observation(fact.observation_id) if fact.observation_id else None
    proposed = tables.proposal(fact.proposal_id) if fact.proposal_id else None
    holder_id = "" if observed is None else observed.promoted_to or observed.id
    return FactResult(
        outcome=fact.outcome,
        disposition=fact.disposition,
        reason=fact.reason,
        memory=tables.memory(fact.memory_id) if fact.memory_id else None,
        superseded=fact.superseded,
        observation=None if observed is None else observed.view(tables.evidence_of(holder_id), since_ms=since_ms),
        proposal=None if proposed is None else proposed.view(command.now_ms),
        usage=fact.usage,
        found=fact.found,
    )


def _facts_of_save(turn: RecordedTurn) -> RecordedFacts:
    """A turn that a save wrote, as if its one fact had been admitted."""
    if turn.outcome is None:
        return RecordedFacts(dropped=(DroppedFact(reason=turn.reason),))
    fact = RecordedFact(
        outcome=FactOutcome(turn.outcome.value),
        disposition=Disposition.RECORD,
        reason=turn.reason,
        memory_id=turn.memory_id or "",
    )
    return RecordedFacts(facts=(fact,))
