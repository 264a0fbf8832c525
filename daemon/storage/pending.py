"""What still waits for its vectors: all memories are looked at once, then only those that changed since.

The search is made every few seconds. Over a large store, each time over all of it, it would keep a core busy for ever
and take the reading connections from recalls. To see whether vectors are sound, all of them must be read; so that the
first recalls after a start need not wait for that, it is done a slice at a time.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from itertools import islice
from typing import Final

import msgspec

from recalld.daemon.storage.meta import trimmed_through
from recalld.daemon.storage.rows import (
    EMBEDDED,
    HAS_VECTORS,
    LIVE,
    MEMORY_COLUMNS,
    MemoryRow,
    VectorShape,
    is_text,
    sound_memories,
)
from recalld.models.domain.store import PendingEmbedding

SLICE: Final = 2_000
"""Memories whose vectors are read in one search."""

# Only constant text is joined into the statements below; every value is a parameter.
_PENDING: Final = f"""
    SELECT {MEMORY_COLUMNS}, u.name FROM {{source}} JOIN users AS u USING (user_no)
    WHERE {LIVE} AND NOT {{embedded}} ORDER BY m.created_at_ms, m.id
"""  # noqa: S608 - constant text
_OF_ALL: Final = _PENDING.format(source="memories AS m", embedded=HAS_VECTORS)
_OF_CHANGED: Final = _PENDING.format(
    source="(SELECT DISTINCT memory_id FROM changes WHERE seq > :through) AS c CROSS JOIN memories AS m"
    " ON m.id = c.memory_id",
    embedded=EMBEDDED,
)
_OF_SLICE: Final = _PENDING.format(
    source="(SELECT memory_no FROM memories WHERE memory_no > :after AND memory_no <= :last) AS s"
    " CROSS JOIN memories AS m USING (memory_no)",
    embedded=EMBEDDED,
)
_NEWEST: Final = "SELECT COALESCE(MAX(seq), 0) FROM changes"
_SLICE_END: Final = (
    "SELECT MAX(memory_no) FROM (SELECT memory_no FROM memories WHERE memory_no > ? ORDER BY memory_no LIMIT ?)"
)


class _Seen(msgspec.Struct, frozen=True, kw_only=True):
    """How far a store has been looked at.

    Attributes:
        vectors: By which measure.
        through: Up to which change nothing was pending.
        sound_through: Up to which memory all vectors were read; None: of all memories.
    """

    vectors: VectorShape
    through: int
    sound_through: int | None = 0


class PendingSearch:
    """Finds what is pending, and remembers how far nothing was.

    A vector that is damaged later, in a file that nobody wrote to, is found by the next process, or by `recalld
    doctor`.
    """

    def __init__(self) -> None:
        self._seen: _Seen | None = None

    def find(self, db: sqlite3.Connection, vectors: VectorShape, *, now_ms: int, limit: int) -> list[PendingEmbedding]:
        """Live memories of any user without sound vectors of this embedder, oldest first.

        The limit counts sound memories only: however many damaged ones stand before them, the others get their turn.

        Args:
            db: A connection inside a snapshot.
            vectors: The running embedder's.
            now_ms: What has expired by then is left out.
            limit: How many.
        """
        if limit <= 0:
            return []
        newest: int = db.execute(_NEWEST).fetchone()[0]
        seen = self._still_seen(db, vectors, newest)
        parameters = {**vectors.parameters, "now_ms": now_ms}
        found: list[PendingEmbedding] = []
        if seen is None:
            found = _some(db, _OF_ALL, parameters, limit)
        elif seen.through < newest:
            found = _some(db, _OF_CHANGED, {**parameters, "through": seen.through}, limit)
        if found:
            return found
        self._seen = _Seen(vectors=vectors, through=newest, sound_through=0 if seen is None else seen.sound_through)
        return self._unsound(db, self._seen, parameters, limit)

    def _still_seen(self, db: sqlite3.Connection, vectors: VectorShape, newest: int) -> _Seen | None:
        """How far was looked, if the change log tells all that came after it."""
        seen = self._seen
        if seen is None or seen.vectors != vectors:
            return None
        return seen if trimmed_through(db) <= seen.through <= newest else None

    def _unsound(
        self, db: sqlite3.Connection, seen: _Seen, parameters: dict[str, str | int | None], limit: int
    ) -> list[PendingEmbedding]:
        """What is pending of the next slice of memories, because vectors of it are not sound."""
        if seen.sound_through is None:
            return []
        last: int | None = db.execute(_SLICE_END, (seen.sound_through, SLICE)).fetchone()[0]
        bounds = {"after": seen.sound_through, "last": last}
        found = [] if last is None else _some(db, _OF_SLICE, {**parameters, **bounds}, limit)
        if not found:
            self._seen = msgspec.structs.replace(seen, sound_through=last)
        return found


def _some(
    db: sqlite3.Connection, statement: str, parameters: dict[str, str | int | None], limit: int
) -> list[PendingEmbedding]:
    rows: Iterator[tuple[*MemoryRow, bytes]] = db.execute(statement, parameters)
    sound = (memory for row in rows if is_text(row[13]) for memory in sound_memories((row[:13],), row[13].decode()))
    return [PendingEmbedding(memory=memory) for memory in islice(sound, limit)]
