"""From what an arm made of each row to its figures.

Answerable rows and rows with nothing relevant are never averaged together: how many of each a set has is its maker's
choice, and a figure over both would mostly report that choice.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import NormalDist
from typing import Final

from recalld.models.calibration.intervals import wilson
from recalld.models.lab.report import (
    ArmReport,
    Breakdown,
    Control,
    Count,
    Detectable,
    Rate,
    Share,
    SourceRates,
    rate_of,
    share_of,
)
from recalld.models.lab.results import RowResult

BETA: Final = 0.5
"""Of the F measure: a wrong memory in the prompt is worse than a missing one (C. J. van Rijsbergen, 1979)."""
_POWER: Final = 0.8
_LEVEL: Final = 0.05


def arm_report(rows: Sequence[RowResult]) -> ArmReport:
    """The figures of one arm.

    Args:
        rows: What it made of each row of a set.
    """
    answerable = [row for row in rows if row.label.is_answerable]
    injected = sum(len(row.injected) for row in answerable)
    helpful = sum(_helpful(row) for row in answerable)
    memory_retention = _rate(helpful, sum(len(row.relevant_candidates) for row in answerable))
    precision = helpful / injected if injected else 0.0
    times = sorted(row.elapsed_ms for row in rows)
    return ArmReport(
        silence=silence(rows),
        retention=retention(rows),
        memory_retention=memory_retention,
        mean_injected=injected / len(answerable) if answerable else 0.0,
        precision=precision,
        f05=f_measure(precision, memory_retention.rate),
        by_kind=_by_kind(rows),
        pairs_scored=sum(row.pairs_scored for row in rows),
        ms_p50=percentile(times, 0.5),
        ms_p95=percentile(times, 0.95),
        candidates=Count(k=sum(row.is_servable for row in answerable), n=len(answerable)),
    )


def breakdown(rows: Sequence[RowResult]) -> Breakdown:
    """The same, looked at more closely.

    Args:
        rows: What one arm made of each row of a set.
    """
    answerable = [row for row in rows if row.label.is_answerable]
    nothing = [row for row in rows if not row.label.is_answerable]
    shown = sum(len(row.injected) for row in nothing)
    sources = sorted({row.label.source for row in rows})
    by_source = {name: [row for row in rows if row.label.source == name] for name in sources}
    return Breakdown(
        served=_rate(sum(row.is_helped for row in answerable), len(answerable)),
        precision=_rate(sum(_helpful(row) for row in answerable), sum(len(row.injected) for row in answerable)),
        mean_injected_nothing_relevant=shown / len(nothing) if nothing else 0.0,
        by_memory_kind=_by_memory_kind(answerable),
        by_source={
            name: SourceRates(silence=silence(mine), retention=retention(mine)) for name, mine in by_source.items()
        },
    )


def silence(rows: Sequence[RowResult]) -> Rate:
    """Of the rows with nothing relevant, those with nothing injected."""
    nothing = [row for row in rows if not row.label.is_answerable]
    return _rate(sum(row.is_silent for row in nothing), len(nothing))


def retention(rows: Sequence[RowResult]) -> Rate:
    """Of the rows with a relevant candidate, those with a relevant memory injected."""
    servable = [row for row in rows if row.is_servable]
    return _rate(sum(row.is_helped for row in servable), len(servable))


def f_measure(precision: float, recall: float, *, beta: float = BETA) -> float:
    """The weighted harmonic mean of both; 0 when both are 0."""
    weight = beta * beta
    below = weight * precision + recall
    return (1.0 + weight) * precision * recall / below if below else 0.0


def percentile(ordered: Sequence[float], share: float) -> float:
    """The smallest value that at least `share` of the values do not exceed (nearest rank); 0 of nothing.

    Args:
        ordered: In ascending order.
        share: In (0, 1].
    """
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)] if ordered else 0.0


def detectable(rows: Sequence[RowResult]) -> Detectable:
    """What differences between two arms so many rows can tell from chance; see `smallest_difference`."""
    nothing = sum(not row.label.is_answerable for row in rows)
    servable = sum(row.is_servable for row in rows)
    return Detectable(silence=smallest_difference(nothing), retention=smallest_difference(servable))


def smallest_difference(n: int) -> float:
    """What difference between two shares of `n` each can be told from chance: at 5 %, in four of five trials.

    For two independent shares near one half, the worst case (W. G. Cochran, 1977): the sum of both normal quantiles
    times sqrt(2 · ¼ / n). Arms judge the same rows, so that most differences are told with fewer.
    """
    if not n:
        return 1.0
    normal = NormalDist()
    spread = normal.inv_cdf(1.0 - _LEVEL / 2.0) + normal.inv_cdf(_POWER)
    return min(1.0, spread * math.sqrt(0.5 / n))


def control(arm: str, once: Sequence[RowResult], again: Sequence[RowResult]) -> Control:
    """How many rows the same arm judged differently the second time.

    Args:
        arm: Its name.
        once: What it made of each row.
        again: The same rows, in the same order, judged again.

    Raises:
        ValueError: The rows differ.
    """
    pairs = list(zip(once, again, strict=True))
    if any(one.label.row_id != other.label.row_id for one, other in pairs):
        message = "a control needs the same rows in the same order"
        raise ValueError(message)
    differences = sum((one.judged, one.pairs_scored) != (other.judged, other.pairs_scored) for one, other in pairs)
    return Control(arm=arm, rows=len(pairs), differences=differences)


def _by_kind(rows: Sequence[RowResult]) -> dict[str, Share]:
    kinds = sorted({row.label.query_kind for row in rows})
    shares: dict[str, Share] = {}
    for kind in kinds:
        mine = [row for row in rows if row.label.query_kind == kind]
        is_mixed = len({row.label.is_answerable for row in mine}) > 1
        for name, found, is_there in (
            ("retention", retention(mine), any(row.label.is_answerable for row in mine)),
            ("silence", silence(mine), any(not row.label.is_answerable for row in mine)),
        ):
            if is_there:
                shares[f"{kind}/{name}" if is_mixed else kind] = share_of(found.k, found.n)
    return shares


def _by_memory_kind(answerable: Sequence[RowResult]) -> dict[str, Share]:
    relevant = [each for row in answerable for each in row.relevant_candidates]
    kinds = sorted({each.kind for each in relevant})
    mine = {kind: [each for each in relevant if each.kind is kind] for kind in kinds}
    return {kind.value: share_of(sum(each.is_injected for each in found), len(found)) for kind, found in mine.items()}


def _helpful(row: RowResult) -> int:
    return sum(each.is_injected for each in row.relevant_candidates)


def _rate(k: int, n: int) -> Rate:
    return rate_of(wilson(k, n))
