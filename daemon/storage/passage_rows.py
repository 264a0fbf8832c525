"""Long texts that were embedded before they were cut into passages: they wait for a vector of each passage.

All other vectors stay as they are, since a text of one passage is embedded as it always was. And until the new vectors
are there, a long text is found by the one that it has, which stands for its beginning.
"""

from __future__ import annotations

import sqlite3
from typing import Final

from recalld.actors.store.packed_vectors import ROLE_CODES
from recalld.models.domain.records import VectorRole
from recalld.models.policy.passages import PASSAGE_TOKENS_MAX, split_passages

# A text has no more tokens than bytes, so short ones need not be looked at. As bytes, so that no damaged text stops it.
_LONG_ONES: Final = """
    SELECT e.memory_no, e.layout, CAST(m.text AS BLOB)
    FROM embeddings AS e JOIN memories AS m ON m.memory_no = e.memory_no
    WHERE LENGTH(CAST(m.text AS BLOB)) > ? AND e.is_waiting = 0
"""


def await_passages(db: sqlite3.Connection) -> None:
    """Mark the memories whose vectors do not stand for all passages of their texts as waiting; a migration.

    Cost: one pass over the texts, and cutting those of more than `PASSAGE_TOKENS_MAX` bytes.
    """
    waiting = [
        (memory_no,)
        for memory_no, layout, text in db.execute(_LONG_ONES, (PASSAGE_TOKENS_MAX,))
        if _record_vectors(layout) != len(split_passages(text.decode("utf-8", errors="replace")))
    ]
    db.executemany("UPDATE embeddings SET is_waiting = 1 WHERE memory_no = ?", waiting)


def _record_vectors(layout: bytes) -> int:
    """How many of a memory's vectors stand for its text, by the roles in its layout."""
    return layout[::2].count(ROLE_CODES[VectorRole.RECORD])
