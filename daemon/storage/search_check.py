"""Does the full-text index hold what the memories say? A quick look at its rows, and a comparison of all of it."""

from __future__ import annotations

import sqlite3
from typing import Final, NamedTuple

from recalld.daemon.storage.search_rows import row_stored, rows_wanted

_PROBE: Final = "SELECT rowid FROM memory_fts WHERE memory_fts MATCH '\"0:probe\"'"
"""Reads the index itself, and not only the table of its rows."""
_ROWS: Final = "SELECT COUNT(*) FROM memory_fts_docsize"
_LACKING: Final = """
    SELECT COUNT(*) FROM memories WHERE is_indexed = 1 AND memory_no NOT IN (SELECT id FROM memory_fts_docsize)
"""
_SURPLUS: Final = """
    SELECT COUNT(*) FROM memory_fts_docsize WHERE id NOT IN (SELECT memory_no FROM memories WHERE is_indexed = 1)
"""


class RowCounts(NamedTuple):
    """What a quick look at the index shows.

    Attributes:
        rows: Rows it has.
        lacking: Memories that words should find, and that it has no row for.
        surplus: Its rows for what no words may find.
    """

    rows: int
    lacking: int
    surplus: int


class Drift(NamedTuple):
    """Where the index says something else than the memories.

    Attributes:
        stale: Memories that it has another row for, or none. Damaged memories do not count: what they said is unknown.
        surplus: Rows of none that words may find.
    """

    stale: int
    surplus: int


def count_rows(db: sqlite3.Connection) -> RowCounts:
    """Compare which memories the index has with which it should have. Cost grows with the number of memories.

    Raises:
        sqlite3.DatabaseError: The index is damaged, or not there.
    """
    db.execute(_PROBE).fetchone()
    rows, lacking, surplus = (db.execute(statement).fetchone()[0] for statement in (_ROWS, _LACKING, _SURPLUS))
    return RowCounts(rows, lacking, surplus)


def find_drift(db: sqlite3.Connection) -> Drift:
    """Check the index against its own rows, and its rows against the memories. Cost grows with the whole index.

    Inside a write transaction, because SQLite takes the check of a full-text index for a write.

    Raises:
        sqlite3.DatabaseError: The index is damaged.
    """
    # Without a rank this may compare nothing with the indexed text, and miss an index that has drifted from it.
    db.execute("INSERT INTO memory_fts (memory_fts, rank) VALUES ('integrity-check', 1)")
    stale = sum(row is not None and row_stored(db, memory_no) != row for memory_no, row in rows_wanted(db))
    surplus: int = db.execute(_SURPLUS).fetchone()[0]
    return Drift(stale, surplus)
