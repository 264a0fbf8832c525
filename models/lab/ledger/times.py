"""Percentiles of the time of each step, from histograms."""

from __future__ import annotations

import math

from recalld.models.domain.ledger_report import GateTime, TimeBucket
from recalld.models.domain.ledger_tally import Step, bucket_edge_ms
from recalld.models.lab.ledger.index import TallyIndex


def gate_times(index: TallyIndex) -> tuple[GateTime, ...]:
    """The times of all steps that ran, in the order of `Step`."""
    return tuple(_time(index, step) for step in Step if index.histogram(step))


def _time(index: TallyIndex, step: Step) -> GateTime:
    histogram = index.histogram(step)
    return GateTime(
        gate=step.value,
        n=sum(histogram.values()),
        total_ms=index.time_ms(step),
        p50_ms=histogram_percentile_ms(histogram, 0.50),
        p95_ms=histogram_percentile_ms(histogram, 0.95),
        p99_ms=histogram_percentile_ms(histogram, 0.99),
        buckets=tuple(
            TimeBucket(up_to_ms=bucket_edge_ms(bucket), count=histogram[bucket]) for bucket in sorted(histogram)
        ),
    )


def histogram_percentile_ms(histogram: dict[int, int], share: float) -> float:
    """The nearest-rank percentile of a histogram of times: the upper edge of the bucket that it lies in.

    Args:
        histogram: How many times lie in each bucket of `ledger_tally`; at least one.
        share: In (0, 1].

    Raises:
        ValueError: There are no times, or `share` is not in (0, 1].
    """
    n = sum(histogram.values())
    if not n or not 0 < share <= 1:
        message = f"a percentile needs times and a share in (0, 1], got {n} times and {share}"
        raise ValueError(message)
    rank, seen = math.ceil(share * n), 0
    for bucket in sorted(histogram):
        seen += histogram[bucket]
        if seen >= rank:
            break
    return bucket_edge_ms(bucket)
