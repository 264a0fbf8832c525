from __future__ import annotations

import sqlite3

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recalld.actors.store.packed_vectors import ORDINAL_MAX, ROLE_CODES, pack_vectors, unpack_vectors
from recalld.daemon.storage.embeddings import is_embedded, replace_vectors, stored_vectors
from recalld.daemon.storage.migrations import MIGRATIONS, MigrationContext, migrate
from recalld.daemon.storage.search_schema import create_tables
from recalld.models.domain.records import VectorRole
from recalld.models.domain.store import PackedVectors, TextVector

CONTEXT = MigrationContext(now_ms=7, secret=b"s" * 32)
BEFORE_PACKING = next(each.number for each in MIGRATIONS if "one row" in each.name) - 1


def vector(role: VectorRole, ordinal: int, value: int) -> TextVector:
    return TextVector(role=role, ordinal=ordinal, data=bytes([value]) * 8)


places = st.lists(st.tuples(st.sampled_from(VectorRole), st.integers(0, ORDINAL_MAX)), unique=True)


@given(places)
def test_packed_vectors_come_back_by_role_and_ordinal(which: list[tuple[VectorRole, int]]) -> None:
    vectors = [vector(role, ordinal, place % 256) for place, (role, ordinal) in enumerate(which)]
    unpacked = unpack_vectors(pack_vectors(vectors))
    assert sorted(unpacked, key=str) == sorted(vectors, key=str)
    assert list(unpacked) == sorted(unpacked, key=lambda each: (ROLE_CODES[each.role], each.ordinal))


@pytest.mark.parametrize(
    "packed",
    [
        PackedVectors(),
        PackedVectors(layout=b"\0", data=b"12"),
        PackedVectors(layout=b"\0\0\1\0", data=b"123"),
        PackedVectors(layout=b"\x63\0", data=b"12"),
    ],
)
def test_what_does_not_fit_together_holds_no_vectors(packed: PackedVectors) -> None:
    assert unpack_vectors(packed) == ()


def test_the_codes_of_roles_are_stored_and_never_change() -> None:
    assert dict(ROLE_CODES) == {VectorRole.RECORD: 0, VectorRole.CUE: 1, VectorRole.ASK: 2}


def add_memory(db: sqlite3.Connection, memory_no: int, revision: int = 1, status: str = "active") -> None:
    db.execute("INSERT OR IGNORE INTO users (user_no, name) VALUES (1, x'61')")
    db.execute(
        "INSERT INTO memories (memory_no, id, user_no, text, kind, scope, cues, asks, source, status, created_at_ms,"
        " updated_at_ms, revision, fold_digest, term_count, is_indexed)"
        " VALUES (?, 'm' || ?, 1, 't', 'fact', '', '[]', '[]', 'explicit', ?, 0, 0, ?, CAST(? AS BLOB), 3, ?)",
        (memory_no, memory_no, status, revision, memory_no, status == "active"),
    )


def test_vectors_stored_one_by_one_are_packed_and_those_of_older_revisions_dropped(db: sqlite3.Connection) -> None:
    migrate(db, CONTEXT, MIGRATIONS[:BEFORE_PACKING])
    create_tables(db)
    add_memory(db, 1)
    add_memory(db, 2, revision=2)
    rows = [
        (1, "ask", 1, "key", 1, b"\4" * 8),
        (1, "ask", 0, "key", 1, b"\3" * 8),
        (1, "record", 0, "key", 1, b"\1" * 8),
        (2, "record", 0, "key", 1, b"\1" * 8),
    ]
    db.executemany("INSERT INTO vectors VALUES (?, ?, ?, ?, ?, ?)", rows)
    migrate(db, CONTEXT)
    key, vectors = stored_vectors(db, 1, 1)
    assert key == "key"
    assert [(each.role, each.ordinal, each.data[0]) for each in vectors] == [
        (VectorRole.RECORD, 0, 1),
        (VectorRole.ASK, 0, 3),
        (VectorRole.ASK, 1, 4),
    ]
    assert db.execute("SELECT memory_no FROM embeddings").fetchall() == [(1,)]


def test_a_database_of_before_counts_what_words_can_find_when_it_is_brought_up_to_date(db: sqlite3.Connection) -> None:
    migrate(db, CONTEXT, MIGRATIONS[:BEFORE_PACKING])
    for memory_no in range(1, 4):
        add_memory(db, memory_no)
    add_memory(db, 4, status="forgotten")
    migrate(db, CONTEXT)
    assert db.execute("SELECT found_memories, found_terms FROM users").fetchall() == [(3, 9)]


def test_vectors_are_there_for_their_revision_alone_and_go_with_their_memory(db: sqlite3.Connection) -> None:
    db.execute("PRAGMA foreign_keys = ON")
    migrate(db, CONTEXT)
    add_memory(db, 1)
    replace_vectors(db, 1, 1, "key", [vector(VectorRole.RECORD, 0, 1)], is_waiting=True)
    assert not is_embedded(db, 1, 1)
    replace_vectors(db, 1, 1, "key", [vector(VectorRole.RECORD, 0, 2)])
    assert is_embedded(db, 1, 1)
    assert not is_embedded(db, 1, 2)
    assert stored_vectors(db, 1, 2) == ("", ())
    replace_vectors(db, 1, 1, "key", [])
    assert not is_embedded(db, 1, 1)
    replace_vectors(db, 1, 1, "key", [vector(VectorRole.RECORD, 0, 2)])
    db.execute("DELETE FROM memories")
    assert db.execute("SELECT COUNT(*) FROM embeddings").fetchone() == (0,)
