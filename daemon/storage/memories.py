"""Reading and writing single memories with everything that hangs on them."""

from __future__ import annotations

import sqlite3
from typing import Final

import msgspec

from recalld.daemon.storage.changes import ChangeNotes
from recalld.daemon.storage.embeddings import delete_vectors
from recalld.daemon.storage.errors import DamagedRowError
from recalld.daemon.storage.origins import text_from_origins
from recalld.daemon.storage.rows import (
    MEMORY_COLUMNS,
    MemoryRow,
    json_from_texts,
    memory_from_row,
    readable_memory,
)
from recalld.daemon.storage.search_rows import index_memory, unindex_memory
from recalld.models.domain.records import Memory, MemoryStatus


class StoredMemory(msgspec.Struct, frozen=True, kw_only=True):
    """A memory and where it is stored. Of a damaged one, `memory` is what can be read of it."""

    memory_no: int
    user_no: int
    is_indexed: bool
    memory: Memory
    is_damaged: bool = False


_STORED: Final = f"SELECT {MEMORY_COLUMNS}, m.memory_no, m.is_indexed FROM memories AS m"  # noqa: S608 - constant text
_BY_ID: Final = f"{_STORED} WHERE m.id = ? AND m.user_no = ?"


def find_by_id(db: sqlite3.Connection, user: str, user_no: int, memory_id: str) -> StoredMemory | None:
    """A user's memory in any status.

    Raises:
        DamagedRowError: Its row is damaged.
    """
    row = db.execute(_BY_ID, (memory_id, user_no)).fetchone()
    return None if row is None else _stored(user, user_no, row)


def find_readable(db: sqlite3.Connection, user: str, user_no: int, memory_id: str) -> StoredMemory | None:
    """As `find_by_id`, but gives what can be read of a damaged memory: enough to take it out of the store."""
    row = db.execute(_BY_ID, (memory_id, user_no)).fetchone()
    if row is None:
        return None
    try:
        return _stored(user, user_no, row)
    except DamagedRowError:
        memory = readable_memory(user, row[:13])
        return StoredMemory(
            memory_no=row[13], user_no=user_no, is_indexed=bool(row[14]), memory=memory, is_damaged=True
        )


def find_by_fold(db: sqlite3.Connection, user: str, user_no: int, scope: str, digest: bytes) -> StoredMemory | None:
    """The user's indexed memory of the same words in the same scope; there is one at most.

    Raises:
        DamagedRowError: Its row is damaged.
    """
    row = db.execute(
        f"{_STORED} WHERE m.user_no = ? AND m.scope = ? AND m.fold_digest = ? AND m.is_indexed = 1",
        (user_no, scope, digest),
    ).fetchone()
    return None if row is None else _stored(user, user_no, row)


def is_id_taken(db: sqlite3.Connection, memory_id: str) -> bool:
    """Whether any user has a memory of this id, in any status."""
    return db.execute("SELECT 1 FROM memories WHERE id = ?", (memory_id,)).fetchone() is not None


def insert_memory(
    db: sqlite3.Connection, user_no: int, memory: Memory, digest: bytes, *, is_indexed: bool = True
) -> int:
    """Store a new memory and, unless it is history, index its words; its number is returned."""
    row: tuple[int] = db.execute(
        "INSERT INTO memories (id, user_no, text, kind, scope, cues, asks, source, status, created_at_ms,"
        " updated_at_ms, expires_at_ms, revision, origins, fold_digest, term_count, is_indexed)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0, ?) RETURNING memory_no",
        (
            memory.id,
            user_no,
            memory.text,
            memory.kind.value,
            memory.scope,
            json_from_texts(memory.cues),
            json_from_texts(memory.asks),
            memory.source.value,
            memory.status.value,
            memory.created_at_ms,
            memory.updated_at_ms,
            memory.expires_at_ms,
            memory.revision,
            text_from_origins(memory),
            digest,
            is_indexed,
        ),
    ).fetchone()
    if is_indexed:
        index_memory(db, row[0], user_no, memory)
    return row[0]


def update_memory(db: sqlite3.Connection, stored: StoredMemory, memory: Memory) -> None:
    """Store a changed kind, expiry, cues or asks. New cues or asks are indexed, and the old vectors dropped."""
    db.execute(
        "UPDATE memories SET kind = ?, cues = ?, asks = ?, expires_at_ms = ?, updated_at_ms = ?, revision = ?,"
        " origins = ? WHERE memory_no = ?",
        (
            memory.kind.value,
            json_from_texts(memory.cues),
            json_from_texts(memory.asks),
            memory.expires_at_ms,
            memory.updated_at_ms,
            memory.revision,
            text_from_origins(memory),
            stored.memory_no,
        ),
    )
    if memory.revision != stored.memory.revision:
        unindex_memory(db, stored.memory_no)
        index_memory(db, stored.memory_no, stored.user_no, memory)
        delete_vectors(db, stored.memory_no)


def withdraw(db: sqlite3.Connection, notes: ChangeNotes, stored: StoredMemory) -> None:
    """Take a memory out of every index, so that neither words nor vectors can find it. Its row stays."""
    if stored.is_indexed:
        unindex_memory(db, stored.memory_no)
        delete_vectors(db, stored.memory_no)
        db.execute("UPDATE memories SET is_indexed = 0 WHERE memory_no = ?", (stored.memory_no,))
    notes.note(stored.memory.user, stored.user_no, stored.memory.id)


def supersede(db: sqlite3.Connection, notes: ChangeNotes, stored: StoredMemory, now_ms: int) -> None:
    """Take a memory out of every index for good; it stays as history."""
    withdraw(db, notes, stored)
    db.execute(
        "UPDATE memories SET status = ?, updated_at_ms = ? WHERE memory_no = ?",
        (MemoryStatus.SUPERSEDED.value, now_ms, stored.memory_no),
    )


def erase_words(db: sqlite3.Connection, stored: StoredMemory, now_ms: int) -> None:
    """Mark a withdrawn memory forgotten and overwrite its words; what stays is that there was one."""
    db.execute(
        "UPDATE memories SET status = ?, kind = ?, source = ?, text = '', cues = '[]', asks = '[]', origins = '',"
        " fold_digest = x'', term_count = 0, updated_at_ms = ? WHERE memory_no = ?",
        (
            MemoryStatus.FORGOTTEN.value,
            stored.memory.kind.value,
            stored.memory.source.value,
            now_ms,
            stored.memory_no,
        ),
    )


def _stored(user: str, user_no: int, row: tuple[*MemoryRow, int, int]) -> StoredMemory:
    return StoredMemory(
        memory_no=row[13], user_no=user_no, is_indexed=bool(row[14]), memory=memory_from_row(user, row[:13])
    )
