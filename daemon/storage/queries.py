"""The queries behind the reading side of the store."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from itertools import groupby, islice
from operator import itemgetter
from typing import Final

from recalld.actors.store.cursors import PagePosition, decode_cursor, encode_cursor
from recalld.actors.store.listing import checked_limit
from recalld.actors.store.rules import in_order
from recalld.daemon.storage.memories import find_readable
from recalld.daemon.storage.meta import trimmed_through
from recalld.daemon.storage.rows import (
    EMBEDDED,
    IN_SCOPE,
    LIVE,
    MEMORY_COLUMNS,
    MemoryRow,
    VectorShape,
    is_text,
    readable_memory,
    sound_memories,
    user_bytes,
    vector_from_row,
)
from recalld.daemon.storage.users import find_user
from recalld.models.domain.records import Memory, MemoryStatus, VectorRole
from recalld.models.domain.store import (
    EmbeddedMemory,
    IndexDelta,
    ListFilter,
    MemoryPage,
    PendingEmbedding,
    StoreCounts,
)

# Only constant text is joined into the statements below; every value is a parameter.
_BY_ID: Final = f"""
    SELECT {MEMORY_COLUMNS} FROM memories AS m JOIN users AS u USING (user_no)
    WHERE m.id = ? AND u.name = ? AND m.status <> '{MemoryStatus.FORGOTTEN.value}'
"""  # noqa: S608 - constant text
_MATCHING: Final = f"""
    FROM memories AS m WHERE m.user_no = :user_no AND {LIVE}
    AND (:only_scope IS NULL OR m.scope = :only_scope) AND (:kind IS NULL OR m.kind = :kind)
    AND (:contains = '' OR contains_folded(CAST(m.text AS BLOB), :contains))
"""
_PAGE: Final = f"""
    SELECT {MEMORY_COLUMNS} {_MATCHING}
    AND (:before_ms IS NULL OR (m.created_at_ms, m.id) < (:before_ms, :before_id))
    ORDER BY m.created_at_ms DESC, m.id DESC LIMIT :limit
"""
_PENDING: Final = f"""
    SELECT {MEMORY_COLUMNS}, u.name FROM memories AS m JOIN users AS u USING (user_no)
    WHERE {LIVE} AND NOT {EMBEDDED} ORDER BY m.created_at_ms, m.id
"""  # noqa: S608 - constant text
_COUNTS: Final = f"""
    SELECT COALESCE(SUM(is_live AND in_scope), 0), COALESCE(SUM(is_live AND is_pending), 0),
        COALESCE(SUM(status = 'superseded'), 0), COALESCE(SUM(status = 'active' AND NOT is_live), 0),
        COALESCE(SUM(is_live AND asks = '[]'), 0)
    FROM (
        SELECT ({LIVE}) AS is_live, {IN_SCOPE} AS in_scope, NOT {EMBEDDED} AS is_pending, m.status, m.asks
        FROM memories AS m WHERE m.user_no = :user_no
    )
"""  # noqa: S608 - constant text
_EMBEDDED: Final = f"""
    SELECT m.id, m.revision, m.scope, m.expires_at_ms, m.asks <> '[]', v.role, v.ordinal, v.data FROM memories AS m
    LEFT JOIN vectors AS v ON v.memory_no = m.memory_no AND v.embedder_key = :embedder_key AND v.revision = m.revision
    WHERE m.user_no = :user_no AND {LIVE} {{only}} ORDER BY m.created_at_ms, m.id
"""  # noqa: S608 - constant text
_ALL_EMBEDDED: Final = _EMBEDDED.format(only="")
# Two statements, so that a delta is found from the changes and does not look at every memory.
_CHANGED_EMBEDDED: Final = _EMBEDDED.format(
    only="AND m.id IN (SELECT memory_id FROM changes WHERE user_no = :user_no AND seq > :since_seq)"
)

_ROLES: Final = frozenset(VectorRole)
"""What a sound vector stands for; a memory without vectors has a row of NULLs."""

EmbeddedRow = tuple[str, int, str, int | None, int, str | None, int, bytes]


def memories_by_id(db: sqlite3.Connection, user: str, memory_ids: Sequence[str]) -> dict[str, Memory]:
    """Memories of the user in any status but forgotten, in the order asked for; damaged ones are left out."""
    rows = (db.execute(_BY_ID, (memory_id, user_bytes(user))).fetchone() for memory_id in memory_ids)
    return {memory.id: memory for memory in sound_memories(filter(None, rows), user)}


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
    """A page of live memories, newest first. Damaged ones are counted in `total` and left out of the page."""
    position = None if cursor is None else decode_cursor(cursor)
    parameters = {
        "user_no": find_user(db, user),
        "now_ms": now_ms,
        "only_scope": what.scope,
        "kind": None if what.kind is None else what.kind.value,
        "contains": what.contains,
    }
    total: int = db.execute(f"SELECT COUNT(*) {_MATCHING}", parameters).fetchone()[0]
    before = {
        "before_ms": None if position is None else position.created_at_ms,
        "before_id": None if position is None else position.memory_id,
    }
    # One more than asked for tells whether there is a next page.
    rows: list[MemoryRow] = db.execute(_PAGE, {**parameters, **before, "limit": checked_limit(limit) + 1}).fetchall()
    next_cursor = None
    if len(rows) > limit:
        last = readable_memory(user, rows[limit - 1])
        next_cursor = encode_cursor(PagePosition(last.created_at_ms, last.id))
    return MemoryPage(memories=tuple(sound_memories(rows[:limit], user)), cursor=next_cursor, total=total)


def pending(db: sqlite3.Connection, vectors: VectorShape, *, now_ms: int, limit: int) -> list[PendingEmbedding]:
    """Live memories of any user without sound vectors of this embedder, oldest first.

    The limit counts sound memories only: however many damaged ones stand before them, the others get their turn.
    """
    rows: Iterator[tuple[*MemoryRow, bytes]] = db.execute(_PENDING, {**vectors.parameters, "now_ms": now_ms})
    sound = (memory for row in rows if is_text(row[12]) for memory in sound_memories((row[:12],), row[12].decode()))
    return [PendingEmbedding(memory=memory) for memory in islice(sound, max(limit, 0))]


def counts(db: sqlite3.Connection, user: str, vectors: VectorShape, *, now_ms: int, scope: str | None) -> StoreCounts:
    """Counts of one user's memories."""
    user_no = find_user(db, user)
    parameters = {**vectors.parameters, "user_no": user_no, "now_ms": now_ms, "scope": scope}
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


def index_delta(
    db: sqlite3.Connection, user: str, embedder_key: str, *, since_seq: int, now_ms: int, seq_known: int
) -> IndexDelta:
    """What an index that stands at `since_seq` must apply.

    Args:
        db: A connection inside a snapshot.
        user: Whose index.
        embedder_key: Whose vectors.
        since_seq: Where the index stands.
        now_ms: What has expired by then is left out.
        seq_known: What this process knows as the user's newest change: after a purge the database knows none.
    """
    user_no = find_user(db, user)
    if user_no is None:
        return IndexDelta(is_complete=True, seq=seq_known, upserts=(), removed=())
    newest = last_seq(db, user)
    if since_seq == newest and since_seq > 0:
        return IndexDelta(is_complete=False, seq=newest, upserts=(), removed=())
    is_complete = not 0 < since_seq < newest or since_seq < trimmed_through(db)
    parameters = {
        "user_no": user_no,
        "embedder_key": embedder_key,
        "now_ms": now_ms,
        "since_seq": since_seq,
    }
    statement = _ALL_EMBEDDED if is_complete else _CHANGED_EMBEDDED
    upserts = _embedded(db.execute(statement, parameters).fetchall())
    removed: tuple[str, ...] = ()
    if not is_complete:
        kept = {each.memory_id for each in upserts}
        changed: list[tuple[str]] = db.execute(
            "SELECT DISTINCT memory_id FROM changes WHERE user_no = ? AND seq > ? ORDER BY memory_id",
            (user_no, since_seq),
        ).fetchall()
        removed = tuple(memory_id for (memory_id,) in changed if memory_id not in kept)
    return IndexDelta(is_complete=is_complete, seq=newest, upserts=upserts, removed=removed)


def _embedded(rows: list[EmbeddedRow]) -> tuple[EmbeddedMemory, ...]:
    """Group the rows of one memory, which stand together; a memory without vectors has one row of NULLs."""
    embedded = []
    for _, group in groupby(rows, key=itemgetter(0)):
        of_one = list(group)
        memory_id, revision, scope, expires_at_ms, has_asks = of_one[0][:5]
        vectors = [vector_from_row((role, ordinal, data)) for *_, role, ordinal, data in of_one if role in _ROLES]
        embedded.append(
            EmbeddedMemory(
                memory_id=memory_id,
                revision=revision,
                scope=scope,
                expires_at_ms=expires_at_ms,
                has_asks=bool(has_asks),
                vectors=in_order(vectors),
            )
        )
    return tuple(embedded)
