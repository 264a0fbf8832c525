"""Latencies of the last recalls, by step, and their percentiles."""

from __future__ import annotations

import collections
import math

SAMPLES_MAX = 2_000
"""Samples kept per step: enough for a steady 95th percentile, and a few kilobytes."""


class LatencyWindow:
    """The newest `SAMPLES_MAX` latencies of each step, in milliseconds."""

    def __init__(self) -> None:
        self._samples: dict[str, collections.deque[float]] = {}

    def add(self, step: str, elapsed_ms: float) -> None:
        """Add one sample."""
        self._samples.setdefault(step, collections.deque(maxlen=SAMPLES_MAX)).append(elapsed_ms)

    def percentiles(self) -> dict[str, float]:
        """`<step>_p50` and `<step>_p95` of each step that has samples."""
        found: dict[str, float] = {}
        for step, samples in self._samples.items():
            ordered = sorted(samples)
            found[f"{step}_p50"] = percentile(ordered, 0.50)
            found[f"{step}_p95"] = percentile(ordered, 0.95)
        return found


def percentile(ordered: list[float], share: float) -> float:
    """The nearest-rank percentile of values in ascending order.

    Raises:
        ValueError: There are no values, or `share` is not in (0, 1].
    """
    if not ordered or not 0 < share <= 1:
        message = f"percentile needs values and a share in (0, 1], got {len(ordered)} values and {share}"
        raise ValueError(message)
    return ordered[math.ceil(share * len(ordered)) - 1]
