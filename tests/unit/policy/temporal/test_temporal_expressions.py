"""The English expressions, one by one; today is Thursday 13 March 2025, ten o'clock, in Berlin."""

from __future__ import annotations

from collections.abc import Callable

import pytest

Read = Callable[..., list[tuple[str, str, str]]]

DAYS = [
    ("today", "2025-03-13", "2025-03-14"),
    ("yesterday", "2025-03-12", "2025-03-13"),
    ("tomorrow", "2025-03-14", "2025-03-15"),
    ("day before yesterday", "2025-03-11", "2025-03-12"),
    ("the day before yesterday", "2025-03-11", "2025-03-12"),
    ("the day after tomorrow", "2025-03-15", "2025-03-16"),
    ("tonight", "2025-03-13T18:00", "2025-03-14T06:00"),
    ("last night", "2025-03-12T18:00", "2025-03-13T06:00"),
    ("this morning", "2025-03-13T05:00", "2025-03-13T12:00"),
    ("this afternoon", "2025-03-13T12:00", "2025-03-13T18:00"),
    ("yesterday evening", "2025-03-12T18:00", "2025-03-13"),
    ("tomorrow morning", "2025-03-14T05:00", "2025-03-14T12:00"),
]
WEEKDAYS = [
    ("Monday", "2025-03-10", "2025-03-11"),
    ("on wednesday", "2025-03-12", "2025-03-13"),
    ("Thursday", "2025-03-06", "2025-03-07"),  # today is one: the past one is meant
    ("Friday", "2025-03-07", "2025-03-08"),
    ("on Sat", "2025-03-08", "2025-03-09"),
    ("last Saturday", "2025-03-08", "2025-03-09"),
    ("this past Saturday", "2025-03-08", "2025-03-09"),
    ("this Saturday", "2025-03-15", "2025-03-16"),
    ("next Saturday", "2025-03-15", "2025-03-16"),
    ("last Monday", "2025-03-10", "2025-03-11"),
    ("this Monday", "2025-03-10", "2025-03-11"),
    ("next Monday", "2025-03-17", "2025-03-18"),
    ("last Thursday", "2025-03-06", "2025-03-07"),
    ("this Thursday", "2025-03-13", "2025-03-14"),
    ("next Thursday", "2025-03-20", "2025-03-21"),
]
PERIODS = [
    ("this week", "2025-03-10", "2025-03-17"),
    ("last week", "2025-03-03", "2025-03-10"),
    ("next week", "2025-03-17", "2025-03-24"),
    ("the week before last", "2025-02-24", "2025-03-03"),
    ("the week after next", "2025-03-24", "2025-03-31"),
    ("last weekend", "2025-03-08", "2025-03-10"),
    ("this month", "2025-03-01", "2025-04-01"),
    ("last month", "2025-02-01", "2025-03-01"),
    ("next month", "2025-04-01", "2025-05-01"),
    ("this quarter", "2025-01-01", "2025-04-01"),
    ("last quarter", "2024-10-01", "2025-01-01"),
    ("next quarter", "2025-04-01", "2025-07-01"),
    ("this year", "2025-01-01", "2026-01-01"),
    ("last year", "2024-01-01", "2025-01-01"),
    ("next year", "2026-01-01", "2027-01-01"),
]
UNITS = [
    ("past 3 days", "2025-03-10T10:00", "2025-03-13T10:00"),
    ("in the last three days", "2025-03-10T10:00", "2025-03-13T10:00"),
    ("over the past week", "2025-03-06T10:00", "2025-03-13T10:00"),
    ("the past month", "2025-02-13T10:00", "2025-03-13T10:00"),
    ("past twelve months", "2024-03-13T10:00", "2025-03-13T10:00"),
    ("last couple of weeks", "2025-02-27T10:00", "2025-03-13T10:00"),
    ("past 90 minutes", "2025-03-13T08:30", "2025-03-13T10:00"),
    ("past 2 quarters", "2024-09-13T10:00", "2025-03-13T10:00"),
    ("a day ago", "2025-03-12", "2025-03-13"),
    ("3 days ago", "2025-03-10", "2025-03-11"),
    ("two weeks ago", "2025-02-24", "2025-03-03"),
    ("a couple of weeks ago", "2025-02-24", "2025-03-03"),
    ("a month ago", "2025-02-01", "2025-03-01"),
    ("eleven months ago", "2024-04-01", "2024-05-01"),
    ("two quarters ago", "2024-07-01", "2024-10-01"),
    ("a year ago", "2024-01-01", "2025-01-01"),
    ("an hour ago", "2025-03-13T08:30", "2025-03-13T09:30"),
    ("10 minutes ago", "2025-03-13T09:49:30", "2025-03-13T09:50:30"),
    ("recently", "2025-02-27T10:00", "2025-03-13T10:00"),
    ("lately", "2025-02-27T10:00", "2025-03-13T10:00"),
]
DATES = [
    ("January", "2025-01-01", "2025-02-01"),
    ("in March", "2025-03-01", "2025-04-01"),
    ("in may", "2024-05-01", "2024-06-01"),
    ("in Dec", "2024-12-01", "2025-01-01"),
    ("in early April", "2024-04-01", "2024-05-01"),
    ("mid-March", "2025-03-01", "2025-04-01"),
    ("last March", "2024-03-01", "2024-04-01"),
    ("last February", "2025-02-01", "2025-03-01"),
    ("this March", "2025-03-01", "2025-04-01"),
    ("next March", "2026-03-01", "2026-04-01"),
    ("next April", "2025-04-01", "2025-05-01"),
    ("March 2024", "2024-03-01", "2024-04-01"),
    ("in may of 2023", "2023-05-01", "2023-06-01"),
    ("March 13", "2025-03-13", "2025-03-14"),
    ("March 14", "2024-03-14", "2024-03-15"),
    ("on march 3", "2025-03-03", "2025-03-04"),
    ("March 3rd", "2025-03-03", "2025-03-04"),
    ("3 January", "2025-01-03", "2025-01-04"),
    ("the 3rd of March", "2025-03-03", "2025-03-04"),
    ("the first of May", "2024-05-01", "2024-05-02"),
    ("March 3, 2022", "2022-03-03", "2022-03-04"),
    ("3 march 2022", "2022-03-03", "2022-03-04"),
    ("on Monday, March 3, 2025", "2025-03-03", "2025-03-04"),
    ("in 2023", "2023-01-01", "2024-01-01"),
    ("2024-02-29", "2024-02-29", "2024-03-01"),
    ("2024-02", "2024-02-01", "2024-03-01"),
    ("2025-03-12T14:30", "2025-03-12T14:30", "2025-03-12T14:31"),
    ("2025-03-12 14:30:05", "2025-03-12T14:30:05", "2025-03-12T14:30:06"),
    ("2025-03-12T14:30Z", "2025-03-12T15:30", "2025-03-12T15:31"),
    ("2025-03-12T14:30:00-05:00", "2025-03-12T20:30", "2025-03-12T20:30:01"),
    ("2025-03-12T14:30:00.250+0100", "2025-03-12T14:30", "2025-03-12T14:30:01"),
]
RANGES = [
    ("between March 3 and March 9", "2025-03-03", "2025-03-10"),
    ("from March 3 to March 9", "2025-03-03", "2025-03-10"),
    ("between March 3 and 9", "2025-03-03", "2025-03-10"),
    ("March 3-9", "2025-03-03", "2025-03-10"),
    ("March 3\u20139, 2022", "2022-03-03", "2022-03-10"),
    ("from 3 to 9 March", "2025-03-03", "2025-03-10"),
    ("between March 3 and March 9, 2021", "2021-03-03", "2021-03-10"),
    ("from March 3 to March 9, 2030", "2030-03-03", "2030-03-10"),
    ("from March 10 to March 20", "2025-03-10", "2025-03-21"),  # ends in the future: it is still this year's
    ("from December to February", "2024-12-01", "2025-03-01"),
    ("from December 20 to January 5", "2024-12-20", "2025-01-06"),
    ("between December and February", "2024-12-01", "2025-03-01"),
    ("between October and March", "2024-10-01", "2025-04-01"),  # half a year is the most
    ("from October 2023 to February", "2023-10-01", "2024-03-01"),
    ("from March 5 2022 to March 2 2023", "2022-03-05", "2023-03-03"),  # both years are told
    ("from December to March 2022", "2021-12-01", "2022-04-01"),
    ("between Monday and Wednesday", "2025-03-10", "2025-03-13"),
    ("from Friday to Monday", "2025-03-07", "2025-03-11"),
    ("from Monday to yesterday", "2025-03-10", "2025-03-13"),
    ("Friday to 2025-03-06", "2025-02-28", "2025-03-07"),
    ("from last Monday until today", "2025-03-10", "2025-03-14"),
    ("between 2019 and 2021", "2019-01-01", "2022-01-01"),
    ("2025-03-01..2025-03-07", "2025-03-01", "2025-03-08"),
    ("since Monday", "2025-03-10", "..."),
    ("since may", "2024-05-01", "..."),
    ("ever since 2019", "2019-01-01", "..."),
    ("since last week", "2025-03-03", "..."),
    ("from yesterday on", "2025-03-12", "..."),
    ("until Friday", "...", "2025-03-08"),
    ("up to March 3", "...", "2025-03-04"),
    ("before Monday", "...", "2025-03-10"),
    ("prior to 2024-05-05", "...", "2024-05-05"),
    ("after yesterday", "2025-03-13", "..."),
    ("after February", "2025-03-01", "..."),
]


@pytest.mark.parametrize(("text", "start", "end"), [*DAYS, *WEEKDAYS, *PERIODS, *UNITS, *DATES, *RANGES])
def test_an_expression_means_its_local_interval_wherever_it_stands(text: str, start: str, end: str, read: Read) -> None:
    expected = [(text, start, end)]
    assert read(text) == expected
    assert read(f"Tell me what we did {text}, please.") == expected
    assert read(f"({text})") == expected


@pytest.mark.parametrize(
    "text", ["YESTERDAY", "Yesterday", "yesterday's notes", "yesterday.", "\u201cyesterday\u201d", "so **yesterday**"]
)
def test_case_and_punctuation_do_not_matter(text: str, read: Read) -> None:
    assert [(start, end) for _, start, end in read(text)] == [("2025-03-12", "2025-03-13")]


def test_several_expressions_come_in_text_order_without_overlap(read: Read) -> None:
    text = "Yesterday I asked about last week, not about March 2024 or the day before yesterday; since Monday it works"
    assert read(text) == [
        ("Yesterday", "2025-03-12", "2025-03-13"),
        ("last week", "2025-03-03", "2025-03-10"),
        ("March 2024", "2024-03-01", "2024-04-01"),
        ("the day before yesterday", "2025-03-11", "2025-03-12"),
        ("since Monday", "2025-03-10", "..."),
    ]


def test_the_longest_phrase_wins(read: Read) -> None:
    assert [text for text, _, _ in read("from 3 days ago to yesterday morning")] == [
        "from 3 days ago to yesterday morning"
    ]
    assert [text for text, _, _ in read("on Monday, March 3, 2025")] == ["on Monday, March 3, 2025"]


def test_a_possessive_belongs_to_no_span(read: Read) -> None:
    assert read("where is this week's build tool?") == [("this week", "2025-03-10", "2025-03-17")]


def test_a_phrase_may_go_over_a_line_break_but_not_over_a_blank_line(read: Read) -> None:
    assert read("two\nweeks ago") == [("two\nweeks ago", "2025-02-24", "2025-03-03")]
    assert read("two\n\nweeks ago") == []


def test_the_first_day_of_the_week_is_monday_on_a_sunday_too(read: Read) -> None:
    assert read("this week", "2025-03-16T10:00") == [("this week", "2025-03-10", "2025-03-17")]
    assert read("last weekend", "2025-03-16T10:00") == [("last weekend", "2025-03-08", "2025-03-10")]
