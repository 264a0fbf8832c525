"""The pages of an export: memories, then observations, then proposals, each from where the page before ended."""

from __future__ import annotations

import enum
from collections.abc import Sequence

from recalld.actors.store.cursors import PagePosition, decode_cursor, encode_cursor
from recalld.models.domain.errors import ErrorCode, RecalldError


class ExportPart(enum.StrEnum):
    """The parts of an export, in order. The values stand in front of a cursor."""

    MEMORIES = "m"
    OBSERVATIONS = "o"
    PROPOSALS = "p"


_PARTS = tuple(ExportPart)
_SEPARATOR = "."
BEHIND_MEMORIES = f"{ExportPart.OBSERVATIONS}{_SEPARATOR}"
"""The cursor of what waits: everything but memories."""


def position_of(cursor: str | None) -> tuple[ExportPart, PagePosition | None]:
    """In which part a page lies, and behind what; None at the part's beginning.

    Raises:
        RecalldError: `BAD_REQUEST` for a cursor that no page gave.
    """
    if cursor is None:
        return ExportPart.MEMORIES, None
    part, separator, position = cursor.partition(_SEPARATOR)
    if part not in _PARTS or not separator:
        message = "`cursor` was not made by this store; leave it out to start from the oldest memory."
        raise RecalldError(ErrorCode.BAD_REQUEST, message)
    return ExportPart(part), decode_cursor(position) if position else None


def cursor_of(part: ExportPart, more: PagePosition | None) -> str | None:
    """The cursor of the next page: behind a position of the same part, or at the beginning of the next part."""
    if more is not None:
        return f"{part}{_SEPARATOR}{encode_cursor(more)}"
    place = _PARTS.index(part) + 1
    return f"{_PARTS[place]}{_SEPARATOR}" if place < len(_PARTS) else None


def next_page(
    found: Sequence[tuple[int, str]], after: PagePosition | None, size: int
) -> tuple[tuple[str, ...], PagePosition | None]:
    """The ids of a page, and behind what the next one begins; None where this is the last.

    Args:
        found: Times and ids, oldest first; those of the page and at least one more are enough.
        after: Where the page before ended.
        size: How many.
    """
    left = [each for each in found if after is None or each > (after.created_at_ms, after.memory_id)]
    page = left[:size]
    more = PagePosition(*page[-1]) if len(left) > size else None
    return tuple(each[1] for each in page), more
