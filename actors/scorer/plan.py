"""In which order the pairs of one job are started. Pure."""

from __future__ import annotations

import heapq
from collections.abc import Sequence


def start_order(costs_ms: Sequence[float], *, lanes: int, budget_ms: float) -> tuple[int, ...]:
    """Order pairs, given best first, so that as many good ones as possible end in time, and early.

    The best pairs that fit the budget together run longest first, which keeps the lanes evenly busy to the end (Graham,
    "Bounds on Multiprocessing Timing Anomalies", 1969: longest-processing-time-first is within a third of optimal).
    Those beyond follow best first, in case the prediction was too careful. The best pair always counts as fitting.

    Args:
        costs_ms: Predicted cost of each pair on one lane, best pair first.
        lanes: Pairs that run at once.
        budget_ms: Time for all of them.

    Returns:
        Every index into `costs_ms` once, first to start first.
    """
    lanes_free_ms = [0.0] * lanes
    fitting = 0
    for cost_ms in costs_ms:
        ends_ms = lanes_free_ms[0] + cost_ms
        if fitting and ends_ms > budget_ms:
            break
        heapq.heapreplace(lanes_free_ms, ends_ms)
        fitting += 1
    longest_first = sorted(range(fitting), key=lambda place: (-costs_ms[place], place))
    return (*longest_first, *range(fitting, len(costs_ms)))
