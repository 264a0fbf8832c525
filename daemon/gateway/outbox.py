"""Frames on their way to one peer: a bounded buffer that makes its own connection wait, and nobody else."""

from __future__ import annotations

import collections
from collections.abc import Awaitable, Callable

import anyio

SLICE_BYTES = 65_536
"""Bytes handed to the kernel at a time; each slice must be taken within the stall timeout, so that a slow but living
peer is told apart from one that stopped reading."""


class PeerStalledError(Exception):
    """The peer took no byte for as long as the stall timeout."""


class Outbox:
    """Replies of one connection, sent in order by `run`.

    Args:
        send: Writes bytes to the peer, all of them.
        bytes_max: Past this many waiting bytes `put` and `has_room` wait. One frame may overshoot it.
        stall_timeout_s: The longest a slice may take.
    """

    def __init__(self, send: Callable[[bytes], Awaitable[None]], *, bytes_max: int, stall_timeout_s: float) -> None:
        self._send = send
        self._bytes_max = bytes_max
        self._stall_timeout_s = stall_timeout_s
        self._frames: collections.deque[bytes] = collections.deque()
        self._waiting_bytes = 0
        self._is_finished = False
        self._changed = anyio.Event()

    @property
    def waiting_bytes(self) -> int:
        """Bytes that the peer has not taken yet."""
        return self._waiting_bytes

    async def has_room(self) -> None:
        """Wait until the buffer is below its bound."""
        while self._waiting_bytes >= self._bytes_max:
            await self._changed.wait()

    async def put(self, frame: bytes) -> None:
        """Queue a frame, waiting for room first."""
        await self.has_room()
        self._frames.append(frame)
        self._waiting_bytes += len(frame)
        self._notify()

    def try_put(self, frame: bytes) -> bool:
        """Queue a frame if there is room now; returns whether there was. Never waits."""
        if self._is_finished or self._waiting_bytes >= self._bytes_max:
            return False
        self._frames.append(frame)
        self._waiting_bytes += len(frame)
        self._notify()
        return True

    async def finish(self) -> None:
        """Take no more frames; return when the last byte is with the kernel."""
        self._is_finished = True
        self._notify()
        while self._waiting_bytes:
            await self._changed.wait()

    async def run(self) -> None:
        """Send frames until `finish`.

        Raises:
            PeerStalledError: The peer stopped reading.
        """
        while self._frames or not self._is_finished:
            if not self._frames:
                await self._changed.wait()
                continue
            frame = self._frames.popleft()
            for start in range(0, len(frame), SLICE_BYTES):
                piece = frame[start : start + SLICE_BYTES]
                await self._send_slice(piece)
                self._waiting_bytes -= len(piece)
                self._notify()

    async def _send_slice(self, piece: bytes) -> None:
        try:
            with anyio.fail_after(self._stall_timeout_s):
                await self._send(piece)
        except TimeoutError as error:
            message = f"the peer took nothing for {self._stall_timeout_s:g} s"
            raise PeerStalledError(message) from error

    def _notify(self) -> None:
        """Wake everyone who waits; whoever's condition does not hold yet waits on the next event."""
        self._changed.set()
        self._changed = anyio.Event()
