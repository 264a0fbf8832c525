"""Which memories a listing shows."""

from __future__ import annotations

import unicodedata
from typing import Final

from recalld.models.domain.errors import ErrorCode, RecalldError

PAGE_MAX: Final = 1_000
"""Largest page of a listing: at most eight megabytes of text, held in memory twice while it is encoded."""


def folded(text: str) -> str:
    """Text for comparison without regard to case or to how accents are composed (Unicode 3.13, canonical caseless)."""
    return unicodedata.normalize("NFD", unicodedata.normalize("NFD", text).casefold())


def contains_folded(text: str, needle: str) -> bool:
    """Whether `text` contains `needle` literally, without regard to case. An empty needle is contained in all text."""
    return folded(needle) in folded(text)


def checked_limit(limit: int) -> int:
    """The limit of a page.

    Raises:
        RecalldError: `BAD_REQUEST` unless it is between 1 and `PAGE_MAX`.
    """
    if 1 <= limit <= PAGE_MAX:
        return limit
    raise RecalldError(ErrorCode.BAD_REQUEST, f"`limit` is {limit}; ask for 1 to {PAGE_MAX} memories.")
