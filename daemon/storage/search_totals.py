"""How many memories of each user words can find, and how long these are: kept with every write, never counted.

Counting them at each search would cost more than the search itself in a large memory. Triggers keep the numbers, inside
the transaction of whatever changed a memory, so that nothing that writes can forget to.
"""

from __future__ import annotations

import sqlite3
from typing import Final

TOTALS_SCHEMA: Final = (
    "ALTER TABLE users ADD COLUMN found_memories INTEGER NOT NULL DEFAULT 0",
    "ALTER TABLE users ADD COLUMN found_terms INTEGER NOT NULL DEFAULT 0",
    """
    CREATE TRIGGER memories_counted_in AFTER INSERT ON memories WHEN new.is_indexed = 1 BEGIN
        UPDATE users SET found_memories = found_memories + 1, found_terms = found_terms + new.term_count
        WHERE user_no = new.user_no;
    END
    """,
    """
    CREATE TRIGGER memories_counted_out AFTER DELETE ON memories WHEN old.is_indexed = 1 BEGIN
        UPDATE users SET found_memories = found_memories - 1, found_terms = found_terms - old.term_count
        WHERE user_no = old.user_no;
    END
    """,
    """
    CREATE TRIGGER memories_recounted AFTER UPDATE OF is_indexed, term_count ON memories BEGIN
        UPDATE users SET
            found_memories = found_memories + new.is_indexed - old.is_indexed,
            found_terms = found_terms + new.is_indexed * new.term_count - old.is_indexed * old.term_count
        WHERE user_no = new.user_no;
    END
    """,
)
COUNT_ALL: Final = """
    UPDATE users SET (found_memories, found_terms) = (
        SELECT COUNT(*), COALESCE(SUM(m.term_count), 0) FROM memories AS m
        WHERE m.user_no = users.user_no AND m.is_indexed = 1
    )
"""
"""Counts all of it anew."""


def keep_totals(db: sqlite3.Connection) -> None:
    """Begin to keep the numbers; a migration."""
    for statement in TOTALS_SCHEMA:
        db.execute(statement)
    db.execute(COUNT_ALL)
