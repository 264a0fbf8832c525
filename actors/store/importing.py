"""Taking over what was exported inside a transaction, the same in every store."""

from __future__ import annotations

import msgspec

from recalld.actors.store.admission_tables import AdmissionTables
from recalld.actors.store.caps import within_caps
from recalld.actors.store.importing_notes import import_observation, import_proposal, with_evidence
from recalld.models.domain.admission_store import AdmissionLimits
from recalld.models.domain.records import Memory, MemoryStatus
from recalld.models.domain.user_data import (
    ImportLine,
    ImportMemories,
    ImportOutcome,
    MemoriesImported,
    PortableMemory,
)
from recalld.models.policy.duplicates import canonical


def import_memories(tables: AdmissionTables, command: ImportMemories) -> MemoriesImported:
    """Take over memories, observations and proposals, each for itself: one that conflicts leaves the others alone.

    Args:
        tables: The user's tables, inside the transaction.
        command: What to take over.
    """
    if command.is_dry_run:
        with tables.attempt() as attempt:
            imported = _import_all(tables, command)
            attempt.undo()
        return imported
    imported = _import_all(tables, command)
    tables.append_decision(command.decision)
    return imported


def _import_all(tables: AdmissionTables, command: ImportMemories) -> MemoriesImported:
    return MemoriesImported(
        lines=tuple(_import_one(tables, each, command) for each in command.memories),
        observations=tuple(import_observation(tables, each, command.user) for each in command.observations),
        proposals=tuple(import_proposal(tables, each, command.user) for each in command.proposals),
    )


def _import_one(tables: AdmissionTables, given: PortableMemory, command: ImportMemories) -> ImportLine:
    memory = msgspec.structs.replace(given.memory, user=command.user)
    there = tables.memory(memory.id)
    if there is not None:
        is_same = canonical(there.text) == canonical(memory.text) and there.scope == memory.scope
        return _known(tables, given, there) if is_same else _line(memory, ImportOutcome.CONFLICT)
    if memory.status is MemoryStatus.FORGOTTEN or tables.is_forgotten(memory.id) or tables.is_tombstoned(memory.text):
        return _line(memory, ImportOutcome.TOMBSTONED)
    if tables.is_id_taken(memory.id):
        return _line(memory, ImportOutcome.CONFLICT)
    if memory.is_live(command.now_ms):
        same = tables.same_words(memory.scope, memory.text, command.now_ms)
        if same is not None:
            return _known(tables, given, same)
    return _insert(tables, given, memory, command)


def _insert(tables: AdmissionTables, given: PortableMemory, memory: Memory, command: ImportMemories) -> ImportLine:
    limits = AdmissionLimits(records_max=command.records_max, chars_max=command.chars_max)
    is_live = memory.is_live(command.now_ms)
    done = within_caps(tables, memory.scope, limits, command.now_ms, lambda: tables.insert(memory, is_indexed=is_live))
    if done is None:
        return _line(memory, ImportOutcome.OVER_CAPACITY)
    if given.slots:
        tables.put_slots(memory.id, given.slots)
    for evidence in given.evidence:
        tables.add_evidence(memory.id, evidence)
    if memory.status is MemoryStatus.SUPERSEDED:
        at_ms = memory.updated_at_ms if given.closed_at_ms is None else given.closed_at_ms
        tables.note_closing(memory.id, by=given.superseded_by, at_ms=at_ms)
    return _line(memory, ImportOutcome.IMPORTED)


def _known(tables: AdmissionTables, given: PortableMemory, there: Memory) -> ImportLine:
    outcome = with_evidence(tables, there.id, given.evidence)
    return ImportLine(memory_id=given.memory.id, outcome=outcome, known_as=there.id)


def _line(memory: Memory, outcome: ImportOutcome) -> ImportLine:
    return ImportLine(memory_id=memory.id, outcome=outcome)
