"""The configured bounds of a standing block."""

from __future__ import annotations

import msgspec

from recalld.models.policy.standing.block import CHARS_MAX, ERROR_COST_WORDS, LINES_MAX, VALUE_MIN


class StandingLimits(msgspec.Struct, frozen=True, kw_only=True):
    """The configured bounds. See docs/operating.md for each."""

    is_on: bool = True
    max_chars: int = CHARS_MAX
    max_lines: int = LINES_MAX
    value_min: float = VALUE_MIN
    error_cost_words: float = ERROR_COST_WORDS
