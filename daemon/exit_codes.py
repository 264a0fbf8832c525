"""Exit codes of the `recalld` command, named once. The values follow sysexits.h where it has one that fits."""

from __future__ import annotations

import enum
import errno
from typing import Final


class ExitCode(enum.IntEnum):
    """How a `recalld` process ends.

    systemd does not restart a service that ends with `USAGE`, `NO_PERMISSION` or `CONFIG` (`RestartPreventExitStatus=`
    in the units): starting again cannot help until somebody changes something.
    """

    OK = 0
    FAILURE = 1
    """The command ran and the answer is no: a file does not verify, an id does not exist."""
    USAGE = 64
    """The command line itself is wrong."""
    UNAVAILABLE = 69
    """The daemon cannot be reached, or another one already runs on the same socket or database."""
    TEMPORARY = 75
    """It may work later: the daemon is busy or stopping, the disk is full, a model source is out of reach."""
    NO_PERMISSION = 77
    """The socket, a directory or a file may not be used by this user."""
    CONFIG = 78
    """The configuration, or something it names, is wrong."""
    INTERRUPTED = 130
    """Ctrl-C, as shells count it: 128 + SIGINT."""
    READER_GONE = 141
    """Whoever read the output left, as in `recalld list | head -1`; as shells count it: 128 + SIGPIPE."""


class DoctorExit(enum.IntEnum):
    """How `recalld doctor` ends; monitoring reads these."""

    WELL = 0
    WARNINGS = 1
    FAILURES = 2
    COULD_NOT_RUN = 3


_NOT_PERMITTED: Final = frozenset({errno.EACCES, errno.EPERM, errno.EROFS})
_WRONG_PATH: Final = frozenset(
    {errno.EEXIST, errno.ENOENT, errno.ENOTDIR, errno.EISDIR, errno.ENAMETOOLONG, errno.ELOOP, errno.ENOTSUP}
)


def code_for_os_error(error: OSError, *, otherwise: ExitCode) -> ExitCode:
    """The exit code for something that the operating system refused to make or open.

    Args:
        error: What it said.
        otherwise: The code for what is neither a question of rights nor of a path that leads nowhere.

    Returns:
        `NO_PERMISSION` where this account may not, a read-only file system included; `CONFIG` where a path names no
        file or directory that could be used; else `otherwise`.
    """
    if error.errno in _NOT_PERMITTED:
        return ExitCode.NO_PERMISSION
    return ExitCode.CONFIG if error.errno in _WRONG_PATH else otherwise
