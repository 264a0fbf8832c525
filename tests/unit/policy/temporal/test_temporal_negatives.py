"""What looks like a time and is none, or is an impossible one."""

from __future__ import annotations

from collections.abc import Callable

import pytest

Read = Callable[..., list[tuple[str, str, str]]]

NOT_TEMPORAL = [
    "we march on",
    "March on, she said",
    "we march 3 miles",
    "the Women's March was huge",
    "it may work, and may not",
    "May I ask?",
    "May 3 people join?",
    "the state it is in may be wrong",
    "only 3 may enter",
    "wait a second",
    "the second one, in a minute",
    "the sun is up, I sat, we wed, a mon key",
    "Sun Microsystems; sat nav",
    "the day before committing",
    "clean up before committing and after merging",
    "last but not least",
    "a last minute change",
    "the next day we knew",
    "every Monday and each March",
    "on any given Sunday",
    "Black Friday and Good Friday",
    "Friday nights are loud",
    "April fools, may day",
    "past the station",
    "walk past 3 houses",
    "half an hour ago",
    "twenty three days ago",
    "2.5 hours ago",
    "1,000 days ago",
    "1,500 days ago",
    "at 10:30 hours ago",
    "3-4 days ago",
    "0 days ago",
    "ten thousand weeks",
    "in 2048 steps, since 2000 requests",
    "in 2099",
    "3000-2000",
    "last_week, lastweek, todayish",
    "src/yesterday/notes and C:\\today",
    "yesterday.py, today() and @tomorrow #monday",
    "log-2025-03-09.txt and 2025-03-09-backup",
    "v2025-03-09 and 2025-03-099 and 12025-03-09",
    "2024-2025",
    "1.2025-03-09",
    "since then, until now, ever since",
    "from A to B, between you and me",
    "the week before last Monday",
    "the day after March 3",
    "\u0663 days ago",
    "jan and dec are variables",
    "in oct notation",
    "",
]
IMPOSSIBLE = [
    "31 February",
    "on 31 February 2024",
    "February 31",
    "February 30th, 2024",
    "the 31st of April",
    "29 February 2023",
    "February 29, 2100",
    "February 45",
    "March 0, 2024",
    "2025-02-30",
    "2025-13-01",
    "2025-00-10",
    "2025-02-30T10:00",
    "2025-03-09T25:00",
    "2025-03-09T10:00:60",
    "2025-W54",
    "2025-W53",
    "2025-W10-8",
    "2025-13",
    "0000-01-01",
    "between 31 February and March 3",
    "from March 3 to February 31, 2024",
    "from February 31 to March 3",
    "between February 27 and 31",
    "between February 30 and 31",
    "since 31 February",
    "before 2025-02-30",
    "from March 9 to 3",
    "between yesterday and last week",
    "between 5 March and 2 March",
    "between March 5 and March 2",
    "from March 5 to March 2, 2021",
    "between March 2021 and January",
    "between March and February",
    "between June 5 and March 2",
    "from May to January 2",
    "between 2025-03-05 and 2025-03-02",
    "between 2021 and 2019",
    "9999 years ago",
    "past 9999 years",
    "until 9999-12-31",
]


@pytest.mark.parametrize("text", NOT_TEMPORAL)
def test_words_that_only_look_temporal_are_no_time(text: str, read: Read) -> None:
    assert read(text) == []


@pytest.mark.parametrize("text", IMPOSSIBLE)
def test_an_impossible_date_is_rejected_and_never_half_matched(text: str, read: Read) -> None:
    assert read(text) == []
    assert read(f"we met {text} in Rome") == []


PREFIXES = {
    "en": (
        "on of in the by during throughout since until before after last this next early late mid mid- around for from "
        "|the week of|on Monday,|up to|from yesterday to|in early|in the|on the"
    ),
    "de": "am im vom seit bis vor nach letzten diesen der den dem Anfang Mitte Ende |seit dem|bis zum|am Montag, dem",
    "fr": "le du en de depuis avant apr\u00e8s d\u00e9but fin ce |depuis le|jusqu'au|le lundi",
    "es": "el del de desde hasta en este a finales |antes del|desde el|a principios de|el lunes",
}
IMPOSSIBLE_DAYS = {
    "en": ["February 31", "February 31, 2024", "february 31st", "February the 30th", "31 February", "31st of February"],
    "de": ["31. Februar", "31. Februar 2024", "30 Februar"],
    "fr": ["31 f\u00e9vrier", "31 f\u00e9vrier 2024", "31 f\u00e9vrier dernier"],
    "es": ["31 de febrero", "31 de febrero de 2024", "31 febrero pasado"],
}


@pytest.mark.parametrize("language", PREFIXES)
def test_no_word_before_an_impossible_date_makes_half_of_it_count(language: str, read: Read) -> None:
    single, _, phrases = PREFIXES[language].partition("|")
    for prefix in [*single.split(), *phrases.split("|")]:
        for day in IMPOSSIBLE_DAYS[language]:
            text = f"x {prefix} {day}, and so on"
            assert read(text, language=language) == [], text


def test_an_impossible_date_does_not_hide_its_neighbours(read: Read) -> None:
    assert read("yesterday, 31 February and today") == [
        ("yesterday", "2025-03-12", "2025-03-13"),
        ("today", "2025-03-13", "2025-03-14"),
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("we may decide in May", "in May"),
        ("March 3 was when we may have marched", "March 3"),
        ("the second of March", "the second of March"),
        ("the week of March 3", "of March 3"),
        ("the March 3 release", "the March 3"),
        ("last march 3rd we met", "last march 3rd"),
        ("in March 30 people joined", "in March"),
        ("in the last week of January", "January"),
        ("2025-03-09 10:00-12:00 or 2025-03-10", "2025-03-10"),
    ],
)
def test_the_time_beside_a_look_alike_is_found(text: str, expected: str, read: Read) -> None:
    assert [found for found, _, _ in read(text)] == [expected]


def test_a_month_name_behind_a_time_word_counts_in_lower_case_too(read: Read) -> None:
    assert [found for found, _, _ in read("since march, until may, in may, last march")] == [
        "since march",
        "until may",
        "in may",
        "last march",
    ]
