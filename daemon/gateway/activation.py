"""A socket handed over by systemd, by the protocol of sd_listen_fds(3)."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable, Mapping

from recalld.daemon.gateway.listener import BoundListener, ListenError, ListenFault

LISTEN_FDS_START = 3
"""The first descriptor passed, from sd_listen_fds(3)."""

LISTEN_VARIABLES = ("LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES")
SOCKET_NAME = "recalld.socket"
"""The name systemd gives to the descriptor of that unit; asked for only when there are several."""


def adopt_listener(
    environ: Mapping[str, str], *, pid: int, clear: Callable[[], None], first_fd: int = LISTEN_FDS_START
) -> BoundListener | None:
    """Take over the listening socket that systemd passed to this process, if it passed one.

    Every descriptor passed is made close-on-exec, and `clear` is called before anything can fail, so that no child
    mistakes the sockets for its own. The socket's file stays systemd's: closing the listener does not remove it.

    Args:
        environ: Where to look for `LISTEN_PID`, `LISTEN_FDS` and `LISTEN_FDNAMES`.
        pid: This process. Descriptors meant for another one are not touched.
        clear: Removes the three variables from the process's environment.
        first_fd: The first descriptor passed.

    Returns:
        The listener, or None when nothing was passed to this process.

    Raises:
        ListenError: `bad_activation`: the variables make no sense, or the descriptor is no listening Unix stream
            socket.
    """
    values = {name: environ[name] for name in LISTEN_VARIABLES if name in environ}
    if not values:
        return None
    clear()
    if _number(values, "LISTEN_PID") != pid:
        return None
    count = _number(values, "LISTEN_FDS")
    if count == 0:
        return None
    fds = range(first_fd, first_fd + count)
    for fd in fds:
        _set_cloexec(fd)
    chosen = _choose(fds, values.get("LISTEN_FDNAMES", ""))
    for fd in fds:
        if fd != chosen:
            os.close(fd)
    return _as_listener(chosen)


_FDS_MAX = 64
"""More descriptors than any unit of this program passes: a number beyond it is a mistake, not a list to walk."""


def _number(values: Mapping[str, str], name: str) -> int:
    text = values.get(name, "")
    limit = _FDS_MAX if name == "LISTEN_FDS" else None
    if not (text.isascii() and text.isdigit()) or (limit is not None and int(text) > limit):
        message = f"{name}={text!r} is not what systemd sets; start the daemon through its units, or unset it"
        raise ListenError(ListenFault.BAD_ACTIVATION, message)
    return int(text)


def _set_cloexec(fd: int) -> None:
    try:
        os.set_inheritable(fd, False)  # noqa: FBT003 - the signature is the standard library's
    except OSError as error:
        message = f"LISTEN_FDS names descriptor {fd}, which is not open"
        raise ListenError(ListenFault.BAD_ACTIVATION, message) from error


def _choose(fds: range, names: str) -> int:
    if len(fds) == 1:
        return fds[0]
    named = [fd for fd, name in zip(fds, names.split(":"), strict=False) if name == SOCKET_NAME]
    if len(named) != 1:
        message = f"systemd passed {len(fds)} sockets ({names or 'unnamed'}): exactly one must be named {SOCKET_NAME}"
        raise ListenError(ListenFault.BAD_ACTIVATION, message)
    return named[0]


def _as_listener(fd: int) -> BoundListener:
    try:
        sock = socket.socket(fileno=fd)
    except OSError as error:
        raise ListenError(ListenFault.BAD_ACTIVATION, f"descriptor {fd} from systemd is no socket") from error
    is_unix_stream = sock.family == socket.AF_UNIX and sock.type == socket.SOCK_STREAM
    if not is_unix_stream or not sock.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN):
        kind = f"{_name(sock.family)}/{_name(sock.type)}"
        sock.close()
        message = f"descriptor {fd} from systemd is {kind}: recalld.socket must use ListenStream= with a path"
        raise ListenError(ListenFault.BAD_ACTIVATION, message)
    sock.settimeout(0)
    address = sock.getsockname()
    return BoundListener(sock, address if isinstance(address, str) else "")


def _name(value: int) -> str:
    return getattr(value, "name", str(value))
