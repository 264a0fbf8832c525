"""The population stability index, its bands, and how much of it is chance.

PSI = Σ (p - q) · ln(p / q) over the bins of two samples. The bands, 0.1 and 0.25, are those of credit scoring practice
(N. Siddiqi, Credit Risk Scorecards, 2006). Without any shift it is about (1/n + 1/m) times a chi-squared variable with
one degree of freedom less than there are bins (B. Yurdakul, J. Naranjo, Statistical properties of the population
stability index, Journal of Risk Model Validation 14(4), 2020), so small samples reach 0.1 by chance alone.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import Final

from recalld.models.domain.drift import Band

MODERATE: Final = 0.1
LARGE: Final = 0.25
_SMOOTHING: Final = 0.5
"""Added to each count, so that an empty bin makes a large index and not an infinite one."""
_Z: Final = 3.0902
"""Of a standard normal variable: 1 in 1,000 lies above."""
RARE_SHARE: Final = 0.02
RARE_COUNT: Final = 10
_OTHER: Final = ""


def psi(counts: Sequence[int], reference: Sequence[int]) -> float:
    """The index of two samples over the same bins; symmetric.

    Raises:
        ValueError: The samples have another number of bins, or one has none.
    """
    if len(counts) != len(reference) or not counts:
        message = f"psi needs the same bins in both samples, got {len(counts)} and {len(reference)}"
        raise ValueError(message)
    total = 0.0
    for p, q in zip(_shares(counts), _shares(reference), strict=True):
        total += (p - q) * math.log(p / q)
    return total


def psi_limit(*, n: int, reference_n: int, bins: int) -> float:
    """From where on an index is a large shift and no chance: samples of these sizes reach it once in a thousand times.

    The quantile is by the approximation of Wilson and Hilferty (1931).

    Args:
        n: Size of the sample, above 0.
        reference_n: Size of the reference, above 0.
        bins: Number of bins.
    """
    freedom = bins - 1
    if freedom < 1:
        return LARGE
    spread = 2.0 / (9.0 * freedom)
    quantile = freedom * (1.0 - spread + _Z * math.sqrt(spread)) ** 3
    return max(LARGE, (1.0 / n + 1.0 / reference_n) * quantile)


def band_of(value: float) -> Band:
    """The band of an index."""
    if value < MODERATE:
        return Band.NONE
    return Band.MODERATE if value < LARGE else Band.LARGE


def binned_names(names: Sequence[str], reference: Sequence[str]) -> tuple[list[int], list[int]]:
    """Counts of the same names in two samples; those that are rare in both are counted together.

    Args:
        names: Of the sample.
        reference: Of the reference.
    """
    found, before = Counter(names), Counter(reference)
    bins: dict[str, tuple[int, int]] = {}
    for name in sorted(found.keys() | before.keys()):
        is_rare = all(counted[name] < max(RARE_COUNT, RARE_SHARE * counted.total()) for counted in (found, before))
        key = _OTHER if is_rare else name
        here, there = bins.get(key, (0, 0))
        bins[key] = (here + found[name], there + before[name])
    return [here for here, _ in bins.values()], [there for _, there in bins.values()]


def _shares(counts: Sequence[int]) -> list[float]:
    total = sum(counts) + _SMOOTHING * len(counts)
    return [(count + _SMOOTHING) / total for count in counts]
