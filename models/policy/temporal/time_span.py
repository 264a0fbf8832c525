"""A stretch of time that a text speaks of, and what it is worth to a memory that falls into it."""

from __future__ import annotations

import enum
from collections.abc import Iterable

import msgspec

BOOST_MAX = 1.3
"""The factor of a memory inside a span of full confidence. A raise of three tenths at most reorders near neighbours and
lets no unrelated memory overtake a good match."""


class TemporalRule(enum.StrEnum):
    """The rules of the grammar, the same in every language."""

    DAY = "day"
    """today, yesterday, the day after tomorrow."""
    DAY_PART = "day_part"
    """this morning, last night."""
    PERIOD = "period"
    """this, last or next week, month, quarter, year, weekend."""
    WEEKDAY = "weekday"
    """Monday."""
    RELATIVE_WEEKDAY = "relative_weekday"
    """this, last or next Monday."""
    MONTH = "month"
    """March, March 2024."""
    RELATIVE_MONTH = "relative_month"
    """this, last or next March."""
    MONTH_DAY = "month_day"
    """March 3, 3 March 2024."""
    MONTH_DAYS = "month_days"
    """March 3 to 9."""
    YEAR = "year"
    """in 2024."""
    NUMERIC_DATE = "numeric_date"
    """3.3.2024, in the languages that write the day first."""
    ISO = "iso"
    """2024-03-03, 2024-03-03T10:00Z, 2024-03, 2024-W10."""
    PAST_UNITS = "past_units"
    """the past three days."""
    UNITS_AGO = "units_ago"
    """three days ago."""
    RECENTLY = "recently"
    """recently, lately."""
    RANGE = "range"
    """from … to …, between … and …."""
    SINCE = "since"
    UNTIL = "until"
    BEFORE = "before"
    AFTER = "after"


class TimeSpan(msgspec.Struct, frozen=True, kw_only=True):
    """One expression of time in a text. The interval is half-open: `start_ms` belongs to it, `end_ms` does not.

    Raises:
        ValueError: The interval is empty or has no bound, the text position is empty, or the confidence is not in
            (0, 1].
    """

    start_ms: int | None
    """Unix epoch milliseconds; None: unbounded."""
    end_ms: int | None
    """Unix epoch milliseconds; None: unbounded."""
    text_start: int
    text_end: int
    """Characters of the text, half-open."""
    text: str
    """The words themselves, as written."""
    confidence: float
    """In (0, 1]: how sure it is that the words mean this interval. Set by hand per rule, not measured."""
    rule: TemporalRule

    def __post_init__(self) -> None:
        if self.start_ms is None and self.end_ms is None:
            message = "start_ms, end_ms: a span of all time says nothing; give at least one bound"
            raise ValueError(message)
        if self.start_ms is not None and self.end_ms is not None and self.start_ms >= self.end_ms:
            message = f"end_ms: {self.end_ms} is not after start_ms {self.start_ms}; give a later end"
            raise ValueError(message)
        if not 0 <= self.text_start < self.text_end:
            message = f"text_end: {self.text_start} to {self.text_end} covers no text; give a later end"
            raise ValueError(message)
        if not 0.0 < self.confidence <= 1.0:
            message = f"confidence: {self.confidence} is not above 0 and at most 1"
            raise ValueError(message)


def overlaps(span: TimeSpan, at_ms: int) -> bool:
    """Whether the instant `at_ms` (Unix epoch milliseconds) lies in the span."""
    return (span.start_ms is None or span.start_ms <= at_ms) and (span.end_ms is None or at_ms < span.end_ms)


def boost(spans: Iterable[TimeSpan], created_at_ms: int, *, boost_max: float = BOOST_MAX) -> float:
    """How much the ordering score of a memory is raised because its time falls into one of the spans.

    The factor is 1 + (boost_max - 1) · confidence of the surest span that holds the memory, so it lies in
    [1, boost_max]; outside every span it is 1. Nobody is ever lowered, and several spans do not add up.

    Args:
        spans: What the text speaks of.
        created_at_ms: When the memory was made, Unix epoch milliseconds.
        boost_max: The factor at full confidence, at least 1.

    Raises:
        ValueError: `boost_max` is below 1 (or not a number).
    """
    if not boost_max >= 1.0:
        message = f"boost_max: {boost_max} would lower scores; give at least 1"
        raise ValueError(message)
    surest = max((span.confidence for span in spans if overlaps(span, created_at_ms)), default=0.0)
    return 1.0 + (boost_max - 1.0) * surest
