"""Rows of the full-text index: one for each memory that words can find.

A row's text is not the memory's but the memory's stems, each written as `<user_no>:<stem>`. A token's list of postings
therefore belongs to one user by construction: nobody else's memories are read, ranked or counted in a search.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from typing import Final, NamedTuple

from recalld.actors.store.search_text import search_text
from recalld.daemon.storage.errors import DamagedRowError
from recalld.daemon.storage.meta import MetaKey, read_meta, write_meta
from recalld.daemon.storage.rows import MEMORY_COLUMNS, MemoryRow, memory_from_row
from recalld.daemon.storage.search_schema import USER_MARK, create_tables, has_index, index_recipe
from recalld.daemon.storage.transactions import in_transaction
from recalld.models.domain.records import Memory

_ONE_MEMORY: Final = f"SELECT {MEMORY_COLUMNS}, m.user_no FROM memories AS m WHERE m.memory_no = ?"  # noqa: S608 - constant text


class IndexRow(NamedTuple):
    """What the index holds of a memory.

    Attributes:
        main: Tokens of its text, separated by spaces.
        extras: Tokens that only its cues and asks have.
        term_count: How many tokens `main` has.
    """

    main: str
    extras: str
    term_count: int


def token(user_no: int, stem: str) -> str:
    """A user's stem as the index has it."""
    return f"{user_no}{USER_MARK}{stem}"


def prepare_index(db: sqlite3.Connection) -> bool:
    """Make the index, or make it anew when it is missing or was made by another recipe.

    Returns:
        Whether it was made now.
    """
    if has_index(db) and read_meta(db, MetaKey.SEARCH_RECIPE) == index_recipe():
        return False
    in_transaction(db, rebuild_index)
    return True


def rebuild_index(db: sqlite3.Connection) -> int:
    """Make the index anew from the memories, inside the caller's transaction.

    No word finds a damaged memory afterwards; its row is there, empty, so that only what is missing counts as missing.

    Returns:
        How many memories are damaged.
    """
    create_tables(db)
    damaged = 0
    for memory_no, row in rows_wanted(db):
        damaged += row is None
        _insert(db, memory_no, row or IndexRow("", "", 0))
    write_meta(db, MetaKey.SEARCH_RECIPE, index_recipe())
    return damaged


def index_memory(db: sqlite3.Connection, memory_no: int, user_no: int, memory: Memory) -> None:
    """Add a memory to the index, inside the caller's transaction. It must not be there yet."""
    _insert(db, memory_no, _row(user_no, memory))


def unindex_memory(db: sqlite3.Connection, memory_no: int) -> None:
    """Take a memory out of the index, inside the caller's transaction."""
    db.execute("DELETE FROM memory_fts WHERE rowid = ?", (memory_no,))


def scrub_index(db: sqlite3.Connection) -> None:
    """Merge the index into one segment, inside the caller's transaction.

    Until then the words of removed memories stay readable in older segments. The whole index is read and written, of
    all users: 100,000 memories of a sentence or two take a fifth of a second.
    """
    db.execute("INSERT INTO memory_fts (memory_fts) VALUES ('optimize')")


def rows_wanted(db: sqlite3.Connection) -> Iterator[tuple[int, IndexRow | None]]:
    """For the number of each memory that words should find, the row to find it by; None for a damaged one."""
    # Numbers first: what is read row by row must not be written meanwhile.
    numbers = db.execute("SELECT memory_no FROM memories WHERE is_indexed = 1 ORDER BY memory_no").fetchall()
    for (memory_no,) in numbers:
        stored: tuple[*MemoryRow, int] = db.execute(_ONE_MEMORY, (memory_no,)).fetchone()
        try:
            # The user's name is left out: the index has no use for it.
            yield memory_no, _row(stored[13], memory_from_row("", stored[:13]))
        except DamagedRowError:
            yield memory_no, None


def row_stored(db: sqlite3.Connection, memory_no: int) -> IndexRow | None:
    """What the index holds of a memory; None when it holds nothing."""
    row: tuple[str, str, int] | None = db.execute(
        "SELECT f.main, f.extras, m.term_count FROM memory_fts AS f JOIN memories AS m ON m.memory_no = f.rowid"
        " WHERE f.rowid = ?",
        (memory_no,),
    ).fetchone()
    return None if row is None else IndexRow(*row)


def _insert(db: sqlite3.Connection, memory_no: int, row: IndexRow) -> None:
    db.execute("UPDATE memories SET term_count = ? WHERE memory_no = ?", (row.term_count, memory_no))
    db.execute("INSERT INTO memory_fts (rowid, main, extras) VALUES (?, ?, ?)", (memory_no, row.main, row.extras))


def _row(user_no: int, memory: Memory) -> IndexRow:
    found_by = search_text(memory)
    main, extras = (" ".join(token(user_no, stem) for stem in stems) for stems in (found_by.main, found_by.extras))
    return IndexRow(main, extras, len(found_by.main))
