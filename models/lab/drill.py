"""The drill: what labelled turns lose when the gates are forced shut, and when they are forced open.

A gate that is never seen to matter cannot be told from one that is broken. So the same turns are answered four times,
see `DrillArm`. Where nothing gets measurably worse with the gates shut, the work behind them does not earn its place.
Where random silence does as well as theirs, the gates know nothing of the turns.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from typing import Final

from recalld.models.calibration.intervals import wilson
from recalld.models.lab.drill_report import (
    ArmRates,
    Compared,
    DrillArm,
    DrillCost,
    DrillDetectable,
    DrillSet,
    DrillVerdict,
)
from recalld.models.lab.drill_rows import DrilledRow
from recalld.models.lab.paired import Paired, changes_min, compare, smallest_loss
from recalld.models.lab.placebo import placebo_of
from recalld.models.lab.report import Control, Count, Rate, RowCounts, rate_of
from recalld.models.lab.tally import percentile

STEADY: Final = (DrillArm.SHIPPED, DrillArm.FORCED_SHUT, DrillArm.FORCED_OPEN)
"""Arms that hand over the same each time."""


def drill_set(rows: Sequence[DrilledRow], *, disputed: int, rng: random.Random) -> DrillSet:
    """Everything that a drill tells about one set.

    Args:
        rows: Answered by each arm.
        disputed: Rows that were left out.
        rng: Draws the random silence.
    """
    answerable = [row for row in rows if row.label.is_answerable]
    nothing = [row for row in rows if not row.label.is_answerable]
    servable = sum(row.is_servable for row in rows)
    differences = sum(row.shipped != row.again for row in rows)
    against = {arm: _compared(rows, arm) for arm in STEADY if arm is not DrillArm.SHIPPED}
    return DrillSet(
        rows=RowCounts(
            total=len(rows) + disputed,
            disputed=disputed,
            answerable=len(answerable),
            nothing_relevant=len(nothing),
        ),
        candidates=Count(k=servable, n=len(answerable)),
        detectable=DrillDetectable(retention=smallest_loss(servable), silence=smallest_loss(len(nothing))),
        control=Control(arm=DrillArm.SHIPPED.value, rows=len(rows), differences=differences),
        arms={arm.value: _rates(rows, arm) for arm in STEADY},
        against_shipped={arm.value: compared for arm, compared in against.items()},
        random_skip=placebo_of(rows, rng),
        cost=_cost(rows),
        verdict=verdict_of(against[DrillArm.FORCED_SHUT].retention, differences=differences),
    )


def verdict_of(shut: Paired, *, differences: int) -> DrillVerdict:
    """What a drill says about the work that the gates guard.

    Args:
        shut: How retention changes when the gates are forced shut.
        differences: Rows on which the shipped gates decided otherwise the second time.
    """
    if differences:
        return DrillVerdict.NOT_REPRODUCIBLE
    if shut.is_worse:
        return DrillVerdict.EARNS_ITS_PLACE
    if shut.n < changes_min():
        return DrillVerdict.TOO_FEW_TURNS
    return DrillVerdict.DOES_NOT_EARN_ITS_PLACE


def _rates(rows: Sequence[DrilledRow], arm: DrillArm) -> ArmRates:
    servable = [row for row in rows if row.is_servable]
    answerable = [row for row in rows if row.label.is_answerable]
    nothing = [row for row in rows if not row.label.is_answerable]
    return ArmRates(
        retention=_rate(sum(row.helps(row.handed(arm)) for row in servable), len(servable)),
        silence=_rate(sum(not row.handed(arm) for row in nothing), len(nothing)),
        mean_injected=_mean_handed(answerable, arm),
        mean_injected_nothing_relevant=_mean_handed(nothing, arm),
    )


def _mean_handed(rows: Sequence[DrilledRow], arm: DrillArm) -> float:
    return sum(len(row.handed(arm)) for row in rows) / len(rows) if rows else 0.0


def _compared(rows: Sequence[DrilledRow], arm: DrillArm) -> Compared:
    return Compared(
        retention=compare([(row.helps(row.shipped), row.helps(row.handed(arm))) for row in rows if row.is_servable]),
        silence=compare([(not row.shipped, not row.handed(arm)) for row in rows if not row.label.is_answerable]),
    )


def _cost(rows: Sequence[DrilledRow]) -> DrillCost:
    times = sorted(row.elapsed_ms for row in rows)
    skips = Counter(row.skip_reason for row in rows if row.skip_reason)
    return DrillCost(
        pairs_scored=sum(row.pairs_scored for row in rows),
        ms_p50=percentile(times, 0.5),
        ms_p95=percentile(times, 0.95),
        spared=Count(k=skips.total(), n=len(rows)),
        skips=dict(sorted(skips.items())),
    )


def _rate(k: int, n: int) -> Rate:
    return rate_of(wilson(k, n))
