"""Opening the store: lock, file, schema, index, connections; and closing all of it, however the block ends."""

from __future__ import annotations

import secrets
import sqlite3
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, closing, suppress
from functools import partial
from pathlib import Path
from typing import Final

import msgspec

from recalld.actors.ports import Clock
from recalld.daemon.storage import files
from recalld.daemon.storage.backup import back_up
from recalld.daemon.storage.changes import SeqBoard
from recalld.daemon.storage.connection import WAL_BYTES_MAX, Session, connect, open_session, open_writing
from recalld.daemon.storage.errors import DatabaseRefusedError, translated
from recalld.daemon.storage.integrity import find_damage
from recalld.daemon.storage.lock import hold_database, hold_lock
from recalld.daemon.storage.meta import cursor_key, fold_key
from recalld.daemon.storage.migrations import MigrationContext, migrate, schema_version
from recalld.daemon.storage.reader import SqliteReader, open_pool
from recalld.daemon.storage.schema_check import restore_schema
from recalld.daemon.storage.search_rows import prepare_index, rebuild_index
from recalld.daemon.storage.transactions import in_transaction
from recalld.daemon.storage.trouble import TroubleListener, keep_quiet
from recalld.daemon.storage.upkeep import truncate_log
from recalld.daemon.storage.writer import SqliteWriter

READERS: Final = 2
"""Reading connections: a query takes about a millisecond, and more threads than cores only wait for each other."""
_SECRET_BYTES: Final = 32


class OpeningReport(msgspec.Struct, frozen=True, kw_only=True):
    """What opening the store had to do.

    Attributes:
        is_new: The database was made now.
        migrations: Numbers of the migrations made now.
        is_index_rebuilt: The full-text index was missing or of an older make, and was made anew from the memories.
    """

    is_new: bool
    migrations: tuple[int, ...]
    is_index_rebuilt: bool


class SqliteStore:
    """An open store.

    Attributes:
        reader: The reading side, for any number of callers.
        writer: The writing side, for the store actor.
        path: The database file.
        report: What opening it had to do.
        cursor_key: Keys the cursors that are handed out; the same after a restart.
    """

    def __init__(
        self,
        *,
        reader: SqliteReader,
        writer: SqliteWriter,
        path: Path,
        report: OpeningReport,
        cursor_key: bytes,
        session: Session,
    ) -> None:
        self.reader = reader
        self.writer = writer
        self.path = path
        self.report = report
        self.cursor_key = cursor_key
        self._session = session

    async def find_damage(self) -> tuple[str, ...]:
        """Check the whole database and its full-text index; each problem is a sentence. Writes wait meanwhile.

        Raises:
            RecalldError: The check itself failed, which is a problem too.
        """
        return await self._session.run(lambda db: in_transaction(db, find_damage))

    async def rebuild_index(self) -> int:
        """Make the full-text index anew from the memories, but for damaged ones. Writes wait meanwhile.

        Returns:
            How many memories are damaged.

        Raises:
            RecalldError: It could not be made; the old one is as it was.
        """
        return await self._session.run(lambda db: in_transaction(db, rebuild_index))

    async def back_up(self, target: Path) -> None:
        """Copy the database to a new file, as it is at one moment; see `backup.back_up`."""
        await back_up(self.path, target)


@asynccontextmanager
async def open_store(
    data_dir: Path,
    *,
    clock: Clock,
    new_secret: Callable[[int], bytes] = secrets.token_bytes,
    readers: int = READERS,
    journal_bytes_max: int = WAL_BYTES_MAX,
    vector_bytes: int | None = None,
    on_trouble: TroubleListener = keep_quiet,
) -> AsyncIterator[SqliteStore]:
    """Open the store of a data directory, made if there is none, for as long as the block runs.

    No thread and no lock outlives the block, also when opening fails half-way.

    Args:
        data_dir: The directory; made if there is none, and refused if it is not for this program alone.
        clock: Time, for the record of migrations.
        new_secret: Gives so many random bytes, for the key of the word digests.
        readers: Reading connections, at least 1.
        journal_bytes_max: To what size the write-ahead log is cut back after each checkpoint.
        vector_bytes: Length of a vector of the running embedder; memories with others wait to be embedded. None when
            it is not known.
        on_trouble: Told when writing begins to fail, and when it works again.

    Raises:
        AlreadyRunningError: Another process uses the directory.
        DatabaseRefusedError: There is a file that must not be opened or replaced, the database is damaged beyond what
            can be made anew, or the directory is shared.
        RecalldError: `STORAGE_FULL` or `STORAGE_UNAVAILABLE`.
    """
    path = files.database_path(data_dir)
    context = MigrationContext(now_ms=clock.now_ms(), secret=new_secret(_SECRET_BYTES))
    files.prepare_directory(data_dir)
    with hold_lock(data_dir):
        is_new = files.must_create(path)
        if is_new:
            _create(path, context)
        # SQLite keeps its other files where a link leads.
        path = path.resolve()
        files.tighten(path)
        board = SeqBoard()
        open_writer = partial(open_writing, journal_bytes_max=journal_bytes_max)
        with hold_database(path):
            async with open_session(path, open_writer) as session:
                report = await session.run(lambda db: _bring_up_to_date(db, path, context, is_new=is_new))
                key = await session.run(cursor_key)
                writer = SqliteWriter(session, board, path, on_trouble)
                async with open_pool(path, readers) as pool:
                    reader = SqliteReader(pool, board, path, writer.probe, vector_bytes=vector_bytes)
                    yield SqliteStore(
                        reader=reader, writer=writer, path=path, report=report, cursor_key=key, session=session
                    )


def _create(path: Path, context: MigrationContext) -> None:
    """Make a whole new database beside its place, then put it there: a crash leaves either none or a whole one."""
    unfinished = path.with_name(path.name + ".new")
    for leftover in (unfinished, unfinished.with_name(unfinished.name + "-journal")):
        leftover.unlink(missing_ok=True)
    files.create_private(unfinished)
    try:
        with closing(connect(unfinished, "rw")) as db:
            migrate(db, context)
            prepare_index(db)
    except sqlite3.Error as error:
        raise translated(error, path) from error
    unfinished.rename(path)
    files.sync_directory(path.parent)


def _bring_up_to_date(db: sqlite3.Connection, path: Path, context: MigrationContext, *, is_new: bool) -> OpeningReport:
    if schema_version(db) == 0:
        message = f"{path} is damaged: it does not say which schema it has; restore a backup."
        raise DatabaseRefusedError(message)
    migrations = migrate(db, context)
    restore_schema(db)
    fold_key(db)  # without it nothing could be stored
    is_index_rebuilt = prepare_index(db)
    # What a crash left in the write-ahead log is moved now. A database that can only be read still serves recalls.
    with suppress(sqlite3.Error):
        truncate_log(db, path)
    return OpeningReport(is_new=is_new, migrations=migrations, is_index_rebuilt=is_index_rebuilt)
