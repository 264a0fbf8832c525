"""Answering a proposal inside a transaction, the same in every store."""

from __future__ import annotations

from typing import assert_never

import msgspec

from recalld.actors.store.admission_rows import NotedFact, ProposalRow
from recalld.actors.store.admission_tables import AdmissionTables
from recalld.actors.store.caps import refused_usage, within_caps
from recalld.actors.store.fact_writing import FactWriter, first_said_ms, refused
from recalld.actors.store.rules import EMPTY_BODY
from recalld.models.domain.admission_store import (
    Confirm,
    Confirmed,
    Evidence,
    FactOutcome,
    FactResult,
    FactWrite,
    ProposalState,
    SlotValue,
)
from recalld.models.domain.facts import Disposition, Generator
from recalld.models.domain.reasons import AdmissionReason
from recalld.models.domain.records import MemorySource
from recalld.models.domain.store import DecisionRow
from recalld.models.domain.turn_body import FactLine, TurnBody
from recalld.models.policy.duplicates import canonical
from recalld.models.policy.proposals import AnswerStep, next_step, no_such_proposal
from recalld.models.policy.slot_values import holds_value

_RULE = "confirm"


def confirm(tables: AdmissionTables, command: Confirm) -> Confirmed:
    """Answer a proposal. Where its record would exceed a cap, nothing is answered and the proposal waits on.

    Args:
        tables: The user's tables, inside the transaction.
        command: The answer.

    Raises:
        RecalldError: `NOT_FOUND` for an id that is unknown, or where none of the session waits; `FORBIDDEN` for the yes
            of the proposer; `CONFLICT` for an answer other than the one given before, or an id that is taken.
    """
    row = _meant(tables, command)
    if row is None:
        raise no_such_proposal(command.proposal_id)
    proposal = row.view(command.now_ms)
    match next_step(proposal, command):
        case AnswerStep.REPEAT:
            return Confirmed(proposal=proposal, result=_as_before(tables, row), is_repeat=True)
        case AnswerStep.LATE:
            note_answer(tables, command, ProposalState.EXPIRED.value, AdmissionReason.EXPIRED, None)
            return Confirmed(proposal=proposal)
        case AnswerStep.REJECT:
            answered = msgspec.structs.replace(row, state=ProposalState.REJECTED)
            tables.put_proposal(answered)
            note_answer(tables, command, ProposalState.REJECTED.value, row.reason, None)
            return Confirmed(proposal=answered.view(command.now_ms))
        case AnswerStep.ACCEPT:
            return _accept(tables, row, command)
        case _ as never:
            assert_never(never)


def _meant(tables: AdmissionTables, command: Confirm) -> ProposalRow | None:
    if command.proposal_id:
        return tables.proposal(command.proposal_id)
    return tables.latest_waiting(command.session, command.now_ms)


def _accept(tables: AdmissionTables, row: ProposalRow, command: Confirm) -> Confirmed:
    write = write_of_yes(row.id, row.fact, command)
    scope, limits, now_ms = write.memory.scope, command.limits, command.now_ms
    writer = FactWriter(tables, now_ms=now_ms, limits=limits)
    said_at_ms = first_said_ms(tables.evidence_of(row.id))
    done = within_caps(tables, scope, limits, now_ms, lambda: writer.write(write, said_at_ms=said_at_ms))
    if done is None:
        usage = refused_usage(tables, scope, limits, now_ms)
        result = msgspec.structs.replace(refused(AdmissionReason.OVER_CAPACITY), usage=usage)
        note_answer(tables, command, FactOutcome.REFUSED.value, result.reason, result)
        return Confirmed(proposal=row.view(now_ms), result=result)
    result = msgspec.structs.replace(done.value, usage=done.usage)
    memory_id = "" if result.memory is None else result.memory.id
    answered = msgspec.structs.replace(
        row,
        state=ProposalState.ACCEPTED,
        memory_id=memory_id,
        accepted_text="" if write.memory.text == row.fact.memory.text else write.memory.text,
    )
    tables.put_proposal(answered)
    tables.move_evidence(row.id, memory_id or next(iter(result.superseded), row.id))
    note_answer(tables, command, ProposalState.ACCEPTED.value, AdmissionReason.CONFIRMED, result)
    return Confirmed(proposal=answered.view(now_ms), result=result)


def write_of_yes(note_id: str, fact: NotedFact, command: Confirm) -> FactWrite:
    """The write that a yes stands for. Edited words bring their own slots, and lose cues and asks of the old ones."""
    wanted = msgspec.structs.replace(fact.memory, source=MemorySource.CONFIRMED)
    value = fact.value or SlotValue(slot="")
    is_edited = bool(command.edited_text) and canonical(command.edited_text) != canonical(wanted.text)
    if is_edited:
        wanted = msgspec.structs.replace(wanted, text=command.edited_text, cues=(), asks=(), added_cues=0, added_asks=0)
        if not holds_value(command.edited_text, value.value):
            value = SlotValue(slot="")
    return FactWrite(
        memory=wanted,
        memory_id=command.memory_id,
        note_id=note_id,
        disposition=Disposition.RECORD,
        slot=value.slot,
        subject=value.subject,
        value=value.value,
        is_single_valued=value.is_single_valued,
        is_ending=fact.is_ending,
        evidence=Evidence(
            session=command.session,
            at_ms=command.now_ms,
            generator=Generator.CONFIRMED,
            rule=_RULE,
            reason=AdmissionReason.CONFIRMED,
            quote=command.edited_text if is_edited else "",  # then these are the user's words, and not what was noted
            decision_id=command.decision.id,
        ),
        embedder_key=command.embedder_key,
        vectors=command.vectors,
    )


def _as_before(tables: AdmissionTables, row: ProposalRow) -> FactResult | None:
    """What an answer led to when it was first given, with the record as it is now."""
    if row.state is not ProposalState.ACCEPTED:
        return None
    memory = tables.memory(row.memory_id) if row.memory_id else None
    return FactResult(
        outcome=FactOutcome.CLOSED if row.fact.is_ending else FactOutcome.DUPLICATE,
        disposition=Disposition.RECORD,
        reason=AdmissionReason.CONFIRMED,
        memory=memory,
    )


def note_answer(
    tables: AdmissionTables, command: Confirm, decision: str, reason: AdmissionReason, result: FactResult | None
) -> None:
    """Add the ledger row with what its caller left open."""
    row: DecisionRow = command.decision
    body = row.body
    if result is not None and body in (b"", EMPTY_BODY):
        line = FactLine(
            outcome=result.outcome,
            disposition=result.disposition,
            reason=result.reason,
            generator=Generator.CONFIRMED,
            source_rule=_RULE,
            memory_id="" if result.memory is None else result.memory.id,
            superseded=result.superseded,
        )
        body = msgspec.json.encode(TurnBody(facts=(line,)))
    tables.append_decision(
        msgspec.structs.replace(row, decision=row.decision or decision, reason=row.reason or reason.value, body=body)
    )
