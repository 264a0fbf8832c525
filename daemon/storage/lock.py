"""One process per data directory: an advisory lock that the kernel drops when its holder dies, however it dies."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from recalld.daemon.storage.errors import AlreadyRunningError
from recalld.daemon.storage.files import FILE_MODE, LOCK_NAME
from recalld.models.domain.errors import ErrorCode, RecalldError


@contextmanager
def hold_lock(data_dir: Path) -> Iterator[None]:
    """Hold the lock of a data directory.

    The lock file is never removed: whoever waited for a removed one would hold a lock that nobody else sees.

    Raises:
        AlreadyRunningError: Another process (or another store in this one) holds it.
        RecalldError: `STORAGE_UNAVAILABLE` when the lock file cannot be opened, or not be made private.
    """
    file = data_dir / LOCK_NAME
    with _locked(file, partial(_open_private, file), data_dir):
        yield


@contextmanager
def hold_database(database: Path) -> Iterator[None]:
    """Hold the database file itself, so that a second process is kept out even when the lock file was removed.

    Enter before the database is opened, and leave after it is closed: closing a descriptor of the file drops every
    record lock (`fcntl`) that SQLite holds on it in this process. The lock itself (`flock`) is of another sort, which
    SQLite neither takes nor minds.

    Raises:
        AlreadyRunningError: Another process holds it.
        RecalldError: `STORAGE_UNAVAILABLE` when the file cannot be opened.
    """
    with _locked(database, partial(os.open, database, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK), database.parent):
        yield


@contextmanager
def _locked(file: Path, opener: Callable[[], int], data_dir: Path) -> Iterator[None]:
    try:
        descriptor = opener()
    except OSError as error:
        message = f"{file} cannot be opened ({error}); check the owner and mode of {data_dir}."
        raise RecalldError(ErrorCode.STORAGE_UNAVAILABLE, message) from error
    try:
        _take(descriptor, file, data_dir)
        yield
    finally:
        os.close(descriptor)


def _take(descriptor: int, file: Path, data_dir: Path) -> None:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        message = f"recalld is already running on {data_dir}; stop the other one or choose another data directory."
        raise AlreadyRunningError(message) from error
    except OSError as error:
        message = f"{file} cannot be locked ({error}); choose a data directory on a local file system."
        raise RecalldError(ErrorCode.STORAGE_UNAVAILABLE, message) from error


def _open_private(file: Path) -> int:
    """Open the lock file, made if there is none; whoever else could open it could hold the lock."""
    descriptor = os.open(file, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW, FILE_MODE)
    try:
        os.fchmod(descriptor, FILE_MODE)
    except OSError:
        os.close(descriptor)
        raise
    return descriptor
