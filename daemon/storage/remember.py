"""The transactions that store: a memory, an observed turn that led to nothing, vectors."""

from __future__ import annotations

import sqlite3

import msgspec

from recalld.actors.store.rules import (
    admission_decision,
    brought_up_to_date,
    conflicting_id,
    new_record,
    turn_reason,
    vectors_fit,
)
from recalld.daemon.storage.changes import ChangeNotes
from recalld.daemon.storage.embeddings import replace_vectors
from recalld.daemon.storage.ledger import TurnRecord, append_decision, find_turn
from recalld.daemon.storage.ledger import record_turn as write_turn
from recalld.daemon.storage.memories import (
    StoredMemory,
    find_by_fold,
    find_by_id,
    insert_memory,
    is_id_taken,
    update_memory,
    withdraw,
)
from recalld.daemon.storage.meta import fold_key
from recalld.daemon.storage.users import ensure_user, find_user
from recalld.models.domain.reasons import RememberOutcome
from recalld.models.domain.records import Memory, MemoryStatus
from recalld.models.domain.store import PutVectors, RecordTurn, Remember, Remembered, TurnRecorded
from recalld.models.policy.duplicates import duplicate_digest, tombstone_digest


class _Stored(msgspec.Struct, frozen=True, kw_only=True):
    """What became of the words: None and None when a tombstone refused them."""

    outcome: RememberOutcome | None
    memory: Memory | None


def remember(db: sqlite3.Connection, notes: ChangeNotes, command: Remember) -> Remembered:
    """Store a memory, or find that the same words are stored already.

    Raises:
        RecalldError: `CONFLICT` when a new memory's id is taken.
        DamagedRowError: The same words, or the turn, are stored in a damaged row.
    """
    user_no = ensure_user(db, command.memory.user)
    if command.turn_key:
        earlier = find_turn(db, user_no, command.turn_key)
        if earlier is not None:
            memory = _memory_of_turn(db, command.memory.user, user_no, earlier)
            return Remembered(outcome=earlier.outcome, memory=memory, decision_id=earlier.decision_id)
    stored = _store_words(db, notes, user_no, command)
    append_decision(db, admission_decision(command, stored.outcome))
    if command.turn_key:
        record = TurnRecord(
            decision_id=command.decision.id,
            reason=turn_reason(stored.outcome),
            outcome=stored.outcome,
            memory_id=None if stored.memory is None else stored.memory.id,
        )
        write_turn(db, user_no, command.turn_key, command.now_ms, record)
    return Remembered(outcome=stored.outcome, memory=stored.memory, decision_id=command.decision.id)


def record_turn(db: sqlite3.Connection, command: RecordTurn) -> TurnRecorded:
    """Note that an observed turn led to nothing, or answer with what it led to when it was first seen."""
    user_no = ensure_user(db, command.user)
    earlier = find_turn(db, user_no, command.turn_key)
    if earlier is not None:
        memory = _memory_of_turn(db, command.user, user_no, earlier)
        return TurnRecorded(decision_id=earlier.decision_id, reason=earlier.reason, memory=memory)
    append_decision(db, command.decision)
    record = TurnRecord(decision_id=command.decision.id, reason=command.reason, outcome=None, memory_id=None)
    write_turn(db, user_no, command.turn_key, command.decision.at_ms, record)
    return TurnRecorded(decision_id=command.decision.id, reason=command.reason)


def put_vectors(db: sqlite3.Connection, notes: ChangeNotes, command: PutVectors) -> bool:
    """Attach vectors to a memory that can still be found and still has the revision they were made from."""
    user_no = find_user(db, command.user)
    stored = None if user_no is None else find_by_id(db, command.user, user_no, command.memory_id)
    if stored is None or not stored.is_indexed or stored.memory.revision != command.revision or not command.vectors:
        return False
    replace_vectors(db, stored.memory_no, command.revision, command.embedder_key, command.vectors)
    notes.note(command.user, stored.user_no, command.memory_id)
    return True


def _store_words(db: sqlite3.Connection, notes: ChangeNotes, user_no: int, command: Remember) -> _Stored:
    wanted = command.memory
    key = fold_key(db)
    digest, tombstone = duplicate_digest(wanted.text, key), tombstone_digest(wanted.text, key)
    if command.is_explicit:
        db.execute("DELETE FROM tombstones WHERE user_no = ? AND digest = ?", (user_no, tombstone))
    elif _is_tombstoned(db, user_no, tombstone):
        return _Stored(outcome=None, memory=None)
    same = find_by_fold(db, wanted.user, user_no, wanted.scope, digest)
    if same is not None and not same.memory.is_live(command.now_ms):
        # Expired but not swept yet: it no longer counts as stored, and its place among the words must be free.
        withdraw(db, notes, same)
        same = None
    return _create(db, notes, user_no, digest, command) if same is None else _update(db, notes, same, command)


def _create(db: sqlite3.Connection, notes: ChangeNotes, user_no: int, digest: bytes, command: Remember) -> _Stored:
    if is_id_taken(db, command.memory_id):
        raise conflicting_id(command.memory_id)
    memory = new_record(command)
    memory_no = insert_memory(db, user_no, memory, digest)
    if vectors_fit(command, memory):
        replace_vectors(db, memory_no, memory.revision, command.embedder_key, command.vectors)
    notes.note(memory.user, user_no, memory.id)
    return _Stored(outcome=RememberOutcome.CREATED, memory=memory)


def _update(db: sqlite3.Connection, notes: ChangeNotes, same: StoredMemory, command: Remember) -> _Stored:
    memory = brought_up_to_date(same.memory, command.memory, command.now_ms)
    if memory is None:
        return _Stored(outcome=RememberOutcome.DUPLICATE, memory=same.memory)
    update_memory(db, same, memory)
    if memory.revision != same.memory.revision and vectors_fit(command, memory):
        replace_vectors(db, same.memory_no, memory.revision, command.embedder_key, command.vectors)
    notes.note(memory.user, same.user_no, memory.id)
    return _Stored(outcome=RememberOutcome.UPDATED, memory=memory)


def _is_tombstoned(db: sqlite3.Connection, user_no: int, digest: bytes) -> bool:
    row = db.execute("SELECT 1 FROM tombstones WHERE user_no = ? AND digest = ?", (user_no, digest)).fetchone()
    return row is not None


def _memory_of_turn(db: sqlite3.Connection, user: str, user_no: int, turn: TurnRecord) -> Memory | None:
    """The memory a turn led to, as it is now; None when it led to none or the memory was forgotten since."""
    if turn.memory_id is None:
        return None
    stored = find_by_id(db, user, user_no, turn.memory_id)
    if stored is None or stored.memory.status is MemoryStatus.FORGOTTEN:
        return None
    return stored.memory
