"""No text raises, and every span is well-formed."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recalld.models.policy.temporal import LANGUAGES, TEXT_CHARS_MAX, TimeSpan, find_intervals
from recalld.models.policy.temporal.find import SPANS_MAX

SpansOf = Callable[..., tuple[TimeSpan, ...]]

ZONES = [ZoneInfo(key) for key in ("UTC", "Europe/Berlin", "America/New_York", "Africa/Cairo", "Pacific/Apia")]
SALAD = (
    "yesterday last this next past March may february Monday Sat week month year days hours ago 3 31 29 29th 2024 "
    "2024-02-30 2024-02-29 2024-W53 2025-03-09T02:30 from to between and since until before after the of in on a two "
    "couple recently , . - ' / \n bis vor letzten drei Tagen M\u00e4rz il y a deux jours hier hace d\u00edas de mayo"
)
WORDS = SALAD.split(" ")


def check(text: str, spans: tuple[TimeSpan, ...]) -> None:
    assert len(spans) <= SPANS_MAX
    for span in spans:
        assert text[span.text_start : span.text_end] == span.text
        assert span.text_start < TEXT_CHARS_MAX
        assert span.text == span.text.strip()
        assert 0.0 < span.confidence <= 1.0
        assert span.start_ms is None or span.end_ms is None or span.start_ms < span.end_ms
    for before, after in itertools.pairwise(spans):
        assert before.text_end <= after.text_start


NOWS = st.datetimes(datetime(1971, 1, 1), datetime(2100, 1, 1), timezones=st.sampled_from(ZONES))  # noqa: DTZ001 - Hypothesis attaches the zone


@settings(deadline=None)  # the first example compiles the word tables
@given(st.text(st.characters(), max_size=200), NOWS, st.sampled_from(ZONES), st.sampled_from(LANGUAGES))
def test_any_text_gives_well_formed_spans(text: str, now: datetime, zone: ZoneInfo, language: str) -> None:
    check(text, find_intervals(text, now=now, zone=zone, language=language))


@settings(deadline=None)  # as above
@given(st.lists(st.sampled_from(WORDS), max_size=30), NOWS, st.sampled_from(ZONES), st.sampled_from(LANGUAGES))
def test_any_salad_of_time_words_gives_well_formed_spans(
    words: list[str], now: datetime, zone: ZoneInfo, language: str
) -> None:
    text = " ".join(words)
    check(text, find_intervals(text, now=now, zone=zone, language=language))


@settings(deadline=None)  # as above
@given(st.integers(1, 9999), st.integers(0, 13), st.integers(0, 32), NOWS)
def test_a_date_is_found_exactly_when_it_exists(year: int, month: int, day: int, now: datetime) -> None:
    written = f"{year:04}-{month:02}-{day:02}"
    found = find_intervals(written, now=now, zone=ZoneInfo("UTC"))
    try:
        expected = datetime(year, month, day, tzinfo=UTC)
    except ValueError:
        assert found == ()
        return
    if written != "9999-12-31":  # the day that no calendar here can end
        assert [span.start_ms for span in found] == [round(expected.timestamp()) * 1000]


HOSTILE_UNITS = [
    "a",
    "3 ",
    "march 3 ",
    "31 February ",
    "from ",
    "from 3 to ",
    "between march 3 and ",
    "monday to ",
    "since ",
    "on monday , ",
    "2025-01-",
    "2025-01-01T",
    "twenty - ",
    "- ",
    " ",
    "\n",
    "'",
    "\u0301",
]


@pytest.mark.parametrize("unit", HOSTILE_UNITS)
def test_a_hostile_megabyte_costs_no_more_than_its_head(unit: str, spans_of: SpansOf) -> None:
    text = unit * (2**20 // len(unit))
    spans = spans_of(text)
    check(text, spans)
    assert spans == spans_of(text[: 2 * TEXT_CHARS_MAX])


def test_only_the_head_of_a_long_text_is_looked_at(spans_of: SpansOf) -> None:
    filler = "x " * (TEXT_CHARS_MAX // 2)
    assert spans_of(f"{filler[:-2]} yesterday")
    assert not spans_of(f"{filler} yesterday")


def test_an_expression_that_starts_before_the_cap_is_never_cut_in_half(spans_of: SpansOf) -> None:
    for text in ("from March 3, 2024 to March 9, 2024", "February 31, 2024"):
        for shift in range(len(text) + 1):
            filler = ("x " * TEXT_CHARS_MAX)[: TEXT_CHARS_MAX - shift - 1] + " "
            found = [span.text for span in spans_of(f"{filler}{text}") if span.text_start <= TEXT_CHARS_MAX - shift]
            assert found == ([] if shift == 0 else [span.text for span in spans_of(text)])


def test_the_number_of_spans_is_bounded(spans_of: SpansOf) -> None:
    assert len(spans_of("yesterday, " * (SPANS_MAX + 1))) == SPANS_MAX
