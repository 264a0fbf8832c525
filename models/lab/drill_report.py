"""The report of a drill, as programs read it; docs/measuring.md says what each figure means."""

from __future__ import annotations

import enum

import msgspec

from recalld.models.lab.paired import Paired
from recalld.models.lab.report import CalibrationUsed, Control, Count, Rate, RowCounts


class DrillArm(enum.StrEnum):
    """What becomes of a turn."""

    SHIPPED = "shipped"
    """What the gates decide, as configured."""
    FORCED_SHUT = "forced_shut"
    """Nothing is handed over."""
    FORCED_OPEN = "forced_open"
    """What the similarity floor alone leaves is handed over, on every turn."""
    RANDOM_SKIP = "random_skip"
    """As with the gates open, but on turns drawn at random nothing."""


class DrillVerdict(enum.StrEnum):
    """What a drill says about the work that the gates guard."""

    EARNS_ITS_PLACE = "earns_its_place"
    """With the gates shut, measurably fewer turns are helped."""
    DOES_NOT_EARN_ITS_PLACE = "does_not_earn_its_place"
    """With the gates shut, nothing gets measurably worse."""
    TOO_FEW_TURNS = "too_few_turns"
    """Not even the loss of all help could be told from chance."""
    NOT_REPRODUCIBLE = "not_reproducible"
    """The same gates decided otherwise the second time, so that no difference means anything."""


class ArmRates(msgspec.Struct, frozen=True, kw_only=True):
    """One arm on one set.

    Attributes:
        retention: Of the answerable rows for which the search finds a relevant memory, those with one handed over.
        silence: Of the rows with nothing relevant, those with nothing handed over.
        mean_injected: Memories handed over per answerable row.
        mean_injected_nothing_relevant: The same per row with nothing relevant.
    """

    retention: Rate
    silence: Rate
    mean_injected: float
    mean_injected_nothing_relevant: float


class Compared(msgspec.Struct, frozen=True, kw_only=True):
    """What changes from the shipped gates to another arm, row by row."""

    retention: Paired
    silence: Paired


class Spread(msgspec.Struct, frozen=True, kw_only=True):
    """A rate over the draws of a placebo: its mean, and where 95 of 100 draws lie."""

    mean: float
    low: float
    high: float


class Placebo(msgspec.Struct, frozen=True, kw_only=True):
    """Random silence as frequent as the gates'.

    Attributes:
        draws: How often it was drawn.
        silent: Rows with nothing handed over, in each draw.
        retention: Over the draws.
        silence: Over the draws.
        as_good: Draws with at least the gates' retention and at least their silence.
        p_value: How often chance does as well as the gates: `(as_good + 1) / (draws + 1)` (B. Phipson, G. K. Smyth,
            2010).
    """

    draws: int
    silent: int
    retention: Spread
    silence: Spread
    as_good: int
    p_value: float


class DrillDetectable(msgspec.Struct, frozen=True, kw_only=True):
    """The smallest loss that so many rows can tell from chance; see `paired.smallest_loss`."""

    retention: float
    silence: float


class DrillCost(msgspec.Struct, frozen=True, kw_only=True):
    """What the shipped gates and the work behind them take, and what shutting them would spare.

    Attributes:
        pairs_scored: Over all rows.
        ms_p50: Median of the milliseconds of a recall on one core.
        ms_p95: Their 95th percentile.
        spared: Rows on which the turn gate spared the search.
        skips: These rows by the reason that the turn gate gave for each; they add up to `spared`.
    """

    pairs_scored: int
    ms_p50: float
    ms_p95: float
    spared: Count
    skips: dict[str, int]


class DrillSet(msgspec.Struct, frozen=True, kw_only=True):
    """A drill on one set.

    Attributes:
        rows: Disputed ones are in `total` alone.
        candidates: Of all answerable rows, those for which the search finds a relevant memory.
        detectable: What these rows could tell.
        control: The shipped gates asked twice.
        arms: By name; those whose answer is the same each time.
        against_shipped: By name.
        random_skip: The placebo.
        cost: Of the shipped gates.
        verdict: On the work behind the gates.
    """

    rows: RowCounts
    candidates: Count
    detectable: DrillDetectable
    control: Control
    arms: dict[str, ArmRates]
    against_shipped: dict[str, Compared]
    random_skip: Placebo
    cost: DrillCost
    verdict: DrillVerdict


class DrillReport(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that was drilled, by the name of the set."""

    sets: dict[str, DrillSet]
    calibration: CalibrationUsed
