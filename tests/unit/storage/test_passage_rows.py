"""A store whose long texts were embedded whole is brought up to date without losing the vectors of the short ones."""

from __future__ import annotations

import sqlite3

import pytest

from recalld.daemon.calibrating import embedder_key_of, shipped_calibration
from recalld.daemon.storage.embeddings import stored_vectors
from recalld.daemon.storage.migrations import MIGRATIONS, MigrationContext, migrate
from recalld.daemon.storage.passage_rows import await_passages
from recalld.daemon.storage.rows import EMBEDDED, VectorShape
from recalld.daemon.storage.search_schema import create_tables
from recalld.models.inference.manifest import BGE_SMALL
from recalld.models.policy.passages import split_passages

CONTEXT = MigrationContext(now_ms=7, secret=b"s" * 32)
KEY_OF_FIRST_RELEASE = "a467386b8f8fdd77e6e5383b1c60d7fe"
SHORT, LONG = "Prefers tea.", "The boiler in the hall is serviced in May. " * 20
WIDTH = 8


def add_memory(db: sqlite3.Connection, memory_no: int, text: str | bytes, *, vectors: int = 1) -> None:
    """A memory as the first release stored it: a row for each vector, a text as one whole."""
    db.execute("INSERT OR IGNORE INTO users (user_no, name) VALUES (1, x'61')")
    db.execute(
        "INSERT INTO memories (memory_no, id, user_no, text, kind, scope, cues, asks, source, status, created_at_ms,"
        " updated_at_ms, revision, fold_digest, term_count, is_indexed)"
        " VALUES (?, 'm' || ?, 1, CAST(? AS TEXT), 'fact', '', '[]', '[]', 'explicit', 'active', 0, 0, 1,"
        " CAST(? AS BLOB), 3, 1)",
        (memory_no, memory_no, text, memory_no),
    )
    for role in ("record", "cue")[:vectors]:
        db.execute(
            "INSERT INTO vectors VALUES (?, ?, 0, ?, 1, ?)",
            (memory_no, role, KEY_OF_FIRST_RELEASE, bytes([memory_no]) * WIDTH),
        )


def waiting(db: sqlite3.Connection) -> list[int]:
    return [number for (number,) in db.execute("SELECT memory_no FROM embeddings WHERE is_waiting = 1 ORDER BY 1")]


@pytest.fixture
def old(db: sqlite3.Connection) -> sqlite3.Connection:
    """A database of the first release, with nothing in it."""
    migrate(db, CONTEXT, MIGRATIONS[:1])
    create_tables(db)
    return db


def test_the_embedder_key_is_still_that_of_the_first_release() -> None:
    assert embedder_key_of(BGE_SMALL.id) == KEY_OF_FIRST_RELEASE
    assert shipped_calibration().keys.embedder_key == KEY_OF_FIRST_RELEASE


def test_short_texts_keep_their_vectors_and_long_ones_wait_and_are_found_meanwhile(old: sqlite3.Connection) -> None:
    add_memory(old, 1, SHORT)
    add_memory(old, 2, LONG)
    add_memory(old, 3, SHORT + "!", vectors=2)
    add_memory(old, 4, "\u9879" * 100)  # more bytes than a passage has tokens, and still only one
    migrate(old, CONTEXT)
    assert waiting(old) == [2]
    assert stored_vectors(old, 2, 1)[1][0].data == bytes([2]) * WIDTH
    shape = VectorShape(embedder_key=embedder_key_of(BGE_SMALL.id), vector_bytes=WIDTH)
    pending = old.execute(f"SELECT m.memory_no FROM memories AS m WHERE NOT {EMBEDDED}", shape.parameters).fetchall()  # noqa: S608 - constant text
    assert pending == [(2,)]


def test_a_text_that_is_no_unicode_stops_no_upgrade(old: sqlite3.Connection) -> None:
    add_memory(old, 1, b"\xff" * 400)
    add_memory(old, 2, SHORT)
    migrate(old, CONTEXT)
    assert 2 not in waiting(old)


def test_a_text_with_a_vector_for_each_passage_does_not_wait(old: sqlite3.Connection) -> None:
    add_memory(old, 1, LONG)
    migrate(old, CONTEXT)
    layout = bytes(number for place in range(len(split_passages(LONG))) for number in (0, place))
    old.execute("UPDATE embeddings SET is_waiting = 0, layout = ?", (layout,))
    await_passages(old)
    assert waiting(old) == []
