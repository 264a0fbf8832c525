"""Records of an export, between the wire and the domain. Nothing is lost on the way, in either direction."""

from __future__ import annotations

import enum
from collections.abc import Callable, Sequence
from typing import NoReturn, TypeVar, assert_never

import msgspec

from recalld.models.domain import user_data as u
from recalld.models.domain.admission_store import Evidence, Observation, Proposal, ProposalState, SlotValue
from recalld.models.domain.errors import ErrorCode, RecalldError
from recalld.models.domain.facts import Generator
from recalld.models.domain.reasons import AdmissionReason
from recalld.models.domain.records import Memory, MemoryKind, MemorySource, MemoryStatus, NewMemory, TextOrigin
from recalld.models.policy.memory_checks import check_new_memory
from recalld.protocol import portable_items as p

_Code = TypeVar("_Code", bound=enum.StrEnum)

DomainRecord = u.PortableMemory | u.PortableObservation | u.PortableProposal


# --- from the wire ---------------------------------------------------------------------------------------------------


def from_wire(record: p.Portable, user: str, *, now_ms: int) -> DomainRecord:
    """A record as it is taken over by a user.

    Args:
        record: As it was handed over; its limits were checked when it was decoded.
        user: Whose it becomes.
        now_ms: What a memory without times gets, and what a new one's expiry is held against.

    Raises:
        RecalldError: `BAD_REQUEST`; the message begins with the field at fault.
    """
    match record:
        case p.PortableMemory():
            return _memory(record, user, now_ms)
        case p.PortableObservation():
            return _observation(record, user)
        case p.PortableProposal():
            return _proposal(record, user)
        case _:
            assert_never(record)


def _memory(record: p.PortableMemory, user: str, now_ms: int) -> u.PortableMemory:
    new = not record.memory_id
    _check_words(record, user, now_ms=now_ms, expires_at_ms=record.expires_at_ms if new else None)
    if new and record.status != "active":
        _refuse("status", "is not active, and there is no memory_id; give the id, or leave the status out")
    created_at_ms = now_ms if record.created_at_ms is None else record.created_at_ms
    memory = Memory(
        id=record.memory_id,
        user=user,
        text=record.text,
        kind=MemoryKind(record.kind),
        scope=record.scope,
        cues=record.cues,
        asks=record.asks,
        source=MemorySource(record.source),
        status=MemoryStatus(record.status),
        created_at_ms=created_at_ms,
        updated_at_ms=created_at_ms if record.updated_at_ms is None else record.updated_at_ms,
        expires_at_ms=record.expires_at_ms,
        revision=record.revision,
        cue_origins=_origins("cue_origins", record.cue_origins, record.cues),
        ask_origins=_origins("ask_origins", record.ask_origins, record.asks),
    )
    return u.PortableMemory(
        memory=memory,
        evidence=_evidence(record.evidence),
        slots=tuple(map(_slot, record.slots)),
        superseded_by=record.superseded_by,
        closed_at_ms=record.closed_at_ms,
    )


def _observation(record: p.PortableObservation, user: str) -> u.PortableObservation:
    fact = _fact(record.fact, user)
    observation = Observation(
        id=record.observation_id,
        user=user,
        text=fact.memory.text,
        kind=fact.memory.kind,
        scope=fact.memory.scope,
        slot="" if fact.value is None else fact.value.slot,
        first_at_ms=record.first_at_ms,
        last_at_ms=record.last_at_ms,
        promoted_to=record.promoted_to,
    )
    return u.PortableObservation(observation=observation, fact=fact, evidence=_evidence(record.evidence))


def _proposal(record: p.PortableProposal, user: str) -> u.PortableProposal:
    fact = _fact(record.fact, user)
    proposal = Proposal(
        id=record.proposal_id,
        user=user,
        session=record.session,
        text=fact.memory.text,
        kind=fact.memory.kind,
        scope=fact.memory.scope,
        slot="" if fact.value is None else fact.value.slot,
        reason=_code("reason", AdmissionReason, record.reason),
        state=ProposalState(record.state),
        created_at_ms=record.created_at_ms,
        expires_at_ms=record.expires_at_ms,
        proposer=record.proposer,
        memory_id=record.memory_id,
        accepted_text=record.accepted_text,
    )
    return u.PortableProposal(proposal=proposal, fact=fact, evidence=_evidence(record.evidence))


def _fact(fact: p.PortableFact, user: str) -> u.PortableFact:
    try:
        _check_words(fact, user, now_ms=0, expires_at_ms=None)
    except RecalldError as error:
        raise RecalldError(error.code, f"fact.{error.message}") from error
    memory = NewMemory(
        user=user,
        text=fact.text,
        kind=MemoryKind(fact.kind),
        scope=fact.scope,
        cues=fact.cues,
        asks=fact.asks,
        source=MemorySource(fact.source),
        expires_at_ms=fact.expires_at_ms,
        added_cues=min(fact.added_cues, len(fact.cues)),
        added_asks=min(fact.added_asks, len(fact.asks)),
    )
    value = None if fact.slot is None else _slot(fact.slot)
    return u.PortableFact(memory=memory, value=value, is_ending=fact.is_ending)


def _check_words(
    words: p.PortableMemory | p.PortableFact, user: str, *, now_ms: int, expires_at_ms: int | None
) -> None:
    """Hold the words to what every memory must satisfy."""
    wanted = NewMemory(
        user=user,
        text=words.text,
        scope=words.scope,
        cues=words.cues,
        asks=words.asks,
        expires_at_ms=expires_at_ms,
    )
    check_new_memory(wanted, now_ms=now_ms)


def _origins(field: str, given: Sequence[str], texts: Sequence[str]) -> tuple[TextOrigin, ...]:
    if given and len(given) != len(texts):
        _refuse(field, f"has {len(given)} entries for {len(texts)} texts; give one for each, or none at all")
    return tuple(map(TextOrigin, given))


def _evidence(given: Sequence[p.PortableEvidence]) -> tuple[Evidence, ...]:
    return tuple(
        Evidence(
            session=each.session,
            turn_id=each.turn_id,
            at_ms=each.at_ms,
            generator=Generator(each.generator),
            rule=each.rule,
            reason=_code(f"evidence[{place}].reason", AdmissionReason, each.reason),
            quote=each.quote,
            decision_id=each.decision_id,
        )
        for place, each in enumerate(given)
    )


def _slot(given: p.PortableSlot) -> SlotValue:
    return SlotValue(slot=given.slot, subject=given.subject, value=given.value, is_single_valued=given.is_single_valued)


def _code(field: str, kind: Callable[[str], _Code], value: str) -> _Code:
    try:
        return kind(value)
    except ValueError:
        _refuse(field, f"is {value!r}, which is none that this version knows; see docs/protocol.md")


def _refuse(field: str, problem: str) -> NoReturn:
    raise RecalldError(ErrorCode.BAD_REQUEST, f"{field}: {problem}")


# --- to the wire -----------------------------------------------------------------------------------------------------


def page_to_wire(page: u.ExportPage) -> tuple[p.Portable, ...]:
    """The records of a page, in its order."""
    return (
        *map(_memory_record, page.memories),
        *map(_observation_record, page.observations),
        *map(_proposal_record, page.proposals),
    )


def without_quotes(record: p.Portable) -> p.Portable:
    """A record without the words of the turns behind it: what remains of one that fits no frame."""
    bare = tuple(msgspec.structs.replace(each, quote="") for each in record.evidence)
    return msgspec.structs.replace(record, evidence=bare)


def _memory_record(given: u.PortableMemory) -> p.PortableMemory:
    memory = given.memory
    return p.PortableMemory(
        memory_id=memory.id,
        text=memory.text,
        kind=memory.kind.value,
        scope=memory.scope,
        cues=memory.cues,
        asks=memory.asks,
        cue_origins=tuple(each.value for each in memory.cue_origins),
        ask_origins=tuple(each.value for each in memory.ask_origins),
        source=memory.source.value,
        # What was forgotten is never exported.
        status="superseded" if memory.status is MemoryStatus.SUPERSEDED else "active",
        created_at_ms=memory.created_at_ms,
        updated_at_ms=memory.updated_at_ms,
        expires_at_ms=memory.expires_at_ms,
        revision=memory.revision,
        slots=tuple(map(_slot_record, given.slots)),
        evidence=_evidence_records(given.evidence),
        superseded_by=given.superseded_by,
        closed_at_ms=given.closed_at_ms,
    )


def _observation_record(given: u.PortableObservation) -> p.PortableObservation:
    observation = given.observation
    return p.PortableObservation(
        observation_id=observation.id,
        fact=_fact_record(given.fact),
        first_at_ms=observation.first_at_ms,
        last_at_ms=observation.last_at_ms,
        promoted_to=observation.promoted_to,
        evidence=_evidence_records(given.evidence),
    )


def _proposal_record(given: u.PortableProposal) -> p.PortableProposal:
    proposal = given.proposal
    return p.PortableProposal(
        proposal_id=proposal.id,
        session=proposal.session,
        fact=_fact_record(given.fact),
        reason=proposal.reason.value,
        state=proposal.state.value,
        created_at_ms=proposal.created_at_ms,
        expires_at_ms=proposal.expires_at_ms,
        proposer=proposal.proposer,
        memory_id=proposal.memory_id,
        accepted_text=proposal.accepted_text,
        evidence=_evidence_records(given.evidence),
    )


def _fact_record(given: u.PortableFact) -> p.PortableFact:
    memory = given.memory
    return p.PortableFact(
        text=memory.text,
        kind=memory.kind.value,
        scope=memory.scope,
        cues=memory.cues,
        asks=memory.asks,
        source=memory.source.value,
        expires_at_ms=memory.expires_at_ms,
        added_cues=memory.added_cues,
        added_asks=memory.added_asks,
        slot=None if given.value is None else _slot_record(given.value),
        is_ending=given.is_ending,
    )


def _evidence_records(given: Sequence[Evidence]) -> tuple[p.PortableEvidence, ...]:
    return tuple(
        p.PortableEvidence(
            session=each.session,
            turn_id=each.turn_id,
            at_ms=each.at_ms,
            generator=each.generator.value,
            rule=each.rule,
            reason=each.reason.value,
            quote=each.quote,
            decision_id=each.decision_id,
        )
        for each in given
    )


def _slot_record(given: SlotValue) -> p.PortableSlot:
    return p.PortableSlot(
        slot=given.slot, subject=given.subject, value=given.value, is_single_valued=given.is_single_valued
    )
