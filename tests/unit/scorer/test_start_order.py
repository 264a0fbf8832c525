from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from recalld.actors.scorer.plan import start_order

costs = st.lists(st.floats(0.1, 100.0), max_size=30)


@given(costs, st.integers(1, 8), st.floats(-10.0, 1000.0))
def test_every_pair_is_started_exactly_once(costs_ms: list[float], lanes: int, budget_ms: float) -> None:
    assert sorted(start_order(costs_ms, lanes=lanes, budget_ms=budget_ms)) == list(range(len(costs_ms)))


@given(costs, st.integers(1, 8))
def test_with_time_for_all_the_longest_starts_first(costs_ms: list[float], lanes: int) -> None:
    order = start_order(costs_ms, lanes=lanes, budget_ms=1e9)
    in_order = [costs_ms[place] for place in order]
    assert in_order == sorted(costs_ms, reverse=True)


@given(costs, st.integers(1, 8), st.floats(0.0, 200.0))
def test_no_pair_beyond_the_budget_starts_before_a_better_one(
    costs_ms: list[float], lanes: int, budget_ms: float
) -> None:
    order = start_order(costs_ms, lanes=lanes, budget_ms=budget_ms)
    lanes_ms = [0.0] * lanes
    fitting = 0
    for cost_ms in costs_ms:
        lane = lanes_ms.index(min(lanes_ms))
        if fitting and lanes_ms[lane] + cost_ms > budget_ms:
            break
        lanes_ms[lane] += cost_ms
        fitting += 1
    assert sorted(order[:fitting]) == list(range(fitting))
    assert list(order[fitting:]) == list(range(fitting, len(costs_ms)))


def test_a_long_pair_that_does_not_fit_does_not_take_the_lane_from_the_best_ones() -> None:
    assert start_order([10.0, 12.0, 500.0], lanes=1, budget_ms=30.0) == (1, 0, 2)


def test_the_best_pair_counts_as_fitting_even_when_it_does_not() -> None:
    assert start_order([50.0, 1.0], lanes=1, budget_ms=5.0) == (0, 1)
