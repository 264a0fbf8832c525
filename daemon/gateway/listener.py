"""The listening socket: made so that it is never reachable with wider rights than it will have, and only once.

A daemon that binds its own socket holds an exclusive lock on `<socket>.lock` for as long as it lives. Only the holder
may replace a socket file that nobody answers on; whatever else lies at the path is left alone.
"""

from __future__ import annotations

import contextlib
import enum
import errno
import fcntl
import os
import socket
import stat
from collections.abc import Iterator
from pathlib import Path

from recalld.daemon.private_directories import WRITABLE_BY_OTHERS, DirectoryRefusedError, claim_directory
from recalld.models.domain.errors import ErrorCode, RecalldError

SOCKET_PATH_BYTES_MAX = 107
"""`sun_path` of unix(7) holds 108 bytes, the terminating NUL included."""

BACKLOG = 128
"""Connections the kernel keeps waiting; a burst of clients at start fits."""


class ListenFault(enum.StrEnum):
    """Why the daemon cannot listen."""

    PATH_UNUSABLE = "path_unusable"
    ALREADY_RUNNING = "already_running"
    NOT_A_SOCKET = "not_a_socket"
    UNSAFE_DIRECTORY = "unsafe_directory"
    BAD_ACTIVATION = "bad_activation"
    OS_ERROR = "os_error"


class ListenError(RecalldError):
    """The daemon cannot listen; starting again changes nothing until somebody acts.

    Attributes:
        fault: What kind of reason.
    """

    def __init__(self, fault: ListenFault, message: str) -> None:
        is_conflict = fault is ListenFault.ALREADY_RUNNING
        super().__init__(ErrorCode.CONFLICT if is_conflict else ErrorCode.BAD_REQUEST, message)
        self.fault = fault


class BoundListener:
    """A listening, non-blocking socket.

    Attributes:
        sock: The socket.
        path: Where clients find it; empty when systemd's socket has no path.
    """

    def __init__(self, sock: socket.socket, path: str, *, lock_fd: int | None = None) -> None:
        self.sock = sock
        self.path = path
        self._lock_fd = lock_fd
        self._identity = _identity(path) if lock_fd is not None else None

    def close(self) -> None:
        """Stop listening. Removes the socket file and gives up the lock only if this process made them."""
        self.sock.close()
        if self._lock_fd is None:
            return
        if self._identity is not None and _identity(self.path) == self._identity:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(self.path)  # noqa: PTH108 - the path is exactly what was bound
        os.close(self._lock_fd)
        self._lock_fd = None


def check_socket_path(path: str | os.PathLike[str]) -> str:
    """Return the path as text if a socket can be bound there.

    Raises:
        ListenError: `path_unusable`: empty, with a NUL, or too long; the message has the path and the limit.
    """
    text = os.fspath(path)
    used = len(os.fsencode(text))
    if not text or "\0" in text:
        raise ListenError(ListenFault.PATH_UNUSABLE, f"the socket path {text!r} is not a file path")
    if used > SOCKET_PATH_BYTES_MAX:
        message = (
            f"the socket path {text} has {used} bytes, but the system allows {SOCKET_PATH_BYTES_MAX}: "
            "set a shorter socket path"
        )
        raise ListenError(ListenFault.PATH_UNUSABLE, message)
    return text


def bind_listener(path: str | os.PathLike[str], *, is_system: bool = False) -> BoundListener:
    """Bind and listen on a path, replacing a socket left behind by a daemon that is gone.

    The socket gets mode 0600 (0660 for a system daemon) from the umask at `bind` itself: a later chmod would leave a
    moment in between. A missing directory is made with mode 0700 (0750); one that others can write to is tightened or
    refused, see `private_directories`. That holds for sticky directories such as /tmp too: there anybody could take the
    name first, and clients would talk to them.

    Raises:
        ListenError: See `ListenFault`; the message names the path and the remedy.
    """
    text = check_socket_path(path)
    try:
        _prepare_directory(Path(text).absolute().parent, is_system=is_system)
        lock_fd = _take_lock(text)
    except OSError as error:
        raise ListenError(ListenFault.OS_ERROR, f"cannot prepare the socket path {text}: {error}") from error
    try:
        _clear_stale(text)
        return BoundListener(_bind(text, is_system=is_system), text, lock_fd=lock_fd)
    except OSError as error:
        os.close(lock_fd)
        raise ListenError(ListenFault.OS_ERROR, f"cannot listen on {text}: {error}") from error
    except BaseException:
        os.close(lock_fd)
        raise


def _prepare_directory(directory: Path, *, is_system: bool) -> None:
    mode = 0o750 if is_system else 0o700
    try:
        claim_directory(directory, purpose="the socket's directory", mode=mode, forbidden=WRITABLE_BY_OTHERS)
    except DirectoryRefusedError as refusal:
        raise ListenError(ListenFault.UNSAFE_DIRECTORY, str(refusal)) from refusal


def _take_lock(path: str) -> int:
    flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
    lock_fd = os.open(f"{path}.lock", flags, 0o600)
    try:
        os.fchmod(lock_fd, 0o600)  # whoever else could open it could hold the lock
        fcntl.flock(lock_fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        os.close(lock_fd)
        message = f"already running: another recalld holds {path}.lock; stop it, or set another socket path"
        raise ListenError(ListenFault.ALREADY_RUNNING, message) from error
    except OSError:
        os.close(lock_fd)
        raise
    return lock_fd


def _clear_stale(path: str) -> None:
    try:
        found = os.lstat(path)
    except FileNotFoundError:
        return
    if not stat.S_ISSOCK(found.st_mode):
        message = f"{path} is there and is no socket: it is left alone; move it away, or set another socket path"
        raise ListenError(ListenFault.NOT_A_SOCKET, message)
    if _is_answered(path):
        message = f"already running: something listens on {path}; stop it, or set another socket path"
        raise ListenError(ListenFault.ALREADY_RUNNING, message)
    os.unlink(path)  # noqa: PTH108 - the path is exactly what will be bound


def _is_answered(path: str) -> bool:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        probe.settimeout(0)
        outcome = probe.connect_ex(path)
    if outcome in (errno.ECONNREFUSED, errno.ENOENT):
        return False
    if outcome in (0, errno.EAGAIN, errno.EPROTOTYPE):  # EAGAIN: its backlog is full; EPROTOTYPE: not a stream socket
        return True
    raise OSError(outcome, os.strerror(outcome), path)


def _bind(path: str, *, is_system: bool) -> socket.socket:
    sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM | socket.SOCK_NONBLOCK | socket.SOCK_CLOEXEC)
    try:
        with _umask(0o117 if is_system else 0o177):
            sock.bind(path)
        sock.listen(BACKLOG)
    except BaseException:
        sock.close()
        raise
    return sock


@contextlib.contextmanager
def _umask(mask: int) -> Iterator[None]:
    """Hold the process's umask; used at start, before there are other threads that make files."""
    before = os.umask(mask)
    try:
        yield
    finally:
        os.umask(before)


def _identity(path: str) -> tuple[int, int] | None:
    try:
        found = os.lstat(path)
    except FileNotFoundError:
        return None
    return found.st_dev, found.st_ino
