"""Taking over what was exported, here or by another program."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import TypeVar

import msgspec

from recalld.actors.admission.dependencies import AdmissionDependencies
from recalld.actors.admission.enriching import enriched
from recalld.actors.admission.writing import answered_by_store
from recalld.actors.store import ask_store
from recalld.actors.store.rules import created
from recalld.models.domain.admission_store import Evidence
from recalld.models.domain.events import Event, EventName
from recalld.models.domain.reasons import AdmissionReason, Op
from recalld.models.domain.records import Memory, NewMemory
from recalld.models.domain.store import DecisionRow
from recalld.models.domain.user_data import (
    ImportLine,
    ImportMemories,
    ImportOutcome,
    ImportReply,
    ImportRequest,
    MemoriesImported,
    PortableMemory,
    PortableObservation,
    PortableProposal,
)
from recalld.models.policy.admission.secrets import redact
from recalld.models.policy.memory_checks import check_new_memory

IMPORTED = "imported"
"""What the ledger row of an import says was decided."""

_Record = PortableMemory | PortableObservation | PortableProposal
R = TypeVar("R", PortableMemory, PortableObservation, PortableProposal)


class Importer:
    """Takes records over for one user."""

    def __init__(self, deps: AdmissionDependencies) -> None:
        self._deps = deps

    async def take_over(self, request: ImportRequest) -> ImportReply:
        """Take records over, or in a dry run say what would become of each.

        A record that holds a secret is not taken over; in the words of a turn behind it, secrets are blotted out.

        Raises:
            RecalldError: `BAD_REQUEST` for a new memory that cannot be stored; `BUSY`, `STORAGE_FULL`,
                `STORAGE_UNAVAILABLE`.
        """
        deps = self._deps
        now_ms = deps.clock.now_ms()
        named = msgspec.structs.replace(request, memories=tuple(map(self._named, request.memories)))
        is_new = tuple(not each.memory.id for each in request.memories)
        work = partial(_read, named, is_new, now_ms=now_ms, is_enriching=deps.is_enriching)
        read = await deps.text_work.run(work, chars=_chars(request))
        decision = DecisionRow(
            id=deps.ids.new_id("adm"),
            user=request.user,
            session="",
            op=Op.REMEMBER,
            at_ms=now_ms,
            decision=IMPORTED,
            reason=AdmissionReason.EXPLICIT_SAVE,
        )
        command = ImportMemories(
            user=request.user,
            memories=tuple(each for each in read.memories if each is not None),
            observations=tuple(each for each in read.observations if each is not None),
            proposals=tuple(each for each in read.proposals if each is not None),
            now_ms=now_ms,
            records_max=deps.options.limits.records_max,
            chars_max=deps.options.limits.chars_max,
            is_dry_run=request.is_dry_run,
            decision=decision,
        )
        done = await answered_by_store(ask_store(deps.store, command, deadline_s=request.deadline_s))
        imported = MemoriesImported(
            lines=_all_lines(named.memories, read.memories, done.lines),
            observations=_all_lines(named.observations, read.observations, done.observations),
            proposals=_all_lines(named.proposals, read.proposals, done.proposals),
        )
        if request.is_dry_run:
            return ImportReply(imported=imported)
        self._announce(request.user, imported, decision.id, now_ms)
        return ImportReply(imported=imported, decision_id=decision.id)

    def _named(self, given: PortableMemory) -> PortableMemory:
        """A memory with an id."""
        if given.memory.id:
            return given
        memory = msgspec.structs.replace(given.memory, id=self._deps.ids.new_id("mem"))
        return msgspec.structs.replace(given, memory=memory)

    def _announce(self, user: str, imported: MemoriesImported, decision_id: str, at_ms: int) -> None:
        self._deps.events.publish(
            Event(
                name=EventName.MEMORY_ADMITTED,
                at_ms=at_ms,
                user=user,
                fields={
                    "decision_id": decision_id,
                    "op": Op.REMEMBER,
                    "outcome": IMPORTED,
                    "reason": AdmissionReason.EXPLICIT_SAVE,
                    "memory_id": "",
                    "count": sum(line.outcome is ImportOutcome.IMPORTED for line in imported.lines),
                },
            )
        )


class _Read(msgspec.Struct, frozen=True, kw_only=True):
    """Records as they are taken over; None for what holds a secret."""

    memories: tuple[PortableMemory | None, ...]
    observations: tuple[PortableObservation | None, ...]
    proposals: tuple[PortableProposal | None, ...]


def _read(request: ImportRequest, is_new: Sequence[bool], *, now_ms: int, is_enriching: bool) -> _Read:
    """Read every record: look for secrets, and give new memories what a save of their words would get."""
    memories = tuple(
        _enriched(each, request.user, now_ms=now_ms, is_on=is_enriching) if new else each
        for each, new in zip(request.memories, is_new, strict=True)
    )
    return _Read(
        memories=tuple(map(_without_secrets, memories)),
        observations=tuple(map(_without_secrets, request.observations)),
        proposals=tuple(map(_without_secrets, request.proposals)),
    )


def _enriched(given: PortableMemory, user: str, *, now_ms: int, is_on: bool) -> PortableMemory:
    memory = given.memory
    wanted = NewMemory(
        user=user,
        text=memory.text,
        kind=memory.kind,
        scope=memory.scope,
        cues=memory.cues,
        asks=memory.asks,
        source=memory.source,
        expires_at_ms=memory.expires_at_ms,
    )
    fuller, _ = enriched(check_new_memory(wanted, now_ms=now_ms), is_on=is_on)
    return msgspec.structs.replace(given, memory=created(fuller, memory.id, memory.created_at_ms))


def _without_secrets(record: R) -> R | None:
    """A record with the secrets in its quotes blotted out; None where it holds one itself."""
    if any(redact(text).found for text in _words_of(record)):
        return None
    return msgspec.structs.replace(record, evidence=tuple(map(_blotted, record.evidence)))


def _chars(request: ImportRequest) -> int:
    records: tuple[_Record, ...] = (*request.memories, *request.observations, *request.proposals)
    return sum(len(text) for record in records for text in _words_of(record)) + sum(
        len(each.quote) for record in records for each in record.evidence
    )


def _words_of(record: _Record) -> Iterator[str]:
    """Everything of a record that would be stored and shown, but for the turns behind it."""
    match record:
        case PortableMemory(memory=memory):
            yield from _texts(memory)
        case PortableObservation(fact=fact):
            yield from _texts(fact.memory)
        case PortableProposal(fact=fact, proposal=proposal):
            yield from _texts(fact.memory)
            yield proposal.accepted_text


def _texts(memory: Memory | NewMemory) -> Iterator[str]:
    yield memory.text
    yield from memory.cues
    yield from memory.asks


def _blotted(evidence: Evidence) -> Evidence:
    return msgspec.structs.replace(evidence, quote=redact(evidence.quote).text)


def _all_lines(
    given: Sequence[_Record], read: Sequence[_Record | None], stored: Sequence[ImportLine]
) -> tuple[ImportLine, ...]:
    """One line for each record: of what holds a secret, the store was told nothing."""
    lines = iter(stored)
    return tuple(
        ImportLine(memory_id=_id_of(each), outcome=ImportOutcome.SECRET) if clean is None else next(lines)
        for each, clean in zip(given, read, strict=True)
    )


def _id_of(record: _Record) -> str:
    match record:
        case PortableMemory(memory=memory):
            return memory.id
        case PortableObservation(observation=observation):
            return observation.id
        case PortableProposal(proposal=proposal):
            return proposal.id
