"""What the store says of itself: counts that show damage, and whether it can be read and written right now."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Awaitable, Callable
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Final, Protocol

import anyio
import msgspec
from anyio import to_thread

from recalld.daemon.storage.connection import open_reading
from recalld.daemon.storage.damage import DamagedMemories, find_damaged
from recalld.daemon.storage.errors import DatabaseRefusedError, translated
from recalld.daemon.storage.files import size_bytes, wal_path
from recalld.daemon.storage.meta import MetaKey, audited_at_ms, read_meta
from recalld.daemon.storage.migrations import schema_version
from recalld.daemon.storage.rows import EMBEDDED, LIVE, VectorShape
from recalld.daemon.storage.schema_check import find_differences
from recalld.daemon.storage.search_check import count_rows
from recalld.daemon.storage.search_schema import has_index
from recalld.daemon.storage.space import find_shortage
from recalld.daemon.storage.transactions import in_snapshot
from recalld.models.domain.errors import RecalldError
from recalld.models.domain.store import StoreHealth

_COUNTED_IN: Final = ("table embeddings", "table memories", "table meta", "table migrations", "table users")
PROBE_WAIT_S: Final = 2.0
"""How long the writer may keep the probe waiting: far longer than any transaction but a hard forget takes."""

Liveness = Callable[[], Awaitable[None]]
"""Proves that the store can be written: returns, or raises `RecalldError`."""


class Runner(Protocol):
    """Runs a reading function in one snapshot of the database."""

    async def __call__(self, work: Callable[[sqlite3.Connection], Contents], /) -> Contents:
        """What `work` returned."""
        ...


class Contents(msgspec.Struct, frozen=True, kw_only=True):
    """What the tables hold."""

    schema_version: int
    users: int
    live: int
    blank: int
    fts_rows: int
    fts_problem: str
    pending_embedding: int
    other_embedder: int
    damaged: DamagedMemories
    missing: tuple[str, ...]
    audited_at_ms: int | None = None


_LIVE_COUNTS: Final = f"""
    SELECT COUNT(DISTINCT user_no), COUNT(*), COALESCE(SUM(is_blank), 0), COALESCE(SUM(NOT is_embedded), 0),
        COALESCE(SUM(has_other AND NOT is_embedded), 0)
    FROM (
        SELECT m.user_no, is_blank(CAST(m.text AS BLOB)) AS is_blank, {EMBEDDED} AS is_embedded,
            EXISTS (SELECT 1 FROM embeddings AS e WHERE e.memory_no = m.memory_no AND e.embedder_key <> :embedder_key)
                AS has_other
        FROM memories AS m WHERE {LIVE}
    )
"""  # noqa: S608 - constant text; every value is a parameter


def read_contents(db: sqlite3.Connection, vectors: VectorShape, *, now_ms: int) -> Contents:
    """Count what the tables hold. Cost grows with the number of live memories.

    Raises:
        DatabaseRefusedError: A table that is counted in is not there.
    """
    missing = find_differences(db)
    lost = [table for table in _COUNTED_IN if table in missing]
    if lost:
        message = f"It is damaged: {', '.join(lost)} missing or made otherwise; stop the daemon and restore a backup."
        raise DatabaseRefusedError(message)
    if read_meta(db, MetaKey.FOLD_KEY) is None:
        missing = (*missing, "key of the word digests")
    row: tuple[int, int, int, int, int] = db.execute(_LIVE_COUNTS, {**vectors.parameters, "now_ms": now_ms}).fetchone()
    fts_rows, fts_problem = _index_state(db)
    return Contents(
        schema_version=schema_version(db),
        users=row[0],
        live=row[1],
        blank=row[2],
        fts_rows=fts_rows,
        fts_problem=fts_problem,
        pending_embedding=row[3],
        other_embedder=row[4],
        damaged=find_damaged(db),
        missing=missing,
        audited_at_ms=audited_at_ms(db),
    )


async def assess(
    run: Runner, prove_writable: Liveness, path: Path, vectors: VectorShape, *, now_ms: int
) -> StoreHealth:
    """The health of an open store. Never raises: an unreadable store is a result.

    Args:
        run: Runs a reading function.
        prove_writable: Tries to write, and undoes it.
        path: The database file.
        vectors: Of the running embedder; whatever has only others' vectors needs re-embedding.
        now_ms: What has expired by then is not live.
    """
    contents, unreadable = None, ""
    try:
        contents = await run(partial(read_contents, vectors=vectors, now_ms=now_ms))
    except RecalldError as error:
        unreadable = error.message
    return _report(path, contents, unreadable, await _write_problem(prove_writable, path))


async def inspect_database(
    path: Path, embedder_key: str, *, now_ms: int, vector_bytes: int | None = None
) -> StoreHealth:
    """The health of a database that no daemon has open. Reads through SQLite only, takes no lock, never raises.

    Whether it can be written is judged by permissions and free space, as trying would need the write lock.
    """
    vectors = VectorShape(embedder_key=embedder_key, vector_bytes=vector_bytes)
    return await to_thread.run_sync(partial(_inspect, path, vectors, now_ms=now_ms))


def _inspect(path: Path, vectors: VectorShape, *, now_ms: int) -> StoreHealth:
    contents, unreadable = None, ""
    try:
        with closing(open_reading(path)) as db:
            contents = in_snapshot(db, partial(read_contents, vectors=vectors, now_ms=now_ms))
    except sqlite3.Error as error:
        unreadable = str(translated(error, path))
    except RecalldError as error:
        unreadable = error.message
    is_permitted = os.access(path, os.W_OK) and os.access(path.parent, os.W_OK)
    permission = "" if is_permitted else f"{path} or its directory may not be written by this user"
    return _report(path, contents, unreadable, permission or _shortage(path))


async def _write_problem(prove_writable: Liveness, path: Path) -> str:
    """Why the store cannot be written; empty when it can. No answer in time counts as a problem, never as a pass."""
    problem = f"the writer did not answer within {PROBE_WAIT_S:g} s"
    with anyio.move_on_after(PROBE_WAIT_S):
        try:
            await prove_writable()
            problem = await to_thread.run_sync(_shortage, path)
        except RecalldError as error:
            problem = error.message
    return problem


def _shortage(path: Path) -> str:
    shortage = find_shortage(path)
    return "" if shortage is None else shortage.detail


def _index_state(db: sqlite3.Connection) -> tuple[int, str]:
    """Rows of the full-text index, and what is wrong with it (empty: nothing)."""
    if not has_index(db):
        return 0, "the full-text index is missing"
    try:
        found = count_rows(db)
    except sqlite3.DatabaseError as error:
        return 0, f"the full-text index is damaged ({error})"
    problems = []
    if found.lacking:
        problems.append(f"the full-text index lacks {_counted(found.lacking)}")
    if found.surplus:
        problems.append(f"the full-text index still lists {_counted(found.surplus)} that nothing may find")
    return found.rows, "; ".join(problems)


def _counted(memories: int) -> str:
    return "1 memory" if memories == 1 else f"{memories} memories"


def _damage(found: Contents) -> str:
    """Which memories are damaged; empty when none is."""
    if not found.damaged.count:
        return ""
    shown = ", ".join(found.damaged.ids)
    more = ", …" if found.damaged.count > len(found.damaged.ids) else ""
    return f"{_counted(found.damaged.count)} cannot be read: {shown}{more}"


def _report(path: Path, contents: Contents | None, unreadable: str, unwritable: str) -> StoreHealth:
    found = contents or Contents(
        schema_version=0,
        users=0,
        live=0,
        blank=0,
        fts_rows=0,
        fts_problem="the full-text index was not checked",
        pending_embedding=0,
        other_embedder=0,
        damaged=DamagedMemories(count=0, ids=()),
        missing=(),
    )
    # Where the schema is not as it should be, some write or other fails, whatever the probe could do.
    not_whole = f"not as the schema has them: {', '.join(found.missing)}" if found.missing else ""
    problems = (unreadable, unwritable, not_whole, found.fts_problem, _damage(found))
    return StoreHealth(
        is_readable=contents is not None,
        is_writable=not unwritable and not found.missing,
        schema_version=found.schema_version,
        users=found.users,
        live=found.live,
        blank=found.blank,
        fts_rows=found.fts_rows,
        fts_matches=not found.fts_problem,
        pending_embedding=found.pending_embedding,
        other_embedder=found.other_embedder,
        db_bytes=size_bytes(path),
        wal_bytes=size_bytes(wal_path(path)),
        damaged=found.damaged.count,
        damaged_ids=found.damaged.ids,
        missing=found.missing,
        audited_at_ms=found.audited_at_ms,
        detail="; ".join(problem for problem in problems if problem),
    )
