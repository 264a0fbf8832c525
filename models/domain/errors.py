"""The one tree of operating errors.

Four kinds of trouble are kept apart (see CONTRIBUTING.md): outcomes expected in normal running are values with reason
enums; operating errors are `RecalldError`; broken invariants are `InvariantError`; cancellation is not an error.
"""

from __future__ import annotations

import enum


class ErrorCode(enum.StrEnum):
    """The closed list of error codes; the values are the wire vocabulary."""

    BAD_FRAME = "bad_frame"
    FRAME_TOO_LARGE = "frame_too_large"
    BAD_REQUEST = "bad_request"
    UNSUPPORTED_VERSION = "unsupported_version"
    HELLO_REQUIRED = "hello_required"
    FORBIDDEN = "forbidden"
    UNKNOWN_USER = "unknown_user"
    NOT_FOUND = "not_found"
    CONFLICT = "conflict"
    BUSY = "busy"
    STORAGE_FULL = "storage_full"
    STORAGE_UNAVAILABLE = "storage_unavailable"
    DRAINING = "draining"
    INTERNAL = "internal"


RETRYABLE_CODES = frozenset({ErrorCode.BUSY, ErrorCode.STORAGE_FULL, ErrorCode.STORAGE_UNAVAILABLE, ErrorCode.DRAINING})
"""Codes after which the same request may succeed later without being changed."""


class RecalldError(Exception):
    """An operating error that a caller can be told about.

    Attributes:
        code: What went wrong, from the closed list.
        message: One sentence that names the field or thing and the remedy.
    """

    def __init__(self, code: ErrorCode, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message

    @property
    def retryable(self) -> bool:
        """Whether the same request may succeed later."""
        return self.code in RETRYABLE_CODES


class InvariantError(AssertionError):
    """A broken invariant: raised in production too, and kills the actor it happens in."""


class ScoreStopped(Exception):  # noqa: N818 (not an error: the caller asked for it)
    """A running inference was abandoned because its caller set the stop flag."""
