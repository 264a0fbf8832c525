from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recalld.models.calibration.intervals import Z_95, wilson


@pytest.mark.parametrize(
    ("successes", "n", "low", "high"),
    [
        # The quadratic |p - s/n| = z sqrt(p (1 - p) / n) solved by hand.
        (15, 20, 0.5313, 0.8881),
        (0, 10, 0.0, 0.2775),
        (10, 10, 0.7225, 1.0),
        (1, 1, 0.2065, 1.0),
    ],
)
def test_the_interval_agrees_with_worked_examples(successes: int, n: int, low: float, high: float) -> None:
    found = wilson(successes, n)
    assert (found.low, found.high) == (pytest.approx(low, abs=5e-5), pytest.approx(high, abs=5e-5))
    assert found.value == successes / n


@given(st.integers(1, 5000).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_the_ends_solve_the_defining_equation_and_hold_the_share(case: tuple[int, int]) -> None:
    successes, n = case
    found = wilson(successes, n)
    assert 0.0 <= found.low <= found.value <= found.high <= 1.0
    for end in (found.low, found.high):
        if 0.0 < end < 1.0:
            assert (end - found.value) ** 2 == pytest.approx(Z_95**2 * end * (1 - end) / n, rel=1e-6, abs=1e-12)


def test_of_nothing_everything_is_possible() -> None:
    found = wilson(0, 0)
    assert (found.low, found.high) == (0.0, 1.0)


@pytest.mark.parametrize(("successes", "n"), [(-1, 5), (6, 5), (1, 0)])
def test_impossible_counts_are_errors(successes: int, n: int) -> None:
    with pytest.raises(ValueError, match="successes"):
        wilson(successes, n)
