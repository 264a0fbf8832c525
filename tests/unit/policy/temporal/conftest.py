"""Reads a text at a given local time and answers with local ISO strings."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from recalld.models.policy.temporal import TimeSpan, find_intervals

Found = list[tuple[str, str, str]]
"""Text, start and end of each span: a date for a local midnight, a date-time otherwise, `...` for no bound."""
Read = Callable[..., Found]


def local_iso(at_ms: int | None, zone: ZoneInfo) -> str:
    if at_ms is None:
        return "..."
    local = (datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=at_ms)).astimezone(zone)
    written = local.replace(tzinfo=None).isoformat(timespec="minutes" if local.second == 0 else "seconds")
    return written.removesuffix("T00:00")


@pytest.fixture(scope="session")
def read() -> Read:
    """Thursday 13 March 2025, ten in the morning in Berlin, unless told otherwise."""

    def read_text(
        text: str, now: str = "2025-03-13T10:00", *, zone: str = "Europe/Berlin", language: str = "en"
    ) -> Found:
        spans = read_spans(text, now, zone=zone, language=language)
        return [
            (span.text, local_iso(span.start_ms, ZoneInfo(zone)), local_iso(span.end_ms, ZoneInfo(zone)))
            for span in spans
        ]

    return read_text


@pytest.fixture(scope="session")
def spans_of() -> Callable[..., tuple[TimeSpan, ...]]:
    return read_spans


def read_spans(
    text: str, now: str = "2025-03-13T10:00", *, zone: str = "Europe/Berlin", language: str = "en"
) -> tuple[TimeSpan, ...]:
    local_now = datetime.fromisoformat(now).replace(tzinfo=ZoneInfo(zone))
    return find_intervals(text, now=local_now, zone=ZoneInfo(zone), language=language)
