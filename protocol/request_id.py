"""The id of a request that cannot be decoded: its asker waits for an answer with that id.

The decoder gives up a message as a whole, for one string that is no UTF-8 or a value nested too deeply. The id usually
stands at the beginning, before whatever is wrong; so the first entries of the map are read by hand, up to the first
that is not simple.
Source of the format: the MessagePack specification, https://github.com/msgpack/msgpack/blob/master/spec.md.
"""

from __future__ import annotations

from typing import Final

from recalld.protocol.fields import REQUEST_ID_MAX

ENTRIES_MAX: Final = 32
"""Entries looked at: more than any request has fields."""

_KEY: Final = b"id"
_UNSIGNED_BYTES: Final = {0xCC: 1, 0xCD: 2, 0xCE: 4, 0xCF: 8}
_SIGNED_BYTES: Final = {0xD0: 1, 0xD1: 2, 0xD2: 4, 0xD3: 8}
_PLAIN_BYTES: Final = {0xC0: 0, 0xC2: 0, 0xC3: 0, 0xCA: 4, 0xCB: 8, **_UNSIGNED_BYTES, **_SIGNED_BYTES}
"""Bytes after the first of nil, the booleans, floats and integers."""
_LENGTH_BYTES: Final = {0xC4: 1, 0xC5: 2, 0xC6: 4, 0xD9: 1, 0xDA: 2, 0xDB: 4}
"""Bytes of the length of binary data and strings."""
_MAP_HEADER_BYTES: Final = {0xDE: 3, 0xDF: 5}


def find_request_id(body: bytes) -> int | None:
    """The id in a MessagePack map, if it stands before anything that cannot be skipped.

    Cost: at most `ENTRIES_MAX` steps, however long the body is.
    """
    position = _MAP_HEADER_BYTES.get(body[0], 1) if body else 0
    for _ in range(ENTRIES_MAX):
        value_at = _end_of(body, position)
        if value_at is None:
            return None
        if body[position:value_at] == bytes((0xA0 | len(_KEY),)) + _KEY:
            return _request_id(body, value_at)
        end = _end_of(body, value_at)
        if end is None:
            return None
        position = end
    return None


def _end_of(body: bytes, start: int) -> int | None:
    """Where a simple value ends; None for a map, an array or an extension, and where the body is too short."""
    if start >= len(body):
        return None
    first = body[start]
    if first <= 0x7F or first >= 0xE0:
        end = start + 1
    elif 0xA0 <= first <= 0xBF:
        end = start + 1 + (first & 0x1F)
    elif first in _PLAIN_BYTES:
        end = start + 1 + _PLAIN_BYTES[first]
    elif first in _LENGTH_BYTES:
        content_at = start + 1 + _LENGTH_BYTES[first]
        end = content_at + int.from_bytes(body[start + 1 : content_at], "big")
    else:
        return None
    return end if end <= len(body) else None


def _request_id(body: bytes, start: int) -> int | None:
    """A valid request id that stands there, else None."""
    end = _end_of(body, start)
    if end is None:
        return None
    first = body[start]
    if first <= 0x7F:
        return first
    if first in _UNSIGNED_BYTES or first in _SIGNED_BYTES:
        value = int.from_bytes(body[start + 1 : end], "big", signed=first in _SIGNED_BYTES)
        return value if 0 <= value <= REQUEST_ID_MAX else None
    return None
