"""The accept loop: it outlives every error of `accept`, without spinning, and keeps descriptors free for others."""

from __future__ import annotations

import errno
import os
import resource
import socket
from collections.abc import Callable
from typing import Self

import anyio
import structlog

from recalld.daemon.gateway.counters import GatewayCount, GatewayCounters

ACCEPT_FAILED = "gateway_accept_failed"
"""Log line of an accept that failed; at most one for each step of the back-off."""

BACKOFF_MIN_S = 0.05
BACKOFF_MAX_S = 1.0

_EXHAUSTED = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM})

_log: structlog.stdlib.BoundLogger = structlog.get_logger("recalld.gateway")


class SpareDescriptor:
    """One descriptor held open, to be given up for a moment when there are none left.

    With none left, a waiting connection can be neither accepted nor refused, and its client would hang.
    """

    def __init__(self) -> None:
        self._fd: int | None = os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC)

    def shed(self, listener: socket.socket) -> None:
        """Accept one waiting connection in the spare's place and close it."""
        self.close()
        try:
            connection, _ = listener.accept()
            connection.close()
        except OSError:
            pass  # somebody else was faster with the descriptor, or the client has gone
        finally:
            self._reopen()

    def close(self) -> None:
        """Give the descriptor up for good."""
        if self._fd is not None:
            os.close(self._fd)
            self._fd = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _reopen(self) -> None:
        try:
            self._fd = os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC)
        except OSError:
            self._fd = None  # tried again with the next connection


def has_headroom(connection: socket.socket, fds_reserve: int) -> bool:
    """Whether at least `fds_reserve` descriptors are still free.

    The kernel gives out the lowest free number, so a connection numbered n means that all below n are in use.
    """
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return soft == resource.RLIM_INFINITY or connection.fileno() < soft - fds_reserve


async def accept_connections(
    listener: socket.socket, on_connection: Callable[[socket.socket], None], counters: GatewayCounters
) -> None:
    """Accept until cancelled, or until the listener is closed.

    Args:
        listener: Listening and non-blocking.
        on_connection: Takes over each accepted socket; must not block.
        counters: Where failures are counted.
    """
    backoff_s = BACKOFF_MIN_S
    with SpareDescriptor() as spare:
        while listener.fileno() != -1:
            try:
                await anyio.wait_readable(listener)
                connection, _ = listener.accept()
            except (BlockingIOError, ConnectionAbortedError):
                continue  # the client went away between the two calls
            except (anyio.ClosedResourceError, ValueError):
                return
            except OSError as error:
                if listener.fileno() == -1:
                    return
                counters.add(GatewayCount.ACCEPT_ERRORS)
                _log.warning(ACCEPT_FAILED, errno=errno.errorcode.get(error.errno or 0, ""), backoff_s=backoff_s)
                if error.errno in _EXHAUSTED:
                    spare.shed(listener)
                # The listener stays readable: without a pause this loop would take a whole core.
                await anyio.sleep(backoff_s)
                backoff_s = min(2 * backoff_s, BACKOFF_MAX_S)
                continue
            backoff_s = BACKOFF_MIN_S
            on_connection(connection)
