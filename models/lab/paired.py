"""Comparing two arms on the same rows: what changed, how far that can be told from chance, and what could be told."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

import msgspec

from recalld.models.calibration.intervals import wilson

LEVEL: Final = 0.05
"""Chance of taking nothing for something, two-sided."""
POWER: Final = 0.8
"""Chance of telling the smallest difference that counts as one that can be told."""


class Paired(msgspec.Struct, frozen=True, kw_only=True):
    """How a share changes from one arm to another on the same rows.

    Attributes:
        n: Rows.
        gained: Rows that count for the other arm alone.
        lost: Rows that count for the first arm alone.
        difference: `(gained - lost) / n`; 0 without rows.
        low: Lower end of its 95 % interval.
        high: Upper end.
        p_value: How often so lopsided a change would come about if either direction were as likely.
        is_measurable: Whether that is below `LEVEL`; this decides, also where a few rows give an interval beside 0.
    """

    n: int
    gained: int
    lost: int
    difference: float
    low: float
    high: float
    p_value: float
    is_measurable: bool

    @property
    def is_worse(self) -> bool:
        """Whether the other arm is measurably worse."""
        return self.is_measurable and self.lost > self.gained

    @property
    def is_better(self) -> bool:
        """Whether the other arm is measurably better."""
        return self.is_measurable and self.gained > self.lost


def compare(pairs: Sequence[tuple[bool, bool]]) -> Paired:
    """How a share changes.

    Args:
        pairs: For each row whether it counts for the first arm, and for the other.
    """
    gained = sum(other and not first for first, other in pairs)
    lost = sum(first and not other for first, other in pairs)
    low, high = _interval(pairs)
    p_value = sign_test(gained, lost)
    return Paired(
        n=len(pairs),
        gained=gained,
        lost=lost,
        difference=(gained - lost) / len(pairs) if pairs else 0.0,
        low=low,
        high=high,
        p_value=p_value,
        is_measurable=p_value < LEVEL,
    )


def sign_test(gained: int, lost: int) -> float:
    """The exact two-sided p-value of two counts of opposite changes (Q. McNemar, 1947); 1 without any change."""
    changed = gained + lost
    if not changed:
        return 1.0
    tail: float = sum(math.comb(changed, few) for few in range(min(gained, lost) + 1)) / 2**changed
    return min(1.0, 2.0 * tail)


def changes_min() -> int:
    """The fewest changes, all in one direction, that can be told from chance."""
    count = 1
    while sign_test(0, count) >= LEVEL:
        count += 1
    return count


def smallest_loss(n: int) -> float:
    """The smallest share of rows lost, with none gained, that is told from chance in four of five trials.

    Exact: the share at which a binomial count of `n` rows reaches `changes_min()` with probability `POWER`. 1 where
    not even the loss of every row would be told.
    """
    needed = changes_min()
    if n < needed:
        return 1.0
    low, high = 0.0, 1.0
    for _ in range(40):  # halves the interval below what a float can print
        middle = (low + high) / 2.0
        low, high = (low, middle) if _reaches(needed, n, middle) >= POWER else (middle, high)
    return high


def _reaches(needed: int, n: int, share: float) -> float:
    """The chance that a binomial count is at least `needed`."""
    missed = sum(math.comb(n, count) * share**count * (1.0 - share) ** (n - count) for count in range(needed))
    return 1.0 - missed


def _interval(pairs: Sequence[tuple[bool, bool]]) -> tuple[float, float]:
    """The 95 % interval of the difference of paired shares (R. G. Newcombe, 1998, method 10); [-1, 1] of nothing."""
    n = len(pairs)
    if not n:
        return -1.0, 1.0
    both = sum(first and other for first, other in pairs)
    neither = sum(not first and not other for first, other in pairs)
    first = wilson(sum(first for first, _ in pairs), n)
    other = wilson(sum(other for _, other in pairs), n)
    correlation = _correlation(both, first.successes - both, other.successes - both, neither)
    difference = other.value - first.value
    below, above = other.value - other.low, first.high - first.value
    beneath = math.sqrt(max(0.0, below**2 - 2.0 * correlation * below * above + above**2))
    below, above = first.value - first.low, other.high - other.value
    over = math.sqrt(max(0.0, above**2 - 2.0 * correlation * above * below + below**2))
    return max(-1.0, difference - beneath), min(1.0, difference + over)


def _correlation(both: int, first_alone: int, other_alone: int, neither: int) -> float:
    """How far two arms agree beyond their shares, with Newcombe's correction; 0 where one of them is constant."""
    margins = (both + first_alone) * (other_alone + neither) * (both + other_alone) * (first_alone + neither)
    if not margins:
        return 0.0
    product = both * neither - first_alone * other_alone
    half = (both + first_alone + other_alone + neither) / 2.0
    corrected = max(product - half, 0.0) if product > 0 else product
    return corrected / math.sqrt(margins)
