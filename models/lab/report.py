"""The report of an evaluation, as programs read it; docs/measuring.md says what each figure means."""

from __future__ import annotations

import msgspec

from recalld.models.calibration.intervals import Proportion


class Count(msgspec.Struct, frozen=True, kw_only=True):
    """`k` of `n`."""

    k: int
    n: int


class Share(msgspec.Struct, frozen=True, kw_only=True):
    """`k` of `n`, and the share; 0 of 0 is 0."""

    k: int
    n: int
    rate: float


class Rate(msgspec.Struct, frozen=True, kw_only=True):
    """`k` of `n`, the share, and its Wilson 95 % interval."""

    k: int
    n: int
    rate: float
    low: float
    high: float


class ArmReport(msgspec.Struct, frozen=True, kw_only=True):
    """One arm on one set.

    Attributes:
        silence: Of the rows with nothing relevant, those with nothing injected.
        retention: Of the answerable rows with a relevant memory among the arm's candidates, those with a relevant one
            injected.
        memory_retention: Of the relevant memories among the candidates of answerable rows, those injected.
        mean_injected: Memories injected per answerable row.
        precision: Of the memories injected on answerable rows, the relevant ones' share.
        f05: F0.5 of `precision` and the rate of `memory_retention`.
        by_kind: By kind of turn: retention where it is answerable, silence where it is not; a kind that is both is
            there twice, with `/retention` and `/silence` behind its name.
        pairs_scored: Pairs over all rows.
        ms_p50: Median of the milliseconds of a whole recall on one core.
        ms_p95: Their 95th percentile.
        candidates: Of all answerable rows, those with a relevant memory among the arm's candidates: the others lost it
            before the gate.
    """

    silence: Rate
    retention: Rate
    memory_retention: Rate
    mean_injected: float
    precision: float
    f05: float
    by_kind: dict[str, Share]
    pairs_scored: int
    ms_p50: float
    ms_p95: float
    candidates: Count


class SourceRates(msgspec.Struct, frozen=True, kw_only=True):
    """The two rates of one source."""

    silence: Rate
    retention: Rate


class Breakdown(msgspec.Struct, frozen=True, kw_only=True):
    """More about one arm on one set.

    Attributes:
        served: Of all answerable rows, those with a relevant memory injected, whatever the candidates held.
        precision: As in `ArmReport`, with count and interval.
        mean_injected_nothing_relevant: Memories injected per row with nothing relevant.
        by_memory_kind: Memory retention by kind of memory.
        by_source: The two rates by source.
    """

    served: Rate
    precision: Rate
    mean_injected_nothing_relevant: float
    by_memory_kind: dict[str, Share]
    by_source: dict[str, SourceRates]


class RowCounts(msgspec.Struct, frozen=True, kw_only=True):
    """Rows of a set; disputed ones are in `total` alone."""

    total: int
    disputed: int
    answerable: int
    nothing_relevant: int


class Control(msgspec.Struct, frozen=True, kw_only=True):
    """One arm judged twice on every row: with nothing changed, nothing may differ."""

    arm: str
    rows: int
    differences: int


class Detectable(msgspec.Struct, frozen=True, kw_only=True):
    """The smallest difference between two rates that so many rows can tell from chance; see `tally.detectable`."""

    silence: float
    retention: float


class CompoundRates(msgspec.Struct, frozen=True, kw_only=True):
    """The gates of one set, each alone and all together; see `compound`.

    Attributes:
        search: Of all relevant memories of answerable rows, those that the search nominated.
        turn: Of these, those whose turn the turn gate lets through; so for the other gates, each alone.
        floor: See `compound.RelevantPassed`.
        relevance: See `compound.RelevantPassed`.
        pack: See `compound.RelevantPassed`.
        joint: Of those nominated, those handed over with every gate in place.
        product: Of the rates of the four gates.
        injected: Of all relevant memories of answerable rows, those handed over.
    """

    search: Rate
    turn: Rate
    floor: Rate
    relevance: Rate
    pack: Rate
    joint: Rate
    product: float
    injected: Rate


class SetReport(msgspec.Struct, frozen=True, kw_only=True):
    """All arms on one set. `candidates` are those of the gate, or of the first arm where the gate was not asked for."""

    arms: dict[str, ArmReport]
    candidates: Count
    rows: RowCounts
    detectable: Detectable
    control: Control
    breakdown: dict[str, Breakdown]
    compound: CompoundRates | msgspec.UnsetType = msgspec.UNSET
    """Left out unless it was asked for."""


class CalibrationUsed(msgspec.Struct, frozen=True, kw_only=True):
    """What the gate ran with.

    Attributes:
        id: Of the record; empty when none fits what runs.
        is_own: Whether it was fitted on the operator's own turns.
        date: Of the fit.
        corpus_id: Name of the data of the fit.
        n: Turns it was fitted on.
        positives: Of these, answerable ones.
        target_retention: What the threshold was asked to keep.
        threshold: The one in force.
        mismatches: Why the record does not fit what runs; empty when it does.
    """

    id: str
    is_own: bool
    date: str
    corpus_id: str
    n: int
    positives: int
    target_retention: float
    threshold: float
    mismatches: tuple[str, ...] = ()


class EvalReport(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that was measured, by the name of the set."""

    sets: dict[str, SetReport]
    calibration: CalibrationUsed


def rate_of(proportion: Proportion) -> Rate:
    """The proportion under the names of the report."""
    return Rate(k=proportion.successes, n=proportion.n, rate=proportion.value, low=proportion.low, high=proportion.high)


def share_of(k: int, n: int) -> Share:
    """The share of `k` in `n`."""
    return Share(k=k, n=n, rate=k / n if n else 0.0)
