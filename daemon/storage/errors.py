"""What can go wrong with the database, in the words of `RecalldError`."""

from __future__ import annotations

import enum
import sqlite3
from pathlib import Path
from typing import Final

from recalld.daemon.storage.space import Shortage, find_shortage
from recalld.models.domain.errors import ErrorCode, RecalldError


class DatabaseRefusedError(RecalldError):
    """What lies at the database's place may not be used: no database, another's, too new, or a directory of others.

    Restarting does not help; the message says what does.
    """

    def __init__(self, message: str) -> None:
        super().__init__(ErrorCode.STORAGE_UNAVAILABLE, message)


class RowKind(enum.StrEnum):
    """What a row stands for, as in a sentence."""

    MEMORY = "the memory"
    DECISION = "the decision"
    TURN = "the turn decided by"
    VALUE = "the value"
    EVIDENCE = "a turn behind"
    OBSERVATION = "the observation"
    PROPOSAL = "the proposal"


class DamagedRowError(RecalldError):
    """A row cannot be what this program wrote. What meets it fails; everything else goes on."""

    def __init__(self, kind: RowKind, row_id: str) -> None:
        super().__init__(
            ErrorCode.STORAGE_UNAVAILABLE,
            f"The row of {kind} {row_id} is damaged; `recalld doctor` names such rows and says what to do.",
        )


class AlreadyRunningError(RecalldError):
    """Another process uses the same data directory."""

    def __init__(self, message: str) -> None:
        super().__init__(ErrorCode.CONFLICT, message)


_DAMAGE_CODES: Final = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB})
"""Primary codes for a file that no restart mends."""
_SPACE_CODES: Final = frozenset(
    {
        sqlite3.SQLITE_FULL,
        sqlite3.SQLITE_IOERR_WRITE,
        sqlite3.SQLITE_IOERR_TRUNCATE,
        sqlite3.SQLITE_IOERR_FSYNC,
        sqlite3.SQLITE_IOERR_SHMSIZE,
        sqlite3.SQLITE_IOERR_GETTEMPPATH,
        sqlite3.SQLITE_CANTOPEN,
    }
)
"""Codes behind which a lack of space may hide: only ENOSPC becomes SQLITE_FULL; EFBIG and EDQUOT come as I/O errors."""

_REMEDIES: Final = {
    sqlite3.SQLITE_CORRUPT: "it is damaged; stop the daemon and restore a backup",
    sqlite3.SQLITE_NOTADB: "it is not an SQLite database; move it away or restore a backup",
    sqlite3.SQLITE_READONLY: "it is read-only; check the owner and mode of the file and its directory",
    sqlite3.SQLITE_CANTOPEN: "it cannot be opened; check the owner and mode of the file and its directory",
    sqlite3.SQLITE_BUSY: "another process holds its write lock; close other programs that use it and try again",
    sqlite3.SQLITE_PERM: "access to it is not permitted; check the owner and mode of the file and its directory",
}


def translated(error: sqlite3.Error, path: Path) -> RecalldError:
    """The error to raise instead of one that SQLite raised.

    Returns:
        `RecalldError` with `STORAGE_FULL` where space is what lacks, with `INTERNAL` for a violated constraint, which a
        fault of this program or of the schema causes and trying again does not mend, else with `STORAGE_UNAVAILABLE`;
        `DatabaseRefusedError` among them for a damaged file.
    """
    if isinstance(error, sqlite3.IntegrityError):
        message = (
            f"The database {path} refused what was to be stored ({error}); nothing was stored. Run `recalld doctor`."
        )
        return RecalldError(ErrorCode.INTERNAL, message)
    code = code_of(error)
    if code in _SPACE_CODES or (code is not None and code & 0xFF == sqlite3.SQLITE_FULL):
        shortage = find_shortage(path)
        if shortage is not None or code == sqlite3.SQLITE_FULL:
            return _full(path, shortage)
    primary = -1 if code is None else code & 0xFF
    remedy = _REMEDIES.get(primary, "run `recalld doctor`")
    name = getattr(error, "sqlite_errorname", type(error).__name__)
    message = f"The database {path} failed ({name}: {error}); {remedy}."
    if primary in _DAMAGE_CODES:
        return DatabaseRefusedError(message)
    return RecalldError(ErrorCode.STORAGE_UNAVAILABLE, message)


def unexpected(error: Exception, path: Path) -> RecalldError:
    """The error for what nobody foresaw, when the transaction it happened in was rolled back.

    The failure's own words are left out: they may quote what was being stored.
    """
    name = type(error).__name__
    message = f"The database {path} could not do this ({name}); nothing was stored. Run `recalld doctor`."
    return RecalldError(ErrorCode.INTERNAL, message)


def is_read_only(error: RecalldError) -> bool:
    """Whether SQLite refused to write because the file, or the connection, is read-only."""
    code = code_of(error.__cause__) if isinstance(error.__cause__, sqlite3.Error) else None
    return code is not None and code & 0xFF == sqlite3.SQLITE_READONLY


def code_of(error: sqlite3.Error) -> int | None:
    """SQLite's extended result code; errors made by the Python module itself carry none."""
    code = getattr(error, "sqlite_errorcode", None)
    return code if isinstance(code, int) else None


def _full(path: Path, shortage: Shortage | None) -> RecalldError:
    where = f"SQLite could not find room for {path}" if shortage is None else shortage.detail
    return RecalldError(
        ErrorCode.STORAGE_FULL, f"Storage is full: {where}; nothing was stored. Free some space and retry."
    )
