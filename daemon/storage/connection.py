"""Connections: how they are opened, the thread each one lives in, and how they end."""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Final, TypeVar

import aiosqlite
import anyio
from anyio import to_thread

from recalld.daemon.storage.errors import DatabaseRefusedError, translated
from recalld.daemon.storage.files import find_obstacle
from recalld.daemon.storage.migrations import check_identity
from recalld.daemon.storage.rows import register_functions
from recalld.models.domain.errors import ErrorCode, RecalldError

R = TypeVar("R")

SQLITE_VERSION_MIN: Final = (3, 37, 0)
"""STRICT tables came with 3.37 (2021-11-27)."""
BUSY_TIMEOUT_MS: Final = 5_000
"""How long a writer waits for another process's transaction (a backup tool, a person with a shell)."""
WAL_BYTES_MAX: Final = 4 * 1024 * 1024
"""To what size the write-ahead log is cut back after each checkpoint: SQLite's usual checkpoint size of 1,000 pages."""

_PRAGMAS: Final = (
    f"PRAGMA busy_timeout = {BUSY_TIMEOUT_MS}",
    "PRAGMA foreign_keys = ON",
    "PRAGMA trusted_schema = OFF",
    # Sorters and statement journals stay out of a directory for temporary files, which may be full or shared.
    "PRAGMA temp_store = MEMORY",
)
_WRITER_PRAGMAS: Final = (
    "PRAGMA journal_mode = WAL",
    # Acknowledged means durable, also when the power fails: each commit syncs the log.
    "PRAGMA synchronous = FULL",
    # What is deleted is overwritten with zeros, so that it does not stay readable in free pages.
    "PRAGMA secure_delete = ON",
)


def open_writing(path: Path, *, journal_bytes_max: int = WAL_BYTES_MAX) -> sqlite3.Connection:
    """Open an existing database of this program for writing. The connection belongs to the calling thread.

    Args:
        path: The database.
        journal_bytes_max: To what size the write-ahead log is cut back after each checkpoint.

    Raises:
        DatabaseRefusedError: It is another program's, or of a newer version; it was not touched.
        sqlite3.Error: It cannot be opened; nothing was made in its place.
    """
    return _opened(path, "rw", (*_PRAGMAS, *_WRITER_PRAGMAS, f"PRAGMA journal_size_limit = {journal_bytes_max:d}"))


def open_reading(path: Path) -> sqlite3.Connection:
    """Open an existing database so that no statement can change it. The connection belongs to the calling thread.

    Raises:
        DatabaseRefusedError: It is another program's, or of a newer version.
        sqlite3.Error: It cannot be opened.
    """
    return _opened(path, "ro", (*_PRAGMAS, "PRAGMA query_only = ON"))


def connect(path: Path, mode: str) -> sqlite3.Connection:
    """Open an existing database in autocommit mode, without touching it; `mode` is SQLite's `ro` or `rw`.

    Raises:
        DatabaseRefusedError: Something other than a file lies at its place or beside it; opening a pipe would hang.
        RecalldError: `STORAGE_UNAVAILABLE`: SQLite is too old.
        sqlite3.Error: It cannot be opened.
    """
    if sqlite3.sqlite_version_info < SQLITE_VERSION_MIN:
        needed = ".".join(map(str, SQLITE_VERSION_MIN))
        message = f"SQLite {sqlite3.sqlite_version} is too old; this program needs {needed} or newer."
        raise RecalldError(ErrorCode.STORAGE_UNAVAILABLE, message)
    obstacle = find_obstacle(path)
    if obstacle:
        raise DatabaseRefusedError(obstacle)
    return sqlite3.connect(f"{path.absolute().as_uri()}?mode={mode}", uri=True, isolation_level=None)


def _opened(path: Path, mode: str, pragmas: tuple[str, ...]) -> sqlite3.Connection:
    db = connect(path, mode)
    try:
        check_identity(db, path)
        for pragma in pragmas:
            db.execute(pragma)
        register_functions(db)
    except BaseException:
        db.close()
        raise
    return db


class Session(aiosqlite.Connection):
    """A connection in its own thread, which runs whole functions instead of single statements.

    A function that has begun runs to its end whatever becomes of the task that waits for it, so a transaction inside it
    cannot be split by a cancellation.
    """

    def __init__(self, path: Path, connector: Callable[[], sqlite3.Connection]) -> None:
        super().__init__(connector, iter_chunk_size=64)
        self._path = path

    async def run(self, work: Callable[[sqlite3.Connection], R]) -> R:
        """Run `work` in the connection's thread, after whatever was asked before.

        Raises:
            RecalldError: SQLite failed, or the connection is closed.
        """
        if self._connection is None:
            raise RecalldError(ErrorCode.STORAGE_UNAVAILABLE, f"The database {self._path} is closed.")
        try:
            # Which connection it is, is decided when its turn comes: it may have been opened anew until then.
            result: R = await self._execute(lambda: work(self._conn))  # type: ignore[no-untyped-call]
        except sqlite3.Error as error:
            raise translated(error, self._path) from error
        return result

    async def reopen(self) -> None:
        """Open the database anew in place of the connection, which stays if that fails.

        A connection that was opened while the file was read-only stays so when the file is not any more.

        Raises:
            RecalldError: The database cannot be opened.
        """
        await self.run(self._replace)

    def _replace(self, old: sqlite3.Connection) -> None:
        self._connection = self._connector()
        old.close()

    async def finish(self) -> None:
        """Close the connection once it has done what it was asked, and wait for its thread.

        The thread is not a daemon: left alone it would hold up the end of the process for ever.
        """
        await self.close()
        await to_thread.run_sync(self._thread.join)

    def interrupt_now(self) -> None:
        """Make the statement that runs now fail soon; what is asked next is not affected. From the loop's thread."""
        if self._connection is not None:
            self._connection.interrupt()


@asynccontextmanager
async def open_session(path: Path, connector: Callable[[Path], sqlite3.Connection]) -> AsyncIterator[Session]:
    """A connection for as long as the block runs. Its thread has ended when the block has, however it ends.

    Args:
        path: The database file.
        connector: `open_writing` or `open_reading`.

    Raises:
        RecalldError: The database cannot be opened.
    """
    session = Session(path, partial(connector, path))
    try:
        # Shielded: a cancellation between opening and taking hold of the connection would leave it open.
        with anyio.CancelScope(shield=True):
            await session
        yield session
    except sqlite3.Error as error:
        raise translated(error, path) from error
    finally:
        with anyio.CancelScope(shield=True):
            await session.finish()
