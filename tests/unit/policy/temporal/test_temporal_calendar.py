"""Months of unequal length, leap days, ISO weeks and clock changes."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, timedelta

import pytest

from recalld.models.policy.temporal import TimeSpan
from recalld.models.policy.temporal.local_calendar import add_months, days_of_month

Read = Callable[..., list[tuple[str, str, str]]]
SpansOf = Callable[..., tuple[TimeSpan, ...]]

HOUR_MS = 3_600_000
ENDS_OF_MONTHS = [
    # today, the same day a month back (clamped)
    ("2025-01-29", "2024-12-29"),
    ("2025-01-30", "2024-12-30"),
    ("2025-01-31", "2024-12-31"),
    ("2025-02-28", "2025-01-28"),
    ("2024-02-29", "2024-01-29"),
    ("2025-03-29", "2025-02-28"),
    ("2025-03-30", "2025-02-28"),
    ("2025-03-31", "2025-02-28"),
    ("2024-03-29", "2024-02-29"),
    ("2024-03-30", "2024-02-29"),
    ("2024-03-31", "2024-02-29"),
    ("2025-04-29", "2025-03-29"),
    ("2025-04-30", "2025-03-30"),
    ("2025-05-29", "2025-04-29"),
    ("2025-05-30", "2025-04-30"),
    ("2025-05-31", "2025-04-30"),
    ("2025-06-29", "2025-05-29"),
    ("2025-06-30", "2025-05-30"),
    ("2025-07-29", "2025-06-29"),
    ("2025-07-30", "2025-06-30"),
    ("2025-07-31", "2025-06-30"),
    ("2025-08-29", "2025-07-29"),
    ("2025-08-30", "2025-07-30"),
    ("2025-08-31", "2025-07-31"),
    ("2025-09-29", "2025-08-29"),
    ("2025-09-30", "2025-08-30"),
    ("2025-10-29", "2025-09-29"),
    ("2025-10-30", "2025-09-30"),
    ("2025-10-31", "2025-09-30"),
    ("2025-11-29", "2025-10-29"),
    ("2025-11-30", "2025-10-30"),
    ("2025-12-29", "2025-11-29"),
    ("2025-12-30", "2025-11-30"),
    ("2025-12-31", "2025-11-30"),
]


@pytest.mark.parametrize(("today", "month_back"), ENDS_OF_MONTHS)
def test_month_arithmetic_clamps_on_the_29th_to_31st(today: str, month_back: str, read: Read) -> None:
    now = f"{today}T12:00"
    first = date.fromisoformat(month_back).replace(day=1)
    this_first = date.fromisoformat(today).replace(day=1)
    whole_month = (first.isoformat(), this_first.isoformat())
    assert read("past one month", now) == [("past one month", f"{month_back}T12:00", now)]
    assert read("a month ago", now) == [("a month ago", *whole_month)]
    assert read("last month", now) == [("last month", *whole_month)]


def test_every_month_has_its_days() -> None:
    assert [days_of_month(2025, month) for month in range(1, 13)] == [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
    assert [days_of_month(year, 2) for year in (1900, 2000, 2024, 2100)] == [28, 29, 29, 28]
    assert add_months(date(2024, 2, 29), 12) == date(2025, 2, 28)
    assert add_months(date(2024, 12, 31), 2) == date(2025, 2, 28)


@pytest.mark.parametrize(
    ("today", "start"),
    [
        ("2024-02-28", "2020-02-29"),
        ("2024-02-29", "2024-02-29"),
        ("2025-03-13", "2024-02-29"),
        ("2027-12-31", "2024-02-29"),
        ("2103-01-01", "2096-02-29"),  # 2100 is no leap year
    ],
)
def test_a_leap_day_without_a_year_is_the_last_one_that_was(today: str, start: str, read: Read) -> None:
    end = (date.fromisoformat(start) + timedelta(days=1)).isoformat()
    assert read("February 29", f"{today}T12:00") == [("February 29", start, end)]


def test_a_year_before_a_leap_day_is_a_whole_calendar_year(read: Read) -> None:
    assert read("a year ago", "2024-02-29T12:00") == [("a year ago", "2023-01-01", "2024-01-01")]
    assert read("past 1 year", "2024-02-29T12:00") == [("past 1 year", "2023-02-28T12:00", "2024-02-29T12:00")]


@pytest.mark.parametrize(
    ("text", "today", "start", "end"),
    [
        ("this week", "2025-01-01", "2024-12-30", "2025-01-06"),
        ("last week", "2025-01-01", "2024-12-23", "2024-12-30"),
        ("this week", "2021-01-03", "2020-12-28", "2021-01-04"),
        ("last week", "2021-01-04", "2020-12-28", "2021-01-04"),
        ("next week", "2024-12-29", "2024-12-30", "2025-01-06"),
        ("a week ago", "2025-01-05", "2024-12-23", "2024-12-30"),
        ("2020-W53", "2025-03-13", "2020-12-28", "2021-01-04"),
        ("2021-W01", "2025-03-13", "2021-01-04", "2021-01-11"),
        ("2025-W01", "2025-03-13", "2024-12-30", "2025-01-06"),
        ("2025-W01-2", "2025-03-13", "2024-12-31", "2025-01-01"),
        ("last quarter", "2025-01-31", "2024-10-01", "2025-01-01"),
        ("last Wednesday", "2025-01-01", "2024-12-25", "2024-12-26"),
        ("last December", "2025-12-15", "2024-12-01", "2025-01-01"),
    ],
)
def test_weeks_and_quarters_go_across_the_end_of_a_year(
    text: str, today: str, start: str, end: str, read: Read
) -> None:
    assert read(text, f"{today}T12:00") == [(text, start, end)]


@pytest.mark.parametrize(
    ("zone", "day", "hours"),
    [
        ("Europe/Berlin", "2025-03-30", 23),
        ("Europe/Berlin", "2025-10-26", 25),
        ("Europe/Berlin", "2025-10-27", 24),
        ("America/New_York", "2025-03-09", 23),
        ("America/New_York", "2025-11-02", 25),
        ("America/New_York", "2025-11-03", 24),
        ("Africa/Cairo", "2025-04-25", 23),  # midnight itself is skipped
        ("America/Havana", "2025-11-02", 25),  # midnight itself occurs twice
        ("Australia/Lord_Howe", "2025-04-06", 24.5),
    ],
)
def test_a_day_with_a_clock_change_has_its_own_length(zone: str, day: str, hours: float, spans_of: SpansOf) -> None:
    following = (date.fromisoformat(day) + timedelta(days=1)).isoformat()
    later = (date.fromisoformat(day) + timedelta(days=2)).isoformat()
    for text, now in ((day, day), ("today", day), ("yesterday", following), ("2 days ago", later)):
        (span,) = spans_of(text, f"{now}T12:00", zone=zone)
        assert span.start_ms is not None
        assert span.end_ms is not None
        assert span.end_ms - span.start_ms == hours * HOUR_MS


@pytest.mark.parametrize("zone", ["Europe/Berlin", "America/New_York", "Africa/Cairo", "America/Havana"])
def test_neighbouring_days_meet_without_gap_or_overlap_all_year(zone: str, spans_of: SpansOf) -> None:
    day, end_ms = date(2025, 1, 1), None
    while day.year == 2025:
        (span,) = spans_of(day.isoformat(), zone=zone)
        assert end_ms is None or span.start_ms == end_ms
        end_ms = span.end_ms
        day += timedelta(days=1)


@pytest.mark.parametrize(
    ("zone", "moment", "start", "minutes"),
    [
        ("Europe/Berlin", "2025-03-30T02:30", "2025-03-30T03:30", 1),
        ("America/New_York", "2025-03-09T02:30", "2025-03-09T03:30", 1),
        ("Europe/Berlin", "2025-10-26T02:30", "2025-10-26T02:30", 61),
        ("America/New_York", "2025-11-02T01:30", "2025-11-02T01:30", 61),
        ("America/New_York", "2025-11-02T02:30", "2025-11-02T02:30", 1),
    ],
)
def test_a_skipped_time_moves_on_and_a_repeated_time_covers_both(
    zone: str, moment: str, start: str, minutes: int, spans_of: SpansOf, read: Read
) -> None:
    (span,) = spans_of(moment, zone=zone)
    assert span.start_ms is not None
    assert span.end_ms is not None
    assert read(moment, zone=zone)[0][1] == start
    assert span.end_ms - span.start_ms == minutes * 60_000


def test_rolling_days_keep_the_wall_clock_time_and_hours_are_durations(read: Read) -> None:
    now = "2025-03-30T12:00"  # the clock went forward in the night
    assert read("past 1 day", now) == [("past 1 day", "2025-03-29T12:00", now)]
    assert read("past 24 hours", now) == [("past 24 hours", "2025-03-29T11:00", now)]
    assert read("12 hours ago", now) == [("12 hours ago", "2025-03-29T22:30", "2025-03-29T23:30")]


def test_a_day_that_a_zone_left_out_is_impossible(read: Read) -> None:
    assert read("2011-12-30", zone="Pacific/Apia") == []
    assert read("2011-12-29 and 2011-12-31", zone="Pacific/Apia") == [
        ("2011-12-29", "2011-12-29", "2011-12-31"),
        ("2011-12-31", "2011-12-31", "2012-01-01"),
    ]


def test_the_day_is_the_askers_and_not_that_of_utc(read: Read) -> None:
    assert read("today", "2025-03-13T00:30", zone="Pacific/Kiritimati") == [("today", "2025-03-13", "2025-03-14")]
    assert read("today", "2025-03-12T23:30", zone="America/New_York") == [("today", "2025-03-12", "2025-03-13")]
