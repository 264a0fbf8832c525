"""A Unix stream socket for anyio: as little as both sides of the protocol need.

It is used instead of anyio's own stream because that one, when a waiting read is cancelled in the very turn of the loop
in which data comes, leaves an error in the loop's log; and because connecting here waits while a listener's backlog is
full.
"""

from __future__ import annotations

import socket
from types import TracebackType
from typing import Self

import anyio
import anyio.lowlevel

CONNECT_RETRY_S = 0.01
"""Pause before trying again at a listener whose backlog is full: the kernel gives nothing to wait on."""


class UnixStream:
    """Bytes to and from one peer. One task may send while another receives; cancel both before closing.

    Args:
        sock: A connected stream socket; the stream owns it from here on.
    """

    def __init__(self, sock: socket.socket) -> None:
        sock.settimeout(0)
        self._sock = sock

    @classmethod
    async def connect(cls, path: str) -> Self:
        """Connect to a listening socket; waits while its backlog is full.

        Raises:
            OSError: Nobody listens there, or it may not be reached.
            ValueError: The path holds a NUL.
        """
        sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM | socket.SOCK_NONBLOCK | socket.SOCK_CLOEXEC)
        try:
            await _dial(sock, path)
        except BaseException:
            sock.close()
            raise
        return cls(sock)

    async def receive(self, bytes_max: int = 65_536) -> bytes:
        """Wait for bytes; none at the end of the stream.

        Raises:
            OSError: The connection broke.
        """
        await anyio.lowlevel.checkpoint()
        while True:
            try:
                return self._sock.recv(bytes_max)
            except BlockingIOError:
                await anyio.wait_readable(self._sock)

    async def send(self, data: bytes) -> None:
        """Hand all bytes to the kernel. When cancelled, some of them may have gone.

        Raises:
            OSError: The connection broke.
        """
        await anyio.lowlevel.checkpoint()
        view = memoryview(data)
        while view:
            try:
                view = view[self._sock.send(view) :]
            except BlockingIOError:
                await anyio.wait_writable(self._sock)

    def end_reading(self) -> None:
        """Receive what the peer has sent already, and then the end of the stream.

        Raises:
            OSError: The connection broke.
        """
        self._sock.shutdown(socket.SHUT_RD)

    def end_writing(self) -> None:
        """Tell the peer that no more bytes will come.

        Raises:
            OSError: The connection broke.
        """
        self._sock.shutdown(socket.SHUT_WR)

    def close(self) -> None:
        """Close the connection. A read that waits meanwhile raises `anyio.ClosedResourceError`."""
        if self._sock.fileno() != -1:
            anyio.notify_closing(self._sock)
            self._sock.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


async def _dial(sock: socket.socket, path: str) -> None:
    while True:
        try:
            sock.connect(path)
        except BlockingIOError:
            await anyio.sleep(CONNECT_RETRY_S)
        else:
            return
