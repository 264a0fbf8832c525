"""The transaction that forgets.

A forgotten memory leaves the full-text index, the vectors and every listing at once, its words are overwritten in its
row, and ledger bodies that repeat them are emptied. What stays is a row that says that there was a memory, and a
tombstone: a keyed digest that recognises the words. What speaks for it, what it states values of and what would bring
it back go with it; see `forget_derived`. A hard one removes the row too, and scrubs the copies that lie in
older segments of the full-text index and in the write-ahead log. A purge leaves nothing at all, and is for memories
that only a check of this program stored.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from typing import Final

from recalld.actors.store.forgetting_rules import Sought
from recalld.daemon.storage.audit_samples import forget_sought
from recalld.daemon.storage.changes import ChangeNotes
from recalld.daemon.storage.forget_derived import forget_derived
from recalld.daemon.storage.ledger import append_decision, clean_bodies, remove_decisions, remove_turns
from recalld.daemon.storage.memories import StoredMemory, erase_words, find_readable, withdraw
from recalld.daemon.storage.meta import fold_key
from recalld.daemon.storage.outcomes import forget_orphans, forget_reports
from recalld.daemon.storage.search_rows import scrub_index, unindex_memory
from recalld.daemon.storage.sought_notes import forget_notes
from recalld.daemon.storage.users import find_user
from recalld.models.domain.records import MemoryStatus
from recalld.models.domain.store import Forget, Forgotten
from recalld.models.domain.user_data import PurgeUser, UserPurged
from recalld.models.policy.duplicates import tombstone_digest

_USERS_TABLES: Final = (
    "changes",
    "turn_facts",
    "turns",
    "outcomes",
    "standing_choices",
    "evidence",
    "observations",
    "proposals",
    "closings",
    "pending_turns",
    "pending_expiries",
    "audit_samples",
    "decisions",
    "ledger_tallies",
    "users",
)
"""What else belongs to a user without memories and tombstones, in an order that no foreign key minds."""
_WITH_MEMORIES: Final = ("memory_slots", "memories", "tombstones")
"""What belongs to a user with memories, beside that."""
TABLES_OF_USER: Final = (*_WITH_MEMORIES, *_USERS_TABLES)
"""Every table with rows that belong to one user."""


def forget(db: sqlite3.Connection, notes: ChangeNotes, command: Forget) -> Forgotten:
    """Forget memories of one user; a purge leaves nothing of them behind.

    A hard one costs as much as writing the whole full-text index, of all users; see `search_rows.scrub_index`.
    """
    forgotten = _forget(db, notes, command)
    if command.is_hard and forgotten.ids:
        scrub_index(db)
    return forgotten


def purge_user(db: sqlite3.Connection, notes: ChangeNotes, command: PurgeUser) -> UserPurged:
    """Leave nothing of a user: no row in any table. Costs as much as a hard forgetting of all memories."""
    user_no = find_user(db, command.user)
    if user_no is None:
        return UserPurged(memories=0)
    rows = db.execute("SELECT memory_no, is_indexed FROM memories WHERE user_no = ?", (user_no,)).fetchall()
    for memory_no, is_indexed in rows:
        if is_indexed:
            unindex_memory(db, memory_no)
    purged = UserPurged(
        memories=len(rows), observations=_count(db, "observations", user_no), proposals=_count(db, "proposals", user_no)
    )
    notes.note(command.user, user_no, "")
    _empty(db, TABLES_OF_USER, user_no)
    scrub_index(db)
    return purged


def _forget(db: sqlite3.Connection, notes: ChangeNotes, command: Forget) -> Forgotten:
    user_no = find_user(db, command.user)
    if command.is_purge:
        ids = () if user_no is None else _purge_each(db, notes, user_no, command)
        return Forgotten(ids=ids, tombstones=0)
    forgotten = Forgotten(ids=(), tombstones=0) if user_no is None else _forget_each(db, notes, user_no, command)
    append_decision(db, command.decision)
    return forgotten


def _forget_each(db: sqlite3.Connection, notes: ChangeNotes, user_no: int, command: Forget) -> Forgotten:
    sought = Sought(words=frozenset(command.words))
    beside = forget_notes(db, user_no, sought)
    forget_sought(db, user_no, sought)
    ids = []
    tombstones = 0
    for stored in _named(db, user_no, command):
        is_forgotten = stored.memory.status is MemoryStatus.FORGOTTEN
        if not is_forgotten:
            tombstones += _forget_one(db, notes, stored, command.now_ms)
        if not is_forgotten or command.is_hard:
            ids.append(stored.memory.id)
        if command.is_hard:
            _remove_row(db, stored)
    return Forgotten(ids=tuple(ids), tombstones=tombstones, notes=beside)


def _named(db: sqlite3.Connection, user_no: int, command: Forget) -> Iterator[StoredMemory]:
    """The memories that a command names and that are there, in any status, damaged ones too."""
    for memory_id in dict.fromkeys(command.memory_ids):
        stored = find_readable(db, command.user, user_no, memory_id)
        if stored is not None:
            yield stored


def _forget_one(db: sqlite3.Connection, notes: ChangeNotes, stored: StoredMemory, now_ms: int) -> int:
    """Forget one memory; returns how many tombstones that added."""
    withdraw(db, notes, stored)
    digest = tombstone_digest(stored.memory.text, fold_key(db))
    made = db.execute(
        "INSERT INTO tombstones VALUES (?, ?, ?) ON CONFLICT DO NOTHING", (stored.user_no, digest, now_ms)
    ).rowcount
    clean_bodies(db, stored.user_no, stored.memory.id, stored.memory.text)
    forget_reports(db, stored.user_no, stored.memory.id)
    forget_derived(db, stored)
    erase_words(db, stored, now_ms)
    return made


def _remove_row(db: sqlite3.Connection, stored: StoredMemory) -> None:
    """Remove what is left of a forgotten memory. Its turn stays seen, so that a repeat cannot bring it back."""
    turn = (stored.user_no, stored.memory.id)
    db.execute("UPDATE turns SET memory_id = NULL WHERE user_no = ? AND memory_id = ?", turn)
    db.execute("DELETE FROM memories WHERE memory_no = ?", (stored.memory_no,))


def _purge_each(db: sqlite3.Connection, notes: ChangeNotes, user_no: int, command: Forget) -> tuple[str, ...]:
    ids = []
    for stored in _named(db, user_no, command):
        _purge_one(db, notes, stored)
        ids.append(stored.memory.id)
    if ids and not _has_memories(db, user_no):
        _remove_user(db, user_no)
    return tuple(ids)


def _purge_one(db: sqlite3.Connection, notes: ChangeNotes, stored: StoredMemory) -> None:
    """Remove a memory and every row that names it, but for the one change that tells indices that it is gone."""
    memory = (stored.user_no, stored.memory.id)
    db.execute("DELETE FROM changes WHERE user_no = ? AND memory_id = ?", memory)
    withdraw(db, notes, stored)
    remove_decisions(db, stored.user_no, stored.memory.id, stored.memory.text)
    forget_reports(db, stored.user_no, stored.memory.id)
    forget_orphans(db, stored.user_no)
    forget_derived(db, stored)
    remove_turns(db, stored.user_no, stored.memory.id)
    db.execute("DELETE FROM memories WHERE memory_no = ?", (stored.memory_no,))


def _has_memories(db: sqlite3.Connection, user_no: int) -> bool:
    """Whether the user has a memory in any status, or the tombstone of one."""
    row: tuple[int] = db.execute(
        "SELECT EXISTS (SELECT 1 FROM memories WHERE user_no = ?1)"
        " OR EXISTS (SELECT 1 FROM tombstones WHERE user_no = ?1)",
        (user_no,),
    ).fetchone()
    return bool(row[0])


def _remove_user(db: sqlite3.Connection, user_no: int) -> None:
    """Remove a user without memories. The change number published last makes an index of this user start anew."""
    _empty(db, _USERS_TABLES, user_no)


def _count(db: sqlite3.Connection, table: str, user_no: int) -> int:
    statement = f"SELECT COUNT(*) FROM {table} WHERE user_no = ?"  # noqa: S608 - a name from the tables above
    return int(db.execute(statement, (user_no,)).fetchone()[0])


def _empty(db: sqlite3.Connection, tables: Sequence[str], user_no: int) -> None:
    for table in tables:
        db.execute(f"DELETE FROM {table} WHERE user_no = ?", (user_no,))  # noqa: S608 - a name from the tables above
