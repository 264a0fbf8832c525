"""The closed list of error codes, and the one exception this package raises about messages."""

from __future__ import annotations

import enum


class ErrorCode(enum.StrEnum):
    """What an `error` reply may say. The list is closed: a new code needs a new protocol version."""

    BAD_FRAME = "bad_frame"
    """The bytes are no frame, or the frame holds no MessagePack map."""
    FRAME_TOO_LARGE = "frame_too_large"
    BAD_REQUEST = "bad_request"
    """A field is missing, of the wrong type or too long; the message has its path."""
    UNSUPPORTED_VERSION = "unsupported_version"
    HELLO_REQUIRED = "hello_required"
    FORBIDDEN = "forbidden"
    """The peer's uid may not act for the named user."""
    UNKNOWN_USER = "unknown_user"
    NOT_FOUND = "not_found"
    CONFLICT = "conflict"
    BUSY = "busy"
    STORAGE_FULL = "storage_full"
    STORAGE_UNAVAILABLE = "storage_unavailable"
    DRAINING = "draining"
    """The daemon is stopping; another one may take over soon."""
    INTERNAL = "internal"


RETRYABLE_CODES = frozenset({ErrorCode.BUSY, ErrorCode.STORAGE_FULL, ErrorCode.STORAGE_UNAVAILABLE, ErrorCode.DRAINING})
"""Codes after which the same request may succeed later without being changed."""


class WireError(Exception):
    """A message that cannot be read or written.

    Attributes:
        code: `bad_frame`, `frame_too_large` or `bad_request`.
        message: One sentence that names the field or thing at fault.
        request_id: The `id` of the message at fault where it could be read, so that its asker can be told.
    """

    def __init__(self, code: ErrorCode, message: str, *, request_id: int | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.request_id = request_id
