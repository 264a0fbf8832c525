"""A person's word on an observation inside a transaction, the same in every store."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import msgspec

from recalld.actors.store.admission_rows import ObservationRow
from recalld.actors.store.admission_tables import AdmissionTables
from recalld.actors.store.caps import refused_usage, within_caps
from recalld.actors.store.confirming import note_answer, write_of_yes
from recalld.actors.store.fact_writing import FactWriter, first_said_ms, refused
from recalld.models.domain.admission_store import (
    Confirm,
    Evidence,
    FactOutcome,
    FactResult,
    ObservationSettled,
    ProposalState,
    SettleObservation,
)
from recalld.models.domain.errors import ErrorCode, RecalldError
from recalld.models.domain.facts import Disposition, Generator
from recalld.models.domain.reasons import AdmissionReason
from recalld.models.policy.duplicates import canonical

ACCEPTED: Final = ProposalState.ACCEPTED.value
REJECTED: Final = ProposalState.REJECTED.value


def settle_observation(tables: AdmissionTables, command: SettleObservation) -> ObservationSettled:
    """Make a record of an observation before enough turns do, or note it no more.

    Where its record would exceed a cap, the observation waits on.

    Args:
        tables: The user's tables, inside the transaction.
        command: The answer.

    Raises:
        RecalldError: `NOT_FOUND` for an id that is unknown; `FORBIDDEN` for the yes of a client whose model found the
            fact; `CONFLICT` for a no to what is a record already, or a yes in other words, or a memory id that
            is taken.
    """
    row = tables.observation(command.observation_id)
    if row is None:
        message = f"observation_id: there is no observation {command.observation_id!r} of this user; list them to see"
        raise RecalldError(ErrorCode.NOT_FOUND, message)
    if row.promoted_to:
        return _settled_before(tables, row, command)
    evidence = tables.evidence_of(row.id)
    if not command.is_accepted:
        return _reject(tables, row, evidence, command)
    _check_approver(row, evidence, command.approver)
    return _accept(tables, row, evidence, command)


def _settled_before(tables: AdmissionTables, row: ObservationRow, command: SettleObservation) -> ObservationSettled:
    """What is a record already stays one: a yes changes nothing, other words are for `update`, a no for `forget`."""
    if not command.is_accepted:
        message = f"observation_id: {row.id!r} is the memory {row.promoted_to!r} by now; forget that instead"
        raise RecalldError(ErrorCode.CONFLICT, message)
    memory = tables.memory(row.promoted_to)
    stored = row.fact.memory.text if memory is None else memory.text
    if command.edited_text and canonical(command.edited_text) != canonical(stored):
        message = (
            f"observation_id: {row.id!r} is the memory {row.promoted_to!r} by now, in other words than these; "
            "update that instead"
        )
        raise RecalldError(ErrorCode.CONFLICT, message)
    evidence = tables.evidence_of(row.promoted_to)
    by_person = any(each.generator is Generator.CONFIRMED for each in evidence)
    result = FactResult(
        outcome=FactOutcome.DUPLICATE if by_person else FactOutcome.PROMOTED,
        disposition=Disposition.RECORD,
        reason=AdmissionReason.CONFIRMED if by_person else AdmissionReason.PROMOTED,
        memory=memory,
    )
    observation = row.view(evidence, since_ms=0)
    return ObservationSettled(observation=observation, result=result, is_repeat=True)


def _reject(
    tables: AdmissionTables, row: ObservationRow, evidence: tuple[Evidence, ...], command: SettleObservation
) -> ObservationSettled:
    tables.remove_observation(row.id)
    tables.drop_evidence(row.id)
    tables.add_tombstone(row.fact.memory.text, command.now_ms)
    note_answer(tables, _as_confirm(row, command), REJECTED, AdmissionReason.WEAK_EVIDENCE, None)
    return ObservationSettled(observation=row.view(evidence, since_ms=0))


def _accept(
    tables: AdmissionTables, row: ObservationRow, evidence: tuple[Evidence, ...], command: SettleObservation
) -> ObservationSettled:
    confirm = _as_confirm(row, command)
    write = write_of_yes(row.id, row.fact, confirm)
    scope, limits, now_ms = write.memory.scope, command.limits, command.now_ms
    writer = FactWriter(tables, now_ms=now_ms, limits=limits)
    said_at_ms = first_said_ms(evidence)
    done = within_caps(tables, scope, limits, now_ms, lambda: writer.write(write, said_at_ms=said_at_ms))
    if done is None:
        usage = refused_usage(tables, scope, limits, now_ms)
        result = msgspec.structs.replace(refused(AdmissionReason.OVER_CAPACITY), usage=usage)
        note_answer(tables, confirm, FactOutcome.REFUSED.value, result.reason, result)
        return ObservationSettled(observation=row.view(evidence, since_ms=0), result=result)
    result = msgspec.structs.replace(done.value, usage=done.usage)
    led_to = next(iter(result.superseded), "") if result.memory is None else result.memory.id
    promoted = msgspec.structs.replace(row, promoted_to=led_to)
    if led_to:
        tables.put_observation(promoted)
        tables.move_evidence(row.id, led_to)
    else:  # it ends something, and nothing of that value is stored
        tables.remove_observation(row.id)
        tables.drop_evidence(row.id)
    note_answer(tables, confirm, ACCEPTED, AdmissionReason.CONFIRMED, result)
    return ObservationSettled(observation=promoted.view(evidence, since_ms=0), result=result)


def _check_approver(row: ObservationRow, evidence: Iterable[Evidence], approver: str) -> None:
    """Refuse the yes of a client to what its own model found: it would vouch for itself."""
    if approver and any(each.generator is Generator.MODEL and each.rule == approver for each in evidence):
        message = (
            f"observation_id: {row.id!r} was found by the model of {approver!r}, which cannot accept it; "
            "have the user answer through another client"
        )
        raise RecalldError(ErrorCode.FORBIDDEN, message)


def _as_confirm(row: ObservationRow, command: SettleObservation) -> Confirm:
    """The same word as an answer to a proposal: a yes means the same to both."""
    return Confirm(
        user=command.user,
        proposal_id=row.id,
        is_accepted=command.is_accepted,
        edited_text=command.edited_text,
        approver=command.approver,
        now_ms=command.now_ms,
        memory_id=command.memory_id,
        limits=command.limits,
        decision=command.decision,
    )
