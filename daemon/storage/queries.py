"""The queries behind the reading side of the store."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Sequence
from typing import Final

import msgspec

from recalld.actors.store.cursors import PagePosition, decode_cursor, encode_cursor
from recalld.actors.store.listing import checked_limit
from recalld.daemon.storage.memories import find_readable
from recalld.daemon.storage.rows import (
    EMBEDDED,
    IN_SCOPE,
    LIVE,
    MEMORY_COLUMNS,
    MemoryRow,
    VectorShape,
    readable_memory,
    sound_memories,
    user_bytes,
)
from recalld.daemon.storage.times import IN_WINDOWS, windows_parameter
from recalld.daemon.storage.users import find_user
from recalld.models.domain.records import Memory, MemoryKind, MemoryStatus
from recalld.models.domain.store import (
    ListFilter,
    MemoryPage,
    StoreCounts,
)
from recalld.models.domain.time_window import TimeWindow

# Only constant text is joined into the statements below; every value is a parameter.
_BY_ID: Final = f"""
    SELECT {MEMORY_COLUMNS} FROM json_each(:wanted) AS wanted CROSS JOIN memories AS m ON m.id = wanted.value
    JOIN users AS u USING (user_no)
    WHERE u.name = :user AND m.status <> '{MemoryStatus.FORGOTTEN.value}'
        AND (:kinds IS NULL OR m.kind IN (SELECT value FROM json_each(:kinds))) ORDER BY wanted.key
"""  # noqa: S608 - constant text
# Two conditions, and not one with a parameter: live memories are walked through an index that has no others.
_FROM_LIVE: Final = f"FROM memories AS m WHERE m.user_no = :user_no AND {LIVE}"
_FROM_SUPERSEDED: Final = f"""
    FROM memories AS m WHERE m.user_no = :user_no AND m.status = '{MemoryStatus.SUPERSEDED.value}'
"""
_MATCHING: Final = """
    AND (:only_scope IS NULL OR m.scope = :only_scope) AND (:kind IS NULL OR m.kind = :kind)
    AND (NOT :without_asks OR m.asks = '[]')
    AND (:contains = '' OR contains_folded(CAST(m.text AS BLOB), :contains))
"""
_ON_PAGE: Final = """
    AND (:before_ms IS NULL OR (m.created_at_ms, m.id) < (:before_ms, :before_id))
    ORDER BY m.created_at_ms DESC, m.id DESC LIMIT :limit
"""
_COUNTS: Final = f"""
    SELECT COALESCE(SUM(is_live AND in_scope), 0), COALESCE(SUM(is_live AND is_pending), 0),
        COALESCE(SUM(status = 'superseded'), 0), COALESCE(SUM(status = 'active' AND NOT is_live), 0),
        COALESCE(SUM(is_live AND asks = '[]'), 0)
    FROM (
        SELECT ({LIVE}) AS is_live, ({IN_SCOPE} AND {IN_WINDOWS}) AS in_scope, NOT {EMBEDDED} AS is_pending,
            m.status, m.asks
        FROM memories AS m WHERE m.user_no = :user_no
    )
"""  # noqa: S608 - constant text


def memories_by_id(
    db: sqlite3.Connection, user: str, memory_ids: Sequence[str], *, kinds: Collection[MemoryKind] = ()
) -> dict[str, Memory]:
    """Memories of the user in any status but forgotten, in the order asked for; damaged ones are left out.

    With kinds, only memories of these are read.
    """
    parameters = {
        "wanted": msgspec.json.encode(list(memory_ids)).decode(),
        "user": user_bytes(user),
        "kinds": msgspec.json.encode(sorted(kinds)).decode() if kinds else None,
    }
    rows: list[MemoryRow] = db.execute(_BY_ID, parameters).fetchall()
    return {memory.id: memory for memory in sound_memories(rows, user)}


def erasable_by_id(db: sqlite3.Connection, user: str, memory_ids: Sequence[str]) -> dict[str, Memory]:
    """Memories of the user in any status, of damaged ones what can be read, in the order asked for."""
    user_no = find_user(db, user)
    if user_no is None:
        return {}
    stored = (find_readable(db, user, user_no, memory_id) for memory_id in memory_ids)
    return {each.memory.id: each.memory for each in stored if each is not None}


def page(
    db: sqlite3.Connection, user: str, what: ListFilter, *, now_ms: int, limit: int, cursor: str | None
) -> MemoryPage:
    """A page of live or superseded memories, newest first. Damaged ones are counted in `total`, and left out of it."""
    position = None if cursor is None else decode_cursor(cursor)
    parameters = {
        "user_no": find_user(db, user),
        "now_ms": now_ms,
        "only_scope": what.scope,
        "kind": None if what.kind is None else what.kind.value,
        "contains": what.contains,
        "without_asks": what.without_asks,
    }
    matching = (_FROM_SUPERSEDED if what.is_superseded else _FROM_LIVE) + _MATCHING
    total: int = db.execute(f"SELECT COUNT(*) {matching}", parameters).fetchone()[0]
    before = {
        "before_ms": None if position is None else position.created_at_ms,
        "before_id": None if position is None else position.memory_id,
    }
    # One more than asked for tells whether there is a next page.
    rows: list[MemoryRow] = db.execute(
        f"SELECT {MEMORY_COLUMNS} {matching} {_ON_PAGE}",
        {**parameters, **before, "limit": checked_limit(limit) + 1},
    ).fetchall()
    next_cursor = None
    if len(rows) > limit:
        last = readable_memory(user, rows[limit - 1])
        next_cursor = encode_cursor(PagePosition(last.created_at_ms, last.id))
    return MemoryPage(memories=tuple(sound_memories(rows[:limit], user)), cursor=next_cursor, total=total)


def counts(
    db: sqlite3.Connection,
    user: str,
    vectors: VectorShape,
    *,
    now_ms: int,
    scope: str | None,
    windows: Sequence[TimeWindow] = (),
) -> StoreCounts:
    """Counts of one user's memories."""
    user_no = find_user(db, user)
    parameters = {
        **vectors.parameters,
        "user_no": user_no,
        "now_ms": now_ms,
        "scope": scope,
        "windows": windows_parameter(windows),
    }
    row: tuple[int, int, int, int, int] = db.execute(_COUNTS, parameters).fetchone()
    tombstones: int = db.execute("SELECT COUNT(*) FROM tombstones WHERE user_no = ?", (user_no,)).fetchone()[0]
    return StoreCounts(
        live=row[0],
        pending_embedding=row[1],
        superseded=row[2],
        expired=row[3],
        tombstones=tombstones,
        records_without_asks=row[4],
    )


def last_seq(db: sqlite3.Connection, user: str) -> int:
    """The user's newest change number; 0 for a user nothing was ever stored for."""
    row: tuple[int] | None = db.execute("SELECT last_seq FROM users WHERE name = ?", (user_bytes(user),)).fetchone()
    return 0 if row is None else row[0]
