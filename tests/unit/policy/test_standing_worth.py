from __future__ import annotations

import math

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from standing_cases import candidate, candidates, tallies

from recalld.models.domain.outcomes import OutcomeResult, OutcomeTally
from recalld.models.domain.records import MemorySource
from recalld.models.domain.standing import StandingCandidate, StandingChoice
from recalld.models.policy.standing.measure import size_of
from recalld.models.policy.standing.worth import is_below_bar, is_proven, usefulness_of, value_of


def after(before: StandingCandidate, result: OutcomeResult, count: int = 1) -> StandingCandidate:
    return msgspec.structs.replace(before, tally=before.tally.plus(result, count))


@pytest.mark.parametrize(
    ("tally", "expected"),
    [
        (OutcomeTally(), 3 / 6),
        (OutcomeTally(used=3), 6 / 9),
        (OutcomeTally(ignored=6), 3 / 12),
        (OutcomeTally(harmful=1), 1 / 7),
        (OutcomeTally(harmful=2), 0.0),
        (OutcomeTally(missed=2, ignored=1), 5 / 9),
        (OutcomeTally(used=10, harmful=2), 9 / 18),
    ],
)
def test_usefulness_is_the_share_of_averted_errors_less_twice_that_of_caused_ones(
    tally: OutcomeTally, expected: float
) -> None:
    assert usefulness_of(candidate(tally=tally)) == pytest.approx(expected)


def test_what_nobody_stated_begins_lower_and_moves_faster() -> None:
    inferred = candidate(source=MemorySource.MODEL)
    assert usefulness_of(inferred) == pytest.approx(1 / 4)
    assert usefulness_of(after(inferred, OutcomeResult.USED)) == pytest.approx(2 / 5)
    assert usefulness_of(after(inferred, OutcomeResult.HARMFUL)) == 0.0


def test_what_the_user_had_to_say_again_is_worth_more_up_to_a_point() -> None:
    worth = [usefulness_of(candidate(turns=turns)) for turns in (0, 1, 2, 4, 40)]
    assert worth[0] == worth[1] < worth[2] < worth[3] == worth[4]


@given(before=candidates())
def test_usefulness_lies_between_nothing_and_everything(before: StandingCandidate) -> None:
    assert 0.0 <= usefulness_of(before) < 1.0


@given(before=candidates(), count=st.integers(1, 50))
def test_good_reports_never_lower_it_and_bad_ones_never_raise_it(before: StandingCandidate, count: int) -> None:
    now = usefulness_of(before)
    assert usefulness_of(after(before, OutcomeResult.USED, count)) >= now
    assert usefulness_of(after(before, OutcomeResult.MISSED, count)) >= now
    assert usefulness_of(after(before, OutcomeResult.IGNORED, count)) <= now
    assert usefulness_of(after(before, OutcomeResult.HARMFUL, count)) <= now


@given(before=candidates())
def test_one_harmful_report_weighs_more_than_one_ignored(before: StandingCandidate) -> None:
    harmed, ignored = (usefulness_of(after(before, each)) for each in (OutcomeResult.HARMFUL, OutcomeResult.IGNORED))
    assert harmed < ignored or harmed == ignored == 0.0


@given(usefulness=st.floats(0, 1), words=st.integers(1, 1_000))
def test_value_falls_with_the_words_it_costs(usefulness: float, words: int) -> None:
    value = value_of(usefulness, words=words, error_cost_words=200.0)
    assert value_of(usefulness, words=words + 1, error_cost_words=200.0) <= value
    assert math.isclose(value * words, usefulness * 200.0, abs_tol=1e-12)


@pytest.mark.parametrize(
    ("source", "tally", "choice", "expected"),
    [
        (MemorySource.EXPLICIT, OutcomeTally(), None, True),
        (MemorySource.CONFIRMED, OutcomeTally(), None, True),
        (MemorySource.HEURISTIC, OutcomeTally(), None, False),
        (MemorySource.MODEL, OutcomeTally(), None, False),
        (MemorySource.IMPORTED, OutcomeTally(ignored=9, missed=9), None, False),
        (MemorySource.MODEL, OutcomeTally(used=1), None, True),
        (MemorySource.IMPORTED, OutcomeTally(), StandingChoice.PINNED, True),
        (MemorySource.IMPORTED, OutcomeTally(), StandingChoice.RESTORED, True),
    ],
)
def test_only_the_users_word_or_a_reported_use_speaks_for_a_memory(
    source: MemorySource, tally: OutcomeTally, choice: StandingChoice | None, *, expected: bool
) -> None:
    assert is_proven(candidate(source=source, tally=tally, choice=choice)) is expected


@given(tally=tallies())
def test_a_pinned_memory_is_never_below_the_bar(tally: OutcomeTally) -> None:
    pinned = candidate(tally=tally, choice=StandingChoice.PINNED)
    assert not is_below_bar(pinned, 0.0, value_min=1.0)
    assert is_below_bar(candidate(tally=tally), 0.99, value_min=1.0)


@pytest.mark.parametrize(
    ("text", "chars", "lines", "words", "tokens"),
    [
        ("Answer in German, please", 24, 1, 4, 6),
        ("one\ntwo\r\nthree", 14, 3, 3, 4),
        ("项目使用包管理器", 8, 1, 4, 8),
        ("项目用pnpm", 7, 1, 3, 4),
        ("по-русски", 9, 1, 1, 5),
        ("", 0, 1, 1, 1),
    ],
)
def test_a_text_is_measured_also_where_words_are_not_spaced(
    text: str, chars: int, lines: int, words: int, tokens: int
) -> None:
    size = size_of(text)
    assert (size.chars, size.lines, size.words, size.tokens) == (chars, lines, words, tokens)
