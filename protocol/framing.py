"""Frames in a stream of bytes: bytes in, frames out, no I/O.

A frame is a 4-byte big-endian length and that many bytes of body. The length is judged as soon as its four bytes are
there, before any body, and memory grows only with bytes that really came.
"""

from __future__ import annotations

import msgspec

from recalld.protocol.errors import ErrorCode, WireError
from recalld.protocol.fields import FRAME_BYTES_MAX

HEADER_BYTES = 4


class Frame(msgspec.Struct, frozen=True):
    """A complete frame, without its header."""

    body: bytes


class NeedData(msgspec.Struct, frozen=True):
    """No complete frame yet; at least `missing_bytes` more must come."""

    missing_bytes: int


class FrameFault(msgspec.Struct, frozen=True):
    """The stream is no longer made of frames; nothing after this point can be read."""

    code: ErrorCode
    message: str


FrameEvent = Frame | NeedData | FrameFault


class FrameReader:
    """Cuts a stream into frames. Feed it with `receive`, then call `next_event` until it answers `NeedData` or a fault.

    Args:
        frame_bytes_max: Longest body accepted.
    """

    def __init__(self, frame_bytes_max: int = FRAME_BYTES_MAX) -> None:
        self._frame_bytes_max = frame_bytes_max
        self._buffer = bytearray()
        self._fault: FrameFault | None = None

    @property
    def is_mid_frame(self) -> bool:
        """Whether bytes are waiting for the rest of their frame (or have not been asked for yet)."""
        return bool(self._buffer)

    def receive(self, data: bytes) -> None:
        """Take bytes from the stream, in any cut. After a fault they are thrown away."""
        if self._fault is None:
            self._buffer += data

    def next_event(self) -> FrameEvent:
        """Return the next frame, the need for more bytes, or the fault; the fault again and again once there is one."""
        if self._fault is not None:
            return self._fault
        if len(self._buffer) < HEADER_BYTES:
            return NeedData(HEADER_BYTES - len(self._buffer))
        body_bytes = int.from_bytes(self._buffer[:HEADER_BYTES], "big")
        if body_bytes == 0:
            return self._fail(ErrorCode.BAD_FRAME, "a frame of length zero: every frame holds one MessagePack map")
        if body_bytes > self._frame_bytes_max:
            return self._fail(
                ErrorCode.FRAME_TOO_LARGE,
                f"a frame of {body_bytes} bytes: at most {self._frame_bytes_max} are accepted",
            )
        end = HEADER_BYTES + body_bytes
        if len(self._buffer) < end:
            return NeedData(end - len(self._buffer))
        body = bytes(memoryview(self._buffer)[HEADER_BYTES:end])
        del self._buffer[:end]
        return Frame(body)

    def finish(self) -> FrameFault | None:
        """Say that the stream has ended; return a fault when it ended inside a frame."""
        if self._fault is None and self._buffer:
            return self._fail(ErrorCode.BAD_FRAME, "the stream ended inside a frame")
        return self._fault

    def _fail(self, code: ErrorCode, message: str) -> FrameFault:
        self._buffer.clear()
        self._fault = FrameFault(code, message)
        return self._fault


def frame(body: bytes, frame_bytes_max: int = FRAME_BYTES_MAX) -> bytes:
    """Put the header in front of a body.

    Raises:
        WireError: `frame_too_large`, or `bad_frame` for an empty body.
    """
    if not body:
        raise WireError(ErrorCode.BAD_FRAME, "a frame cannot be empty")
    if len(body) > frame_bytes_max:
        raise WireError(
            ErrorCode.FRAME_TOO_LARGE, f"the message has {len(body)} bytes: at most {frame_bytes_max} fit a frame"
        )
    return len(body).to_bytes(HEADER_BYTES, "big") + body
