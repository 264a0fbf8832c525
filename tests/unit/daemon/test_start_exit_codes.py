"""What starting again cannot mend has exit codes that tell a service manager so."""

import errno
import sqlite3
from collections.abc import Callable

import pytest

from recalld.daemon.app import exit_code_of
from recalld.daemon.exit_codes import ExitCode, code_for_os_error
from recalld.daemon.gateway.listener import ListenError, ListenFault
from recalld.daemon.storage.errors import AlreadyRunningError
from recalld.models.domain.errors import ErrorCode, RecalldError


def caused(error: RecalldError, cause: Exception) -> RecalldError:
    error.__cause__ = cause
    return error


def unavailable() -> RecalldError:
    return RecalldError(ErrorCode.STORAGE_UNAVAILABLE, "the data directory cannot be used")


def unlistening() -> RecalldError:
    return ListenError(ListenFault.OS_ERROR, "cannot listen")


def sqlite_error(code: int) -> sqlite3.Error:
    error = sqlite3.DatabaseError("no")
    error.sqlite_errorcode = code
    return error


@pytest.mark.parametrize("make", [unavailable, unlistening])
@pytest.mark.parametrize(
    ("number", "code"),
    [
        (errno.EACCES, ExitCode.NO_PERMISSION),
        (errno.EPERM, ExitCode.NO_PERMISSION),
        (errno.EROFS, ExitCode.NO_PERMISSION),
        (errno.ENOTDIR, ExitCode.CONFIG),
        (errno.EEXIST, ExitCode.CONFIG),
        (errno.ENOENT, ExitCode.CONFIG),
        (errno.ENAMETOOLONG, ExitCode.CONFIG),
        (errno.ENOSPC, ExitCode.TEMPORARY),
        (errno.EMFILE, ExitCode.TEMPORARY),
        (errno.EIO, ExitCode.TEMPORARY),
    ],
)
def test_a_directory_or_socket_that_cannot_be_used_ends_by_what_the_system_said(
    make: Callable[[], RecalldError], number: int, code: ExitCode
) -> None:
    assert exit_code_of(caused(make(), OSError(number, "no"))) is code


@pytest.mark.parametrize(
    ("sqlite_code", "code"),
    [
        (sqlite3.SQLITE_NOTADB, ExitCode.CONFIG),
        (sqlite3.SQLITE_CORRUPT, ExitCode.CONFIG),
        (sqlite3.SQLITE_CORRUPT_VTAB, ExitCode.CONFIG),
        (sqlite3.SQLITE_CANTOPEN, ExitCode.NO_PERMISSION),
        (sqlite3.SQLITE_READONLY, ExitCode.NO_PERMISSION),
        (sqlite3.SQLITE_READONLY_DIRECTORY, ExitCode.NO_PERMISSION),
        (sqlite3.SQLITE_BUSY, ExitCode.TEMPORARY),
        (sqlite3.SQLITE_IOERR, ExitCode.TEMPORARY),
    ],
)
def test_a_database_that_cannot_be_used_ends_by_what_sqlite_said(sqlite_code: int, code: ExitCode) -> None:
    assert exit_code_of(caused(unavailable(), sqlite_error(sqlite_code))) is code


def test_a_full_disk_may_pass_however_sqlite_put_it() -> None:
    full = RecalldError(ErrorCode.STORAGE_FULL, "full")
    assert exit_code_of(caused(full, sqlite_error(sqlite3.SQLITE_CANTOPEN))) is ExitCode.TEMPORARY


def test_another_daemon_is_no_question_of_rights() -> None:
    held = BlockingIOError(errno.EACCES, "held")
    assert exit_code_of(caused(AlreadyRunningError("in use"), held)) is ExitCode.UNAVAILABLE
    running = ListenError(ListenFault.ALREADY_RUNNING, "in use")
    assert exit_code_of(caused(running, held)) is ExitCode.UNAVAILABLE


def test_what_is_no_question_of_rights_or_paths_is_for_the_caller_to_say() -> None:
    assert code_for_os_error(OSError(errno.EIO, "no"), otherwise=ExitCode.FAILURE) is ExitCode.FAILURE
    assert code_for_os_error(OSError("AF_UNIX path too long"), otherwise=ExitCode.USAGE) is ExitCode.USAGE
