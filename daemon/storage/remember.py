"""The transactions that store: a memory, an observed turn that led to nothing, vectors."""

from __future__ import annotations

import sqlite3

from recalld.actors.store import saving
from recalld.daemon.storage.admission_tables import SqliteTables
from recalld.daemon.storage.changes import ChangeNotes
from recalld.daemon.storage.embeddings import replace_vectors
from recalld.daemon.storage.ledger import TurnRecord, append_decision, find_turn
from recalld.daemon.storage.ledger import record_turn as write_turn
from recalld.daemon.storage.memories import find_by_id
from recalld.daemon.storage.users import ensure_user, find_user
from recalld.models.domain.records import Memory, MemoryStatus
from recalld.models.domain.store import PutVectors, RecordTurn, Remember, Remembered, TurnRecorded


def remember(db: sqlite3.Connection, notes: ChangeNotes, command: Remember) -> Remembered:
    """Store a memory, or find that the same words are stored already.

    Raises:
        RecalldError: `CONFLICT` when a new memory's id is taken.
        DamagedRowError: The same words, or the turn, are stored in a damaged row.
    """
    return saving.remember(SqliteTables(db, notes, command.memory.user), command)


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


def _memory_of_turn(db: sqlite3.Connection, user: str, user_no: int, turn: TurnRecord) -> Memory | None:
    """The memory a turn led to, as it is now; None when it led to none or the memory was forgotten since."""
    if turn.memory_id is None:
        return None
    stored = find_by_id(db, user, user_no, turn.memory_id)
    if stored is None or stored.memory.status is MemoryStatus.FORGOTTEN:
        return None
    return stored.memory
