from __future__ import annotations

from collections.abc import Callable

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recalld.models.policy.temporal import TemporalRule, TimeSpan, boost, overlaps
from recalld.models.policy.temporal.time_span import BOOST_MAX

SpansOf = Callable[..., tuple[TimeSpan, ...]]

SPAN = TimeSpan(
    start_ms=1000, end_ms=2000, text_start=0, text_end=5, text="today", confidence=0.5, rule=TemporalRule.DAY
)
SINCE = msgspec.structs.replace(SPAN, end_ms=None)
UNTIL = msgspec.structs.replace(SPAN, start_ms=None)
SURE = msgspec.structs.replace(SPAN, confidence=1.0)


@pytest.mark.parametrize(
    ("span", "at_ms", "expected"),
    [
        (SPAN, 999, False),
        (SPAN, 1000, True),
        (SPAN, 1999, True),
        (SPAN, 2000, False),
        (SINCE, 999, False),
        (SINCE, 10**15, True),
        (UNTIL, -(10**15), True),
        (UNTIL, 2000, False),
    ],
)
def test_a_span_holds_its_start_and_not_its_end(span: TimeSpan, at_ms: int, expected: bool) -> None:  # noqa: FBT001 - a column of the table
    assert overlaps(span, at_ms) is expected


def test_a_memory_inside_a_span_is_raised_by_the_confidence() -> None:
    assert boost([SURE], 1500) == pytest.approx(BOOST_MAX)
    assert boost([SPAN], 1500) == pytest.approx(1.15)
    assert boost([SPAN], 1500, boost_max=1.1) == pytest.approx(1.05)


def test_a_memory_outside_every_span_keeps_its_score() -> None:
    assert boost([SPAN, SURE], 2000) == 1.0
    assert boost([], 1500) == 1.0


def test_the_surest_span_counts_and_spans_do_not_add_up() -> None:
    assert boost([SPAN, SURE, SPAN, SINCE], 1500) == pytest.approx(BOOST_MAX)


@pytest.mark.parametrize("boost_max", [0.9, -1.0, float("nan")])
def test_a_boost_that_would_lower_scores_is_refused(boost_max: float) -> None:
    with pytest.raises(ValueError, match="boost_max"):
        boost([SPAN], 1500, boost_max=boost_max)


@given(
    st.lists(
        st.builds(
            lambda start, length, confidence: msgspec.structs.replace(
                SPAN, start_ms=start, end_ms=start + length, confidence=confidence
            ),
            st.integers(-100, 100),
            st.integers(1, 100),
            st.floats(0.01, 1.0),
        )
    ),
    st.integers(-300, 300),
)
def test_nobody_is_lowered_or_raised_beyond_the_bound(spans: list[TimeSpan], at_ms: int) -> None:
    factor = boost(spans, at_ms)
    assert 1.0 <= factor <= BOOST_MAX
    assert (factor > 1.0) is any(overlaps(span, at_ms) for span in spans)


@pytest.mark.parametrize(
    ("fault", "named"),
    [
        ({"start_ms": None, "end_ms": None}, "start_ms"),
        ({"end_ms": 1000}, "end_ms"),
        ({"text_end": 0}, "text_end"),
        ({"text_start": -1}, "text_end"),
        ({"confidence": 0.0}, "confidence"),
        ({"confidence": 1.5}, "confidence"),
        ({"confidence": float("nan")}, "confidence"),
    ],
)
def test_a_span_that_says_nothing_cannot_be_made(fault: dict[str, int | float | None], named: str) -> None:
    with pytest.raises(ValueError, match=named):
        msgspec.structs.replace(SPAN, **fault)


def test_guesses_are_less_sure_than_written_dates(spans_of: SpansOf) -> None:
    texts = ["recently", "in 2024", "last month", "March 3", "March 3, 2024", "2024-03-03"]
    confidences = {text: spans_of(text)[0].confidence for text in texts}
    assert confidences["recently"] < confidences["in 2024"] < confidences["March 3"] < confidences["March 3, 2024"]
    assert confidences["last month"] < confidences["2024-03-03"] == 1.0


def test_a_range_is_as_sure_as_its_less_sure_end(spans_of: SpansOf) -> None:
    (span,) = spans_of("from January to 2025-03-03")
    assert span.confidence == spans_of("January")[0].confidence


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("yesterday", TemporalRule.DAY),
        ("last night", TemporalRule.DAY_PART),
        ("last week", TemporalRule.PERIOD),
        ("Monday", TemporalRule.WEEKDAY),
        ("last Monday", TemporalRule.RELATIVE_WEEKDAY),
        ("January", TemporalRule.MONTH),
        ("last January", TemporalRule.RELATIVE_MONTH),
        ("January 3", TemporalRule.MONTH_DAY),
        ("January 3-9", TemporalRule.MONTH_DAYS),
        ("in 2024", TemporalRule.YEAR),
        ("2024-01-03", TemporalRule.ISO),
        ("past 3 days", TemporalRule.PAST_UNITS),
        ("3 days ago", TemporalRule.UNITS_AGO),
        ("recently", TemporalRule.RECENTLY),
        ("from Monday to Friday", TemporalRule.RANGE),
        ("since Monday", TemporalRule.SINCE),
        ("until Monday", TemporalRule.UNTIL),
        ("before Monday", TemporalRule.BEFORE),
        ("after Monday", TemporalRule.AFTER),
    ],
)
def test_a_span_names_its_rule_and_its_place(text: str, rule: TemporalRule, spans_of: SpansOf) -> None:
    (span,) = spans_of(f"so {text}!")
    assert span.rule is rule
    assert (span.text_start, span.text_end, span.text) == (3, 3 + len(text), text)
