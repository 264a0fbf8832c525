"""The trade between silence and retention over all thresholds of an arm."""

from __future__ import annotations

import bisect
from collections.abc import Sequence
from typing import Final

import msgspec

from recalld.models.calibration.intervals import wilson
from recalld.models.lab.report import Rate, rate_of
from recalld.models.lab.results import RowResult

POINTS_MAX: Final = 60
_NOTHING: Final = float("-inf")


class TradeOff(msgspec.Struct, frozen=True, kw_only=True):
    """Both rates at one threshold."""

    threshold: float
    silence: Rate
    retention: Rate


def trade_off(rows: Sequence[RowResult], *, points_max: int = POINTS_MAX) -> tuple[TradeOff, ...]:
    """What other thresholds on an arm's scores would do, from the lowest to the highest; none without scores.

    A threshold alone decides here: what an arm hands over or holds back for other reasons counts by its score.

    Args:
        rows: What one arm made of each row.
        points_max: Thresholds at most, spread evenly over the scores that matter.
    """
    helped = sorted(_best(row, is_relevant_only=True) for row in rows if row.is_servable)
    shown = sorted(_best(row, is_relevant_only=False) for row in rows if not row.label.is_answerable)
    scores = sorted({score for score in (*helped, *shown) if score > _NOTHING})
    if not scores or not any(each.score is not None for row in rows for each in row.judged):
        return ()
    count = min(points_max, len(scores))
    chosen = sorted({scores[round(place * (len(scores) - 1) / max(count - 1, 1))] for place in range(count)})
    return tuple(
        TradeOff(
            threshold=threshold,
            silence=rate_of(wilson(bisect.bisect_left(shown, threshold), len(shown))),
            retention=rate_of(wilson(len(helped) - bisect.bisect_left(helped, threshold), len(helped))),
        )
        for threshold in chosen
    )


def _best(row: RowResult, *, is_relevant_only: bool) -> float:
    judged = row.relevant_candidates if is_relevant_only else row.judged
    return max((each.score for each in judged if each.score is not None), default=_NOTHING)
