"""The deep check: does the database hold together, and does the full-text index hold what the memories say?"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator

from recalld.daemon.storage.meta import MetaKey, read_meta
from recalld.daemon.storage.search_check import find_drift
from recalld.daemon.storage.search_schema import has_index

PROBLEMS_MAX = 20
"""How many problems of one kind are listed."""


def find_damage(db: sqlite3.Connection) -> tuple[str, ...]:
    """Everything wrong with the database, each in a sentence; empty when it is sound.

    Runs inside a write transaction, because SQLite takes the check of a full-text index for a write. Cost grows with
    the whole database.
    """
    return (*_page_damage(db), *_key_damage(db), *_index_damage(db))


def _page_damage(db: sqlite3.Connection) -> Iterator[str]:
    for (message,) in db.execute(f"PRAGMA integrity_check({PROBLEMS_MAX})").fetchall():
        if message != "ok":
            yield f"The database is damaged: {message}."
    violations = db.execute("PRAGMA foreign_key_check").fetchall()
    if violations:
        yield f"{len(violations)} rows belong to a user or memory that is not there."


def _key_damage(db: sqlite3.Connection) -> Iterator[str]:
    if read_meta(db, MetaKey.FOLD_KEY) is None:
        yield "The key of the word digests is missing: neither duplicates nor what was forgotten can be recognised."


def _index_damage(db: sqlite3.Connection) -> Iterator[str]:
    if not has_index(db):
        yield "The full-text index is missing."
        return
    try:
        drift = find_drift(db)
    except sqlite3.DatabaseError as error:
        yield f"The full-text index is damaged: {error}."
        return
    if drift.stale:
        yield f"{drift.stale} memories are indexed by other words than theirs, or not at all."
    if drift.surplus:
        yield f"The full-text index has {drift.surplus} rows of memories that nothing may find."
