"""Why a daemon cannot be reached, and what to do about it: each cause has a remedy of its own."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path
from types import MappingProxyType
from typing import Final

from recalld.daemon.config import Environment, ServerMode, Settings

_OTHER_SOCKET: Final = "--socket or RECALLD_SOCKET names another socket"
_NOT_ALLOWED: Final = (
    "this account may not use it; run the command as the account that runs the daemon, or, for a daemon of the whole "
    "machine, join the group that owns the socket"
)
_WITHOUT_A_DAEMON: Final = MappingProxyType(
    {
        errno.EACCES: _NOT_ALLOWED,
        errno.EPERM: _NOT_ALLOWED,
        errno.ENOTDIR: f"a part of the path is no directory; {_OTHER_SOCKET}",
        errno.EPROTOTYPE: f"it is a socket of another kind, and so of another program; {_OTHER_SOCKET}",
    }
)
"""Causes that starting a daemon would not change."""


def start_remedy(settings: Settings, environment: Environment) -> str:
    """How to start the daemon that these settings mean, for whoever asks."""
    is_system = environment.uid == 0 or settings.server.mode is ServerMode.SYSTEM
    rights = "sudo " if environment.uid != 0 else ""
    systemctl = f"{rights}systemctl" if is_system else "systemctl --user"
    return (
        f"start the daemon with `recalld serve`, or let systemd start it: `{systemctl} enable --now recalld.socket`"
        f"; {_OTHER_SOCKET}"
    )


def why_unreachable(path: Path, cause: BaseException | None, *, start: str) -> str:
    """What stands in the way of a connection, with the remedy, in one sentence.

    Args:
        path: Where the connection was tried.
        cause: What the operating system said; None when it said nothing.
        start: How to start the daemon, for the causes where that helps.
    """
    from recalld.daemon.gateway.listener import SOCKET_PATH_BYTES_MAX  # noqa: PLC0415 - slow, and only errors need it

    used = len(os.fsencode(path))
    if used > SOCKET_PATH_BYTES_MAX:
        return f"the path has {used} bytes, the system allows {SOCKET_PATH_BYTES_MAX}; name a shorter one with --socket"
    number = cause.errno if isinstance(cause, OSError) else None
    if number == errno.ECONNREFUSED:  # also what connecting to something else than a socket ends with
        return f"nobody listens there any more; {start}" if _is_socket(path) else f"it is not a socket; {_OTHER_SOCKET}"
    if number is not None and number in _WITHOUT_A_DAEMON:
        return _WITHOUT_A_DAEMON[number]
    return f"there is no such socket; {start}" if number == errno.ENOENT else f"{cause}; {start}"


def _is_socket(path: Path) -> bool:
    """Whether a socket lies there; yes when it cannot be told."""
    try:
        return stat.S_ISSOCK(path.stat().st_mode)
    except OSError:
        return True
