from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing

import pytest

from recalld.actors.store.packed_vectors import ROLE_CODES
from recalld.daemon.storage import pending
from recalld.daemon.storage.changes import ChangeNotes, trim_changes
from recalld.daemon.storage.memories import insert_memory
from recalld.daemon.storage.migrations import MigrationContext, migrate
from recalld.daemon.storage.pending import PendingSearch
from recalld.daemon.storage.rows import VectorShape, register_functions
from recalld.daemon.storage.search_rows import prepare_index
from recalld.daemon.storage.users import ensure_user
from recalld.models.domain.records import Memory, MemoryKind, MemorySource, MemoryStatus, VectorRole

NOW_MS = 1_000_000
VECTORS = VectorShape(embedder_key="e", vector_bytes=4)


@pytest.fixture
def db() -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as db:
        register_functions(db)
        migrate(db, MigrationContext(now_ms=0, secret=b"s" * 32))
        prepare_index(db)
        yield db


def add(db: sqlite3.Connection, memory_id: str, *, data: bytes | None = b"\1\2\3\4") -> None:
    """A memory, with these data for its one vector; None: without one."""
    memory = Memory(
        id=memory_id,
        user="ines",
        text=f"Prefers tea {memory_id}",
        kind=MemoryKind.FACT,
        scope="",
        cues=(),
        asks=(),
        source=MemorySource.EXPLICIT,
        status=MemoryStatus.ACTIVE,
        created_at_ms=NOW_MS,
        updated_at_ms=NOW_MS,
        expires_at_ms=None,
        revision=1,
    )
    user_no = ensure_user(db, "ines")
    memory_no = insert_memory(db, user_no, memory, memory_id.encode())
    if data is not None:
        layout = bytes([ROLE_CODES[VectorRole.RECORD], 0])
        db.execute("INSERT INTO embeddings VALUES (?, 'e', 1, 0, ?, ?)", (memory_no, layout, data))
    ChangeNotes(db).note("ines", user_no, memory_id)


def found(db: sqlite3.Connection, search: PendingSearch) -> list[str]:
    return [each.memory.id for each in search.find(db, VECTORS, now_ms=NOW_MS, limit=9)]


def test_no_memory_is_looked_at_again_while_nothing_changes(db: sqlite3.Connection) -> None:
    add(db, "mem-1")
    search, statements = PendingSearch(), list[str]()
    assert found(db, search) == []
    db.set_trace_callback(statements.append)
    assert found(db, search) == []
    assert not [each for each in statements if "embeddings" in each]


def test_after_a_change_only_what_changed_is_looked_at(db: sqlite3.Connection) -> None:
    add(db, "mem-1")
    search = PendingSearch()
    assert found(db, search) == []
    db.execute("DELETE FROM embeddings")
    add(db, "mem-2", data=None)
    assert found(db, search) == ["mem-2"]
    assert found(db, PendingSearch()) == ["mem-1", "mem-2"]


def test_where_the_change_log_was_cut_everything_is_looked_at(db: sqlite3.Connection) -> None:
    add(db, "mem-1")
    search = PendingSearch()
    assert found(db, search) == []
    add(db, "mem-2", data=None)
    add(db, "mem-3", data=None)
    trim_changes(db, keep=1)
    assert found(db, search) == ["mem-2", "mem-3"]


@pytest.mark.parametrize("data", [b"\0\0\0\0", b"\1\2"], ids=["zeros", "too short"])
def test_a_vector_that_is_not_sound_is_pending(db: sqlite3.Connection, data: bytes) -> None:
    add(db, "mem-1", data=data)
    assert found(db, PendingSearch()) == ["mem-1"]


def test_vectors_are_read_a_slice_at_a_time_and_each_once(
    db: sqlite3.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pending, "SLICE", 2)
    for number in range(4):
        add(db, f"mem-{number}")
    add(db, "mem-last", data=b"\0\0\0\0")
    search = PendingSearch()
    assert [found(db, search) for _ in range(4)] == [[], [], ["mem-last"], ["mem-last"]]
    db.execute("UPDATE embeddings SET data = x'01020304'")
    assert [found(db, search) for _ in range(2)] == [[], []]
    db.execute("UPDATE embeddings SET data = x'00000000'")
    assert found(db, search) == []


def test_a_write_while_slices_are_read_is_found_at_once(
    db: sqlite3.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pending, "SLICE", 1)
    for number in range(3):
        add(db, f"mem-{number}")
    search = PendingSearch()
    assert found(db, search) == []
    add(db, "mem-late", data=b"\0\0\0\0")
    assert found(db, search) == ["mem-late"]
