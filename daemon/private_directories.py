"""Directories that must be ours alone: made private, tightened where that takes nothing from anybody, else refused.

Whoever can write to a directory can put another socket or database in the place of ours, and whoever can look into one
sees whose memories are kept. Closing a directory that others use would lock them out of it, so that is never done.

* A directory that is missing is made, with its missing parents, with exactly the mode asked for.
* One that exists and is closed enough is left as it is.
* One that is open to others but ours, and holds nothing or nothing but our own files, is tightened, which is logged.
* One that others can only look into, and that holds other files, is left as it is, which is logged: our own files are
  closed whatever the directory is, and closing it would take the others away.
* One that others may write to and that holds other files, or is sticky, or somebody else's, is refused. So is one whose
  owner is neither this account nor root, whatever its mode: its owner may do with it as they like.
"""

from __future__ import annotations

import errno
import fnmatch
import os
import stat
from pathlib import Path
from typing import Final

import structlog

DIRECTORY_TIGHTENED: Final = "directory_tightened"
"""Log line of a directory whose rights were taken back."""
DIRECTORY_SHARED: Final = "directory_shared"
"""Log line of a directory that others can look into, left as it is because it holds other files."""

WRITABLE_BY_OTHERS: Final = stat.S_IWGRP | stat.S_IWOTH
OPEN_TO_OTHERS: Final = stat.S_IRWXG | stat.S_IRWXO

_OWN_NAMES: Final = ("recalld.*", "*.lock", "fault-scorer-*", "models", "run")
"""What the daemon itself puts into its directories, wherever they coincide; sockets may have any name."""
_ROOT_UID: Final = 0

_log: structlog.stdlib.BoundLogger = structlog.get_logger("recalld")


class DirectoryRefusedError(Exception):
    """A directory that must not be used as it is; the text names it, what is wrong and the remedy."""


def claim_directory(directory: Path, *, purpose: str, mode: int, forbidden: int) -> None:
    """Make a directory, or see to it that one that exists is ours alone.

    Args:
        directory: Which one.
        purpose: What it is for, as in "the data directory"; for messages.
        mode: The mode of a directory that is made or tightened.
        forbidden: Bits of the mode that make an existing directory too open.

    Raises:
        DirectoryRefusedError: It is open to others and cannot be closed without harm; it was not touched.
        OSError: It cannot be made or looked at, or is no directory.
    """
    _make(directory, mode)
    found = directory.stat()
    if not stat.S_ISDIR(found.st_mode):
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(directory))
    if not found.st_mode & forbidden and found.st_uid in (os.geteuid(), _ROOT_UID):
        return
    # By descriptor from here on, so that what is judged is what is changed.
    fd = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        held, foreign = os.fstat(fd), _first_foreign_entry(fd)
        old_mode = stat.S_IMODE(held.st_mode)
        if foreign and held.st_uid == os.geteuid() and not old_mode & (WRITABLE_BY_OTHERS | stat.S_ISVTX):
            _log.warning(DIRECTORY_SHARED, directory=str(directory), mode=f"{old_mode:04o}")
            return
        fault = _fault(held, foreign, forbidden)
        if fault:
            message = f"{purpose} {directory} {fault}: use a sub-directory of its own, such as {directory / 'recalld'}"
            raise DirectoryRefusedError(message)
        os.fchmod(fd, mode)
    finally:
        os.close(fd)
    _log.warning(DIRECTORY_TIGHTENED, directory=str(directory), old_mode=f"{old_mode:04o}", new_mode=f"{mode:04o}")


def _make(directory: Path, mode: int) -> None:
    missing = [folder for folder in (directory, *directory.parents) if not folder.exists()]
    for folder in reversed(missing):
        try:
            folder.mkdir(mode=mode)
        except FileExistsError:  # somebody was faster; the directory itself is judged like any other
            continue
        folder.chmod(mode)  # the umask may have taken more than it should, never less


def _fault(found: os.stat_result, foreign: str, forbidden: int) -> str:
    """Why the directory cannot be tightened; empty when it can. `foreign` names an entry that is not the daemon's."""
    if found.st_uid not in (os.geteuid(), _ROOT_UID):
        return f"belongs to uid {found.st_uid}, who may change what is in it"
    mode = f"{stat.S_IMODE(found.st_mode):04o}"
    if found.st_mode & forbidden and found.st_uid != os.geteuid():
        return f"is open to others (mode {mode}) and belongs to uid {found.st_uid}"
    if found.st_mode & stat.S_ISVTX:
        return f"is shared with others (mode {mode}, sticky)"
    return f"is open to others (mode {mode}) and holds files that are not the daemon's ({foreign!r})" if foreign else ""


def _first_foreign_entry(fd: int) -> str:
    """The name of an entry that the daemon did not make; empty when there is none."""
    with os.scandir(fd) as entries:
        return min((entry.name for entry in entries if not _is_own(entry)), default="")


def _is_own(entry: os.DirEntry[str]) -> bool:
    """A planted file with a name of ours is not ours: its owner is somebody else."""
    found = entry.stat(follow_symlinks=False)
    is_named_ours = any(fnmatch.fnmatchcase(entry.name, pattern) for pattern in _OWN_NAMES)
    return found.st_uid == os.geteuid() and (is_named_ours or stat.S_ISSOCK(found.st_mode))
