"""The two-sample Kolmogorov-Smirnov statistic: the largest gap between two cumulative distributions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

from recalld.models.domain.drift import Band

SCORES_MIN: Final = 50
"""Below so many scores in either sample the asymptotic limit does not hold."""
_CHANCE: Final = 0.001
MODERATE: Final = 0.1
LARGE: Final = 0.2
"""A gap that is no chance but smaller than this moves few decisions. Set by hand."""


def ks(scores: Sequence[float], reference: Sequence[float]) -> float:
    """The statistic, in [0, 1]; with ties it is too small rather than too large. Cost: sorting both samples.

    Raises:
        ValueError: A sample is empty.
    """
    if not scores or not reference:
        message = "ks needs scores in both samples"
        raise ValueError(message)
    one, other = sorted(scores), sorted(reference)
    largest = 0.0
    i = j = 0
    while i < len(one) and j < len(other):
        at = min(one[i], other[j])
        while i < len(one) and one[i] <= at:
            i += 1
        while j < len(other) and other[j] <= at:
            j += 1
        largest = max(largest, abs(i / len(one) - j / len(other)))
    return largest


def ks_limit(*, n: int, reference_n: int) -> float:
    """From where on a gap is large and no chance: samples of one distribution reach it once in a thousand times.

    The limit sqrt(-ln(a / 2) / 2) · sqrt((n + m) / (n · m)), a being that chance, is Smirnov's asymptotic one (1948).

    Args:
        n: Size of the sample, above 0.
        reference_n: Size of the reference, above 0.
    """
    by_chance = math.sqrt(-math.log(_CHANCE / 2.0) / 2.0) * math.sqrt((n + reference_n) / (n * reference_n))
    return max(LARGE, by_chance)


def ks_band(value: float) -> Band:
    """The band of a gap."""
    if value < MODERATE:
        return Band.NONE
    return Band.MODERATE if value < LARGE else Band.LARGE
