from __future__ import annotations

import errno
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import IO

import pytest

from recalld.daemon.storage import errors, space
from recalld.daemon.storage.errors import DatabaseRefusedError, translated, unexpected
from recalld.daemon.storage.space import Shortage, find_shortage
from recalld.models.domain.errors import ErrorCode, RecalldError

SetShortage = Callable[[Shortage | None], None]


def sqlite_error(name: str, kind: type[sqlite3.Error] = sqlite3.OperationalError) -> sqlite3.Error:
    error = kind("something SQLite says")
    error.sqlite_errorcode = getattr(sqlite3, name)
    error.sqlite_errorname = name
    return error


@pytest.fixture
def set_shortage(monkeypatch: pytest.MonkeyPatch) -> SetShortage:
    return lambda shortage: monkeypatch.setattr(errors, "find_shortage", lambda _path: shortage)


@pytest.mark.parametrize(
    ("name", "shortage", "code", "words"),
    [
        ("SQLITE_FULL", None, ErrorCode.STORAGE_FULL, "could not find room"),
        ("SQLITE_FULL", Shortage(detail="no room is left in /data"), ErrorCode.STORAGE_FULL, "/data"),
        (
            "SQLITE_FULL",
            Shortage(detail="no room is left for temporary files in /tmp"),
            ErrorCode.STORAGE_FULL,
            "temporary files",
        ),
        ("SQLITE_IOERR_WRITE", Shortage(detail="over the limit"), ErrorCode.STORAGE_FULL, "over the limit"),
        ("SQLITE_IOERR_WRITE", None, ErrorCode.STORAGE_UNAVAILABLE, "SQLITE_IOERR_WRITE"),
        ("SQLITE_IOERR_READ", Shortage(detail="irrelevant"), ErrorCode.STORAGE_UNAVAILABLE, "SQLITE_IOERR_READ"),
        ("SQLITE_CANTOPEN", None, ErrorCode.STORAGE_UNAVAILABLE, "owner and mode"),
        ("SQLITE_BUSY", None, ErrorCode.STORAGE_UNAVAILABLE, "write lock"),
        ("SQLITE_BUSY_SNAPSHOT", None, ErrorCode.STORAGE_UNAVAILABLE, "write lock"),
        ("SQLITE_CORRUPT", None, ErrorCode.STORAGE_UNAVAILABLE, "restore a backup"),
        ("SQLITE_NOTADB", None, ErrorCode.STORAGE_UNAVAILABLE, "not an SQLite database"),
        ("SQLITE_READONLY_DBMOVED", None, ErrorCode.STORAGE_UNAVAILABLE, "read-only"),
        ("SQLITE_ERROR", None, ErrorCode.STORAGE_UNAVAILABLE, "recalld doctor"),
    ],
)
def test_each_sqlite_error_becomes_one_that_names_the_remedy(
    set_shortage: SetShortage, name: str, shortage: Shortage | None, code: ErrorCode, words: str
) -> None:
    set_shortage(shortage)
    error = translated(sqlite_error(name), Path("/data/recalld.db"))
    assert isinstance(error, RecalldError)
    assert error.code is code
    assert words in error.message


def test_a_broken_constraint_fails_the_request_for_good_and_not_the_daemon() -> None:
    error = translated(sqlite_error("SQLITE_CONSTRAINT_UNIQUE", sqlite3.IntegrityError), Path("/data/recalld.db"))
    assert (error.code, error.retryable) == (ErrorCode.INTERNAL, False)


@pytest.mark.parametrize("name", ["SQLITE_CORRUPT", "SQLITE_NOTADB", "SQLITE_CORRUPT_INDEX"])
def test_a_damaged_file_is_one_that_no_restart_mends(name: str) -> None:
    assert isinstance(translated(sqlite_error(name), Path("/data/recalld.db")), DatabaseRefusedError)


def test_an_unforeseen_failure_is_told_without_its_own_words() -> None:
    error = unexpected(KeyError("the secret ingredient"), Path("/data/recalld.db"))
    assert error.code is ErrorCode.INTERNAL
    assert "KeyError" in error.message
    assert "secret" not in error.message


def test_an_error_without_a_code_is_translated_too() -> None:
    error = translated(sqlite3.ProgrammingError("Cannot operate on a closed database."), Path("/data/recalld.db"))
    assert isinstance(error, RecalldError)
    assert error.code is ErrorCode.STORAGE_UNAVAILABLE


def test_where_there_is_room_there_is_no_shortage(tmp_path: Path) -> None:
    assert find_shortage(tmp_path / "recalld.db", tmp_path) is None


@pytest.mark.parametrize("largest", ["recalld.db", "recalld.db-wal"])
def test_a_file_size_limit_that_is_nearly_reached_is_a_shortage(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, largest: str
) -> None:
    (tmp_path / largest).write_bytes(b"x" * 50_000)
    monkeypatch.setattr(space.resource, "getrlimit", lambda _which: (100_000, -1))
    shortage = find_shortage(tmp_path / "recalld.db", tmp_path)
    assert shortage is not None
    assert "file size limit of 100000 bytes" in shortage.detail


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT])
@pytest.mark.parametrize(("full", "words"), [("data", "left in"), ("temporary", "temporary files")])
def test_a_full_directory_for_temporary_files_is_told_from_a_full_data_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int, full: str, words: str
) -> None:
    # S10
    make_file = space.tempfile.TemporaryFile

    def make_file_unless_full(*, dir: Path, prefix: str) -> IO[bytes]:  # noqa: A002 - the standard library's name
        if dir.name == full:
            raise OSError(number, "no room")
        return make_file(dir=dir, prefix=prefix)

    monkeypatch.setattr(space.tempfile, "TemporaryFile", make_file_unless_full)
    for name in ("data", "temporary"):
        (tmp_path / name).mkdir()
    shortage = find_shortage(tmp_path / "data" / "recalld.db", tmp_path / "temporary")
    assert shortage is not None
    assert words in shortage.detail
    assert full in shortage.detail


def test_a_directory_that_may_not_be_written_is_no_shortage_of_room(tmp_path: Path) -> None:
    assert find_shortage(tmp_path / "absent" / "recalld.db", tmp_path) is None
