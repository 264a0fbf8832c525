"""A copy of the whole database, made while it is in use."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from functools import partial
from pathlib import Path

from anyio import to_thread

from recalld.daemon.storage.connection import connect, open_reading
from recalld.daemon.storage.errors import translated
from recalld.daemon.storage.files import create_private, sync_directory
from recalld.models.domain.errors import ErrorCode, RecalldError


async def back_up(database: Path, target: Path) -> None:
    """Copy the database to `target`, as it is at one moment, through SQLite's backup API. Writers are not held up.

    The copy is private (mode 0600), self-contained, and appears under its name only when it is whole.

    Raises:
        RecalldError: `CONFLICT` when there is a file at `target`; otherwise `STORAGE_FULL` or `STORAGE_UNAVAILABLE`.
    """
    await to_thread.run_sync(partial(_back_up, database, target))


def _back_up(database: Path, target: Path) -> None:
    partial_copy = target.with_name(f".{target.name}.partial")
    if target.exists():
        raise RecalldError(ErrorCode.CONFLICT, f"{target} exists; choose another name for the backup.")
    try:
        partial_copy.unlink(missing_ok=True)
        create_private(partial_copy)
        _copy(database, partial_copy)
        # A link, unlike a rename, never replaces a file that appeared meanwhile.
        target.hardlink_to(partial_copy)
        sync_directory(target.parent)
    except sqlite3.Error as error:
        raise translated(error, target) from error
    except OSError as error:
        message = f"The backup {target} cannot be written ({error}); check the directory and its free space."
        raise RecalldError(ErrorCode.STORAGE_UNAVAILABLE, message) from error
    finally:
        partial_copy.unlink(missing_ok=True)


def _copy(database: Path, copy: Path) -> None:
    with closing(open_reading(database)) as source, closing(connect(copy, "rw")) as destination:
        source.backup(destination)
        # A backup is one file; the log that WAL mode would want beside it comes back when the copy is put in place.
        destination.execute("PRAGMA journal_mode = DELETE")
