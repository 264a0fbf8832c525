"""What a user's vector index has to catch up with, read in one snapshot of the database."""

from __future__ import annotations

import sqlite3
from typing import Final

from recalld.daemon.storage.meta import trimmed_through
from recalld.daemon.storage.queries import last_seq
from recalld.daemon.storage.rows import LIVE
from recalld.daemon.storage.users import find_user
from recalld.models.domain.records import MemoryStatus
from recalld.models.domain.store import EmbeddedMemory, IndexDelta, IndexPage, PackedVectors

INDEX_PAGE_MAX: Final = 1_000
"""Memories in a page of a complete delta: while one is put into the index, the next is read."""

# Only constant text is joined into the statements below; every value is a parameter.
_EMBEDDED: Final = f"""
    SELECT m.id, m.revision, m.scope, m.expires_at_ms, m.asks <> '[]', m.created_at_ms, m.updated_at_ms,
        e.layout, e.data, m.memory_no
    FROM memories AS m LEFT JOIN embeddings AS e
        ON e.memory_no = m.memory_no AND e.embedder_key = :embedder_key AND e.revision = m.revision
    WHERE m.user_no = :user_no AND m.status = '{MemoryStatus.ACTIVE.value}' AND {LIVE} {{only}} ORDER BY m.memory_no
"""  # noqa: S608 - constant text
# In the order of their numbers, which is that of the pages they lie in: in any other, each would be read many times.
_PAGE: Final = _EMBEDDED.format(only="AND m.memory_no > :after") + " LIMIT :limit"
# Two statements, so that a delta is found from the changes and does not look at every memory.
_CHANGED: Final = _EMBEDDED.format(
    only="AND m.id IN (SELECT memory_id FROM changes WHERE user_no = :user_no AND seq > :since_seq)"
)
_TOTAL: Final = "SELECT found_memories FROM users WHERE user_no = ?"

EmbeddedRow = tuple[str, int, str, int | None, int, int, int, bytes | None, bytes | None, int]


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
    if is_complete:
        first = _page(db, user_no, embedder_key, after=0, now_ms=now_ms)
        total: int = db.execute(_TOTAL, (user_no,)).fetchone()[0]
        return IndexDelta(is_complete=True, seq=newest, upserts=first.upserts, removed=(), total=total, more=first.more)
    parameters = {"user_no": user_no, "embedder_key": embedder_key, "now_ms": now_ms, "since_seq": since_seq}
    upserts = tuple(_embedded(row) for row in db.execute(_CHANGED, parameters))
    kept = {each.memory_id for each in upserts}
    changed: list[tuple[str]] = db.execute(
        "SELECT DISTINCT memory_id FROM changes WHERE user_no = ? AND seq > ? ORDER BY memory_id",
        (user_no, since_seq),
    ).fetchall()
    removed = tuple(memory_id for (memory_id,) in changed if memory_id not in kept)
    return IndexDelta(is_complete=False, seq=newest, upserts=upserts, removed=removed)


def index_page(db: sqlite3.Connection, user: str, embedder_key: str, *, after: str, now_ms: int) -> IndexPage:
    """A further page of a complete delta.

    Args:
        db: A connection inside a snapshot.
        user: Whose index.
        embedder_key: Whose vectors.
        after: Where it begins, as the page before said.
        now_ms: What has expired by then is left out.
    """
    user_no = find_user(db, user)
    if user_no is None:
        return IndexPage(upserts=())
    return _page(db, user_no, embedder_key, after=int(after), now_ms=now_ms)


def _page(db: sqlite3.Connection, user_no: int, embedder_key: str, *, after: int, now_ms: int) -> IndexPage:
    parameters = {
        "user_no": user_no,
        "embedder_key": embedder_key,
        "now_ms": now_ms,
        "after": after,
        "limit": INDEX_PAGE_MAX,
    }
    rows: list[EmbeddedRow] = db.execute(_PAGE, parameters).fetchall()
    more = str(rows[-1][9]) if len(rows) == INDEX_PAGE_MAX else ""
    return IndexPage(upserts=tuple(map(_embedded, rows)), more=more)


def _embedded(row: EmbeddedRow) -> EmbeddedMemory:
    memory_id, revision, scope, expires_at_ms, has_asks, created_at_ms, updated_at_ms, layout, data, _ = row
    return EmbeddedMemory(
        memory_id=memory_id,
        revision=revision,
        scope=scope,
        expires_at_ms=expires_at_ms,
        has_asks=bool(has_asks),
        created_at_ms=created_at_ms,
        updated_at_ms=updated_at_ms,
        vectors=_NONE if layout is None or data is None else PackedVectors(layout=layout, data=data),
    )


_NONE: Final = PackedVectors()
