"""Checks of files and directories. They look at names and modes only and open nothing."""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Final

from recalld.daemon.config import ServerMode
from recalld.daemon.doctor.context import DoctorContext
from recalld.daemon.doctor.result import Finding, Status, failed, not_checked, noted, passed, warned
from recalld.daemon.gateway.listener import SOCKET_PATH_BYTES_MAX
from recalld.daemon.storage.files import companions, database_path, find_obstacle

_MIB: Final = 1024 * 1024
FREE_BYTES_MIN: Final = 64 * _MIB
"""Below this, the database may not be able to finish a large transaction and its log."""
FREE_BYTES_LOW: Final = 512 * _MIB
"""Below this, somebody should look after the disk soon: the models alone take 70 MiB while they are fetched."""
_OTHERS: Final = stat.S_IRWXG | stat.S_IRWXO

_Verdict = Callable[[str, str], Finding]


def check_socket_path(context: DoctorContext) -> Finding:
    """The kernel cuts or refuses longer socket paths."""
    path = context.settings.server.socket_path
    used = len(os.fsencode(path))
    if used > SOCKET_PATH_BYTES_MAX:
        return failed(
            f"{path} has {used} bytes, the limit is {SOCKET_PATH_BYTES_MAX}",
            "set server.socket_path (or --socket, RECALLD_SOCKET) to a shorter path",
        )
    return passed(f"{path} ({used} of {SOCKET_PATH_BYTES_MAX} bytes)")


def check_socket_directory(context: DoctorContext) -> Finding:
    """Whoever can write to the directory can put another socket in the daemon's place."""
    directory = context.settings.server.socket_path.parent
    allowed = 0o750 if context.settings.server.mode is ServerMode.SYSTEM else 0o700
    return _mode_finding(directory, allowed, absent="the daemon makes it when it starts", if_readable=noted)


def check_socket(context: DoctorContext) -> Finding:
    """The socket itself must be one, and nobody beyond its accounts may connect."""
    path = context.settings.server.socket_path
    try:
        found = path.lstat()
    except FileNotFoundError:
        return not_checked("there is no socket; the daemon makes it when it starts")
    except PermissionError as error:
        return _not_permitted(error, path, has_other_evidence=context.live.health is not None)
    if not stat.S_ISSOCK(found.st_mode):
        return failed(
            f"{path} is no socket",
            "move it away, or set server.socket_path to another path; the daemon never removes it",
        )
    allowed = 0o660 if context.settings.server.mode is ServerMode.SYSTEM else 0o600
    return _excess_finding(path, found, allowed, if_readable=warned)


def check_data_directory(context: DoctorContext) -> Finding:
    """Memories are private: nobody but the daemon's account may look into the directory."""
    directory = context.settings.storage.data_dir
    return _mode_finding(directory, 0o700, absent="the daemon makes it when it starts", if_readable=warned)


def check_database_files(context: DoctorContext) -> Finding:
    """The database and the files SQLite keeps beside it."""
    database = database_path(context.settings.storage.data_dir)
    files = [file for file in (database, *companions(database)) if _is_there(file)]
    if not files:
        return not_checked("there is no database yet; the daemon makes it when it starts")
    obstacle = find_obstacle(database)
    if obstacle:
        return failed(obstacle, "the daemon does not start until that is done")
    for file in files:
        finding = _excess_finding(file, file.stat(), 0o600, if_readable=failed)
        if finding.status is not Status.PASS:
            return finding
    return passed(", ".join(file.name for file in files) + " readable by their owner only")


def check_model_directory(context: DoctorContext) -> Finding:
    """Models are no secret, but whoever can write them could swap them between two verifications."""
    directory = context.settings.models.dir
    return _mode_finding(directory, 0o755, absent="`recalld models provision` makes it", if_readable=noted)


def check_disk_space(context: DoctorContext) -> Finding:
    """Room on the file system of the database."""
    directory = _nearest_existing(context.settings.storage.data_dir)
    free_bytes = shutil.disk_usage(directory).free
    seen = f"{free_bytes / _MIB:,.0f} MiB free on the file system of {directory}"
    if free_bytes < FREE_BYTES_MIN:
        return failed(seen, f"free at least {FREE_BYTES_MIN // _MIB} MiB, or move storage.data_dir")
    if free_bytes < FREE_BYTES_LOW:
        return warned(seen, "free some space before it runs out")
    return passed(seen)


def _mode_finding(path: Path, allowed: int, *, absent: str, if_readable: _Verdict) -> Finding:
    """A directory that should exist with at most these rights."""
    try:
        found = path.stat()
    except FileNotFoundError:
        return not_checked(f"{path} does not exist yet; {absent}")
    except PermissionError as error:
        return _not_permitted(error, path, has_other_evidence=False)
    if not stat.S_ISDIR(found.st_mode):
        return failed(f"{path} is no directory", "move it away, or configure another path")
    return _excess_finding(path, found, allowed, if_readable=if_readable)


def _excess_finding(path: Path, found: os.stat_result, allowed: int, *, if_readable: _Verdict) -> Finding:
    """Rights of others beyond the allowed ones: to write is always a failure, to look inside what the caller says."""
    mode = stat.S_IMODE(found.st_mode)
    excess = mode & _OTHERS & ~allowed
    seen = f"{path} has mode {mode:04o}"
    if not excess:
        return passed(seen)
    is_writable = excess & (stat.S_IWGRP | stat.S_IWOTH)
    is_shared = stat.S_ISDIR(found.st_mode) and mode & stat.S_ISVTX  # closing /tmp would lock everybody out of it
    remedy = f"configure a sub-directory of its own, such as {path / 'recalld'}" if is_shared else ""
    return (failed if is_writable else if_readable)(seen, remedy or f"run `chmod {allowed:o} {path}`")


def _not_permitted(error: PermissionError, path: Path, *, has_other_evidence: bool) -> Finding:
    return not_checked(
        f"this account may not look at {path} ({error.strerror})",
        matters=not has_other_evidence,
        remedy="run the doctor as the account that runs the daemon, or as root",
    )


def _is_there(file: Path) -> bool:
    try:
        file.lstat()
    except FileNotFoundError:
        return False
    return True


def _nearest_existing(path: Path) -> Path:
    return next(folder for folder in (path, *path.parents) if folder.exists())
