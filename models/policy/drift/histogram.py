"""A sample of scores as counts between edges: small enough to travel in a calibration record."""

from __future__ import annotations

import bisect
import itertools
from collections.abc import Sequence
from typing import Final

import msgspec

BINS: Final = 10
"""Deciles of the reference, as is usual for the population stability index."""


class Histogram(msgspec.Struct, frozen=True, kw_only=True):
    """How scores are distributed.

    Attributes:
        edges: Inner edges, ascending; a score on an edge belongs to the bin above it.
        counts: Of each bin, one more than there are edges; the first and the last have no outer bound.
    """

    edges: tuple[float, ...]
    counts: tuple[int, ...]

    def __post_init__(self) -> None:
        if len(self.counts) != len(self.edges) + 1 or any(count < 0 for count in self.counts):
            message = f"counts must be one more than edges and not negative, got {self.counts} for {self.edges}"
            raise ValueError(message)
        if any(above <= below for below, above in itertools.pairwise(self.edges)):
            message = f"edges must ascend, got {self.edges}"
            raise ValueError(message)

    @property
    def n(self) -> int:
        """How many scores."""
        return sum(self.counts)


def histogram_of(scores: Sequence[float], edges: Sequence[float] | None = None) -> Histogram:
    """Count scores between edges.

    Args:
        scores: Any number of them.
        edges: Inner edges; None: the deciles of the scores themselves. Where many scores are the same, edges coincide
            and are one.
    """
    inner = tuple(edges) if edges is not None else _deciles(scores)
    counts = [0] * (len(inner) + 1)
    for score in scores:
        counts[bisect.bisect_right(inner, score)] += 1
    return Histogram(edges=inner, counts=tuple(counts))


def _deciles(scores: Sequence[float]) -> tuple[float, ...]:
    ordered = sorted(scores)
    if not ordered:
        return ()
    cuts = {ordered[len(ordered) * place // BINS] for place in range(1, BINS)}
    cuts.discard(ordered[0])  # nothing would lie below it
    return tuple(sorted(cuts))
