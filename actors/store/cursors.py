"""The cursor of a listing: where the last page ended, as one opaque word."""

from __future__ import annotations

import base64
import binascii
import hashlib
from typing import Final

import msgspec

from recalld.models.domain.errors import ErrorCode, RecalldError

_PREFIX: Final = b"c1"
_CHECK_BYTES: Final = 6


class PagePosition(msgspec.Struct, frozen=True, array_like=True):
    """The last memory of a page; the next page begins after it. Sorts like the listing does, turned round."""

    created_at_ms: int
    memory_id: str


def encode_cursor(position: PagePosition) -> str:
    """The position as URL-safe text."""
    body = msgspec.json.encode(position)
    return _as_text(_check(body) + body)


def decode_cursor(cursor: str) -> PagePosition:
    """The position in a cursor that `encode_cursor` made.

    Raises:
        RecalldError: `BAD_REQUEST` for anything else.
    """
    try:
        raw = base64.b64decode(cursor.encode("ascii") + b"=" * (-len(cursor) % 4), altchars=b"-_", validate=True)
        check, body = raw[:_CHECK_BYTES], raw[_CHECK_BYTES:]
        if check != _check(body) or _as_text(raw) != cursor:  # base64 can be written in several ways
            raise _refusal()
        return msgspec.json.decode(body, type=PagePosition)
    except (UnicodeEncodeError, binascii.Error, msgspec.DecodeError) as error:
        raise _refusal() from error


def _as_text(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).decode("ascii").rstrip("=")


def _check(body: bytes) -> bytes:
    """A checksum against damage and typing errors, not against forgery: a cursor grants nothing."""
    return hashlib.blake2b(_PREFIX + body, digest_size=_CHECK_BYTES).digest()


def _refusal() -> RecalldError:
    return RecalldError(
        ErrorCode.BAD_REQUEST, "`cursor` was not made by this store; leave it out to start from the newest memory."
    )
