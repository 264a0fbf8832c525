"""Intervals for proportions, and how far two readers agree."""

from __future__ import annotations

import math
from collections.abc import Sequence

import msgspec

Z_95 = 1.959963984540054
"""The 97.5 % quantile of the standard normal distribution: two-sided 95 % intervals."""


class Proportion(msgspec.Struct, frozen=True, kw_only=True):
    """A share with the interval that its count supports.

    Attributes:
        successes: How many.
        n: Of how many.
        value: `successes / n`; 0 when `n` is 0.
        low: Lower end of the interval.
        high: Upper end of the interval.
    """

    successes: int
    n: int
    value: float
    low: float
    high: float


def wilson(successes: int, n: int, *, z: float = Z_95) -> Proportion:
    """The Wilson score interval of a proportion (E. B. Wilson, 1927); of nothing, everything is possible: [0, 1].

    Unlike the normal approximation it stays inside [0, 1] and means something at 0 and n.

    Raises:
        ValueError: Not 0 <= successes <= n.
    """
    if not 0 <= successes <= n:
        message = f"successes must be in [0, n], got {successes} of {n}"
        raise ValueError(message)
    if n == 0:
        return Proportion(successes=0, n=0, value=0.0, low=0.0, high=1.0)
    share = successes / n
    weight = 1.0 + z * z / n
    centre = (share + z * z / (2 * n)) / weight
    half = z / weight * math.sqrt(share * (1.0 - share) / n + z * z / (4 * n * n))
    return Proportion(
        successes=successes,
        n=n,
        value=share,
        low=0.0 if successes == 0 else max(0.0, centre - half),
        high=1.0 if successes == n else min(1.0, centre + half),
    )


def cohen_kappa(pairs: Sequence[tuple[bool, bool]]) -> float:
    """Agreement of two readers beyond chance (J. Cohen, 1960); 1 where neither of them ever tells two turns apart.

    Raises:
        ValueError: There are no pairs.
    """
    if not pairs:
        message = "agreement needs at least one turn that both read"
        raise ValueError(message)
    count = len(pairs)
    first, second = sum(one for one, _ in pairs) / count, sum(two for _, two in pairs) / count
    by_chance = first * second + (1.0 - first) * (1.0 - second)
    seen = sum(one == two for one, two in pairs) / count
    return 1.0 if by_chance == 1.0 else (seen - by_chance) / (1.0 - by_chance)
