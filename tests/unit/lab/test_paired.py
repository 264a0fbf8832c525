"""Differences of two arms on the same rows, against published values and brute force."""

from __future__ import annotations

import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recalld.models.lab.paired import POWER, changes_min, compare, sign_test, smallest_loss

PAIRS = st.lists(st.tuples(st.booleans(), st.booleans()), max_size=60)


def counts(both: int, first: int, other: int, neither: int) -> list[tuple[bool, bool]]:
    return [(True, True)] * both + [(True, False)] * first + [(False, True)] * other + [(False, False)] * neither


def test_the_interval_is_that_of_newcombes_paper() -> None:
    """R. G. Newcombe (1998), method 10: 36, 12, 2, 0 of 50 give 0.2000 with 0.0569 to 0.3404."""
    change = compare(counts(36, 2, 12, 0))
    assert change.difference == pytest.approx(0.2)
    assert [change.low, change.high] == pytest.approx([0.0569, 0.3404], abs=5e-5)


@pytest.mark.parametrize(
    ("gained", "lost", "p_value"), [(0, 0, 1.0), (0, 5, 0.0625), (0, 6, 0.03125), (1, 9, 0.021484375), (4, 4, 1.0)]
)
def test_the_sign_test_is_exact(gained: int, lost: int, p_value: float) -> None:
    assert sign_test(gained, lost) == pytest.approx(p_value)
    assert sign_test(lost, gained) == sign_test(gained, lost)


def test_six_changes_in_one_direction_are_the_fewest_that_can_be_told() -> None:
    assert changes_min() == 6
    assert not compare(counts(0, 5, 0, 50)).is_measurable
    assert compare(counts(0, 6, 0, 50)).is_worse
    assert compare(counts(0, 0, 6, 50)).is_better


@given(PAIRS)
def test_the_interval_holds_the_difference_and_turns_round_with_the_arms(pairs: list[tuple[bool, bool]]) -> None:
    change = compare(pairs)
    back = compare([(other, first) for first, other in pairs])
    assert -1.0 <= change.low <= change.difference + 1e-9
    assert change.difference - 1e-9 <= change.high <= 1.0
    assert [back.low, back.high] == pytest.approx([-change.high, -change.low])
    assert (back.gained, back.lost, back.p_value) == (change.lost, change.gained, change.p_value)


def test_an_arm_compared_with_itself_is_neither_better_nor_worse() -> None:
    change = compare(counts(30, 0, 0, 20))
    assert (change.difference, change.p_value) == (0.0, 1.0)
    assert not change.is_better
    assert not change.is_worse


@pytest.mark.parametrize("rows", [6, 20, 100, 344])
def test_the_smallest_loss_is_told_as_often_as_it_says_and_no_smaller_one_is(rows: int) -> None:
    def power(share: float) -> float:
        few = range(changes_min())
        return 1.0 - sum(math.comb(rows, count) * share**count * (1.0 - share) ** (rows - count) for count in few)

    loss = smallest_loss(rows)
    assert power(loss) == pytest.approx(POWER, abs=1e-6)
    assert power(loss * 0.9) < POWER


def test_seeded_trials_tell_the_smallest_loss_in_four_of_five() -> None:
    rng = random.Random(11)
    loss = smallest_loss(80)
    told = sum(compare(counts(0, sum(rng.random() < loss for _ in range(80)), 0, 0)).is_worse for _ in range(400))
    assert told / 400 == pytest.approx(POWER, abs=0.06)


def test_five_rows_can_tell_nothing() -> None:
    assert smallest_loss(5) == 1.0
    assert smallest_loss(0) == 1.0
