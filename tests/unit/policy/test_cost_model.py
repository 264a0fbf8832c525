from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recalld.models.inference import pair
from recalld.models.policy import cost_model
from recalld.models.policy.cost_model import QUERY_CHARS_MAX, SAMPLES_MAX, CostModel, pair_chars


def test_before_anything_ran_a_pair_of_47_tokens_is_predicted_to_take_ten_milliseconds() -> None:
    assert CostModel().predict_ms(47) == pytest.approx(10.0)


def test_a_few_runs_are_enough_to_believe_them_rather_than_the_prior() -> None:
    cost = CostModel()
    for _ in range(6):
        cost.observe(chars=200, tokens=50, elapsed_ms=50.0)
    assert cost.predict_ms(100) == pytest.approx(100.0)


def test_one_run_that_met_a_busy_core_changes_nothing() -> None:
    calm, disturbed = CostModel(), CostModel()
    for number in range(20):
        calm.observe(chars=200, tokens=50, elapsed_ms=10.0)
        disturbed.observe(chars=200, tokens=50, elapsed_ms=5000.0 if number == 10 else 10.0)
    assert disturbed.predict_ms(50) == calm.predict_ms(50)


def test_a_lasting_change_is_followed_within_the_window() -> None:
    cost = CostModel()
    for _ in range(SAMPLES_MAX):
        cost.observe(chars=200, tokens=50, elapsed_ms=10.0)
    for _ in range(SAMPLES_MAX // 2 + 1):
        cost.observe(chars=200, tokens=50, elapsed_ms=30.0)
    assert cost.predict_ms(50) == pytest.approx(30.0)


@pytest.mark.parametrize("elapsed_ms", [0.0, -1.0, math.nan, math.inf])
def test_a_time_that_cannot_be_is_not_learned_from(elapsed_ms: float) -> None:
    cost = CostModel()
    for _ in range(SAMPLES_MAX):
        cost.observe(chars=200, tokens=50, elapsed_ms=elapsed_ms)
        cost.observe(chars=200, tokens=0, elapsed_ms=10.0)
    assert cost.predict_ms(47) == pytest.approx(10.0)


def test_tokens_per_character_are_learned_too() -> None:
    cost = CostModel()
    assert cost.estimate_tokens(400) == 103
    for _ in range(SAMPLES_MAX):
        cost.observe(chars=100, tokens=103, elapsed_ms=10.0)
    assert cost.estimate_tokens(400) == 403


def test_a_pair_that_was_cut_says_nothing_about_characters() -> None:
    cost = CostModel(tokens_max=512)
    for _ in range(SAMPLES_MAX):
        cost.observe(chars=1_000_000, tokens=512, elapsed_ms=100.0)
    assert cost.estimate_tokens(400) == 103


def test_a_pair_is_never_predicted_to_run_more_tokens_than_the_model_has() -> None:
    cost = CostModel(tokens_max=512)
    assert cost.estimate_tokens(10**9) == 512
    assert cost.predict_ms(10**9) == cost.predict_ms(512)
    assert cost.predict_pair_ms("q", "m" * 10**5) == cost.predict_ms(512)


@given(
    st.lists(st.tuples(st.integers(1, 5000), st.integers(1, 512), st.floats(0.01, 1e4)), max_size=60),
    st.integers(0, 5000),
    st.integers(0, 5000),
)
def test_predictions_are_finite_and_grow_with_the_text(
    runs: list[tuple[int, int, float]], chars: int, more: int
) -> None:
    cost = CostModel()
    for run_chars, tokens, elapsed_ms in runs:
        cost.observe(chars=run_chars, tokens=tokens, elapsed_ms=elapsed_ms)
    less_ms = cost.predict_ms(cost.estimate_tokens(chars))
    assert 0.0 <= less_ms <= cost.predict_ms(cost.estimate_tokens(chars + more)) < math.inf


def test_of_a_pasted_query_only_what_is_run_is_counted() -> None:
    cost = CostModel()
    question, paste = "q" * QUERY_CHARS_MAX, "q" * 60_000
    assert pair_chars(paste, "memory") == pair_chars(question, "memory") == QUERY_CHARS_MAX + 6
    assert cost.predict_pair_ms(paste, "memory") == cost.predict_pair_ms(question, "memory")
    assert cost.predict_pair_ms(paste, "memory") > cost.predict_pair_ms("short", "memory")


def test_the_counted_part_of_a_query_is_what_the_scorer_keeps_of_it() -> None:
    assert cost_model.QUERY_TOKENS_MAX == pair.QUERY_TOKENS_MAX
