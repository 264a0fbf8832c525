"""Rows that this program cannot have written: how many memories are behind them, and which."""

from __future__ import annotations

import sqlite3
from typing import Final

import msgspec

from recalld.models.domain.records import MemoryKind, MemorySource, MemoryStatus

IDS_MAX: Final = 10
"""How many damaged memories are named."""


def _is_none_of(column: str, values: type[MemoryKind | MemorySource | MemoryStatus]) -> str:
    return f"m.{column} NOT IN ({', '.join(repr(value.value) for value in values)})"


# The cheap tests stand first; most memories have no cues and asks at all.
_DAMAGED: Final = f"""
    FROM memories AS m LEFT JOIN users AS u USING (user_no)
    WHERE m.status <> '{MemoryStatus.FORGOTTEN.value}' AND (
        {_is_none_of("kind", MemoryKind)} OR {_is_none_of("source", MemorySource)}
        OR {_is_none_of("status", MemoryStatus)}
        OR (m.cues <> '[]' AND NOT is_text_list(CAST(m.cues AS BLOB)))
        OR (m.asks <> '[]' AND NOT is_text_list(CAST(m.asks AS BLOB)))
        OR NOT is_text(CAST(m.id || m.scope || m.text AS BLOB))
        OR u.name IS NULL OR NOT is_text(u.name)
    )
"""


class DamagedMemories(msgspec.Struct, frozen=True, kw_only=True):
    """Memories that are left out of every answer.

    Attributes:
        count: How many there are.
        ids: The first `IDS_MAX` of them.
    """

    count: int
    ids: tuple[str, ...]


def find_damaged(db: sqlite3.Connection) -> DamagedMemories:
    """Look for damaged memories. Cost grows with the number of memories."""
    count: int = db.execute(f"SELECT COUNT(*) {_DAMAGED}").fetchone()[0]
    if not count:
        return DamagedMemories(count=0, ids=())
    rows = db.execute(f"SELECT m.id {_DAMAGED} ORDER BY m.memory_no LIMIT ?", (IDS_MAX,)).fetchall()
    return DamagedMemories(count=count, ids=tuple(memory_id for (memory_id,) in rows))
