"""The table of vectors: one row for each memory, with all of its vectors packed together.

An index is loaded by reading these rows, so their number is what a first recall waits for.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from itertools import groupby
from operator import itemgetter
from typing import Final

from recalld.actors.store.packed_vectors import pack_vectors, unpack_vectors
from recalld.models.domain.records import VectorRole
from recalld.models.domain.store import PackedVectors, TextVector

EMBEDDINGS_SCHEMA: Final = (
    # `is_waiting` is 1 while some text of the memory has no vector yet; the others can be found all the while. The data
    # come last, so that whatever asks for the rest reads no more than the head of a row.
    """
    CREATE TABLE embeddings (
        memory_no INTEGER PRIMARY KEY REFERENCES memories ON DELETE CASCADE,
        embedder_key TEXT NOT NULL,
        revision INTEGER NOT NULL,
        is_waiting INTEGER NOT NULL CHECK (is_waiting IN (0, 1)),
        layout BLOB NOT NULL,
        data BLOB NOT NULL
    ) STRICT
    """,
)
_ROW_BY_ROW: Final = """
    SELECT v.memory_no, v.embedder_key, v.revision, v.role, v.ordinal, v.data
    FROM vectors AS v JOIN memories AS m ON m.memory_no = v.memory_no AND m.revision = v.revision
    ORDER BY v.memory_no, v.embedder_key, v.revision
"""


def pack_stored_vectors(db: sqlite3.Connection) -> None:
    """Move the vectors of a table with a row for each of them into one with a row for each memory; a migration."""
    for statement in EMBEDDINGS_SCHEMA:
        db.execute(statement)
    db.executemany("INSERT OR REPLACE INTO embeddings VALUES (?, ?, ?, 0, ?, ?)", _packed_rows(db))
    db.execute("DROP TABLE vectors")


def replace_vectors(
    db: sqlite3.Connection,
    memory_no: int,
    revision: int,
    embedder_key: str,
    vectors: Sequence[TextVector],
    *,
    is_waiting: bool = False,
) -> None:
    """Give a memory these vectors and no others: those of another embedder go, as nothing could compare them.

    Args:
        db: A connection inside a transaction.
        memory_no: Of the memory.
        revision: The one that they were made from.
        embedder_key: Who made them.
        vectors: None at all are as good as no row.
        is_waiting: Whether some text of the memory still waits for its own.
    """
    delete_vectors(db, memory_no)
    if vectors:
        packed = pack_vectors(vectors)
        db.execute(
            "INSERT INTO embeddings VALUES (?, ?, ?, ?, ?, ?)",
            (memory_no, embedder_key, revision, is_waiting, packed.layout, packed.data),
        )


def delete_vectors(db: sqlite3.Connection, memory_no: int) -> None:
    """Drop a memory's vectors."""
    db.execute("DELETE FROM embeddings WHERE memory_no = ?", (memory_no,))


def stored_vectors(db: sqlite3.Connection, memory_no: int, revision: int) -> tuple[str, tuple[TextVector, ...]]:
    """Who made a memory's vectors of a revision, and the vectors; an empty name and none where there are none."""
    row: tuple[str, bytes, bytes] | None = db.execute(
        "SELECT embedder_key, layout, data FROM embeddings WHERE memory_no = ? AND revision = ?", (memory_no, revision)
    ).fetchone()
    if row is None:
        return "", ()
    return row[0], unpack_vectors(PackedVectors(layout=row[1], data=row[2]))


def is_embedded(db: sqlite3.Connection, memory_no: int, revision: int) -> bool:
    """Whether each text of this revision of a memory has a vector."""
    row: tuple[int] = db.execute(
        "SELECT EXISTS (SELECT 1 FROM embeddings WHERE memory_no = ? AND revision = ? AND is_waiting = 0)",
        (memory_no, revision),
    ).fetchone()
    return bool(row[0])


def _packed_rows(db: sqlite3.Connection) -> Iterator[tuple[int, str, int, bytes, bytes]]:
    cursor = db.execute(_ROW_BY_ROW)
    for (memory_no, embedder_key, revision), rows in groupby(cursor, key=itemgetter(0, 1, 2)):
        packed = pack_vectors([TextVector(role=VectorRole(role), ordinal=at, data=data) for *_, role, at, data in rows])
        yield memory_no, embedder_key, revision, packed.layout, packed.data
