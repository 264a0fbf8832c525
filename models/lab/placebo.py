"""The placebo of a drill: silence on turns drawn at random, as often as the gates are silent."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Final

from recalld.models.lab.drill_report import Placebo, Spread
from recalld.models.lab.drill_rows import DrilledRow
from recalld.models.lab.tally import percentile

DRAWS: Final = 1_000
"""Tells a chance of one in twenty to within about one in seventy."""
_LOW: Final = 0.025
_HIGH: Final = 0.975


def placebo_of(rows: Sequence[DrilledRow], rng: random.Random, *, draws: int = DRAWS) -> Placebo:
    """What random silence does where the gates are otherwise held open.

    It is drawn from the rows on which open gates hand over something, so that as many rows are silent in the end as
    with the gates that are shipped; where these are silent less often than open ones, nothing is drawn.

    Args:
        rows: Answered by each arm.
        rng: Draws.
        draws: How often, at least once.
    """
    loud = [place for place, row in enumerate(rows) if row.opened]
    quiet = sum(not row.shipped for row in rows)
    drawn = max(0, quiet - (len(rows) - len(loud)))
    servable = sum(row.is_servable for row in rows)
    nothing = sum(not row.label.is_answerable for row in rows)
    helped_by_gates = sum(row.is_servable and row.helps(row.shipped) for row in rows)
    quiet_by_gates = sum(not row.label.is_answerable and not row.shipped for row in rows)
    kept: list[float] = []
    silent: list[float] = []
    as_good = 0
    for _ in range(draws):
        skipped = frozenset(rng.sample(loud, min(drawn, len(loud))))
        helped, hushed = _outcome(rows, skipped)
        kept.append(helped / servable if servable else 0.0)
        silent.append(hushed / nothing if nothing else 0.0)
        as_good += helped >= helped_by_gates and hushed >= quiet_by_gates
    return Placebo(
        draws=draws,
        silent=len(rows) - len(loud) + min(drawn, len(loud)),
        retention=_spread(kept),
        silence=_spread(silent),
        as_good=as_good,
        p_value=(as_good + 1) / (draws + 1),
    )


def _outcome(rows: Sequence[DrilledRow], skipped: frozenset[int]) -> tuple[int, int]:
    """Rows that are helped, and rows with nothing relevant that are left alone."""
    helped = hushed = 0
    for place, row in enumerate(rows):
        handed = () if place in skipped else row.opened
        helped += row.is_servable and row.helps(handed)
        hushed += not row.label.is_answerable and not handed
    return helped, hushed


def _spread(values: Sequence[float]) -> Spread:
    ordered = sorted(values)
    return Spread(mean=sum(ordered) / len(ordered), low=percentile(ordered, _LOW), high=percentile(ordered, _HIGH))
