"""The figures of a replay, as they are printed and written as JSON."""

from __future__ import annotations

import msgspec

from recalld.models.lab.replay_cases import LeftOut
from recalld.models.lab.report import Control, Rate


class GateReport(msgspec.Struct, frozen=True, kw_only=True):
    """One gate.

    Attributes:
        turns: Turns of users that it read.
        writes: Records that it made or closed.
        write_rate: Records per turn.
        precision: Of the records, those that state a labelled fact of their turn. None: the labels do not tell.
        recall: Of the labelled facts, those that a record of their turn states.
        wrong_per_1000: Wrong records per 1,000 turns: write rate x 1,000 x (1 - precision). None: as above.
        ms_p50: Median of the milliseconds per turn.
        ms_p95: Their 95th percentile.
        turn_precision: Of the turns with a record, those with no wrong one. None: as above.
        turn_recall: Of the turns that state a fact, those of which a record states one.
        observed: Facts that it noted as evidence.
        proposed: Facts that it would ask the user about.
    """

    turns: int
    writes: int
    write_rate: float
    precision: Rate | None
    recall: Rate
    wrong_per_1000: float | None
    ms_p50: float
    ms_p95: float
    turn_precision: Rate | None
    turn_recall: Rate
    observed: int
    proposed: int


class WrongRecord(msgspec.Struct, frozen=True, kw_only=True):
    """A record that states no labelled fact of its turn.

    Attributes:
        row: The conversation.
        turn: In that, from 0.
        statement: What is stored.
        rule: What let it in, as in `rule:employer/works_at`.
        also: What else found it.
        set: The set of the conversation.
        reason: Why the turn states nothing, where the labels say it; empty where it states something else.
    """

    row: str
    turn: int
    statement: str
    rule: str
    also: tuple[str, ...]
    set: str
    reason: str


class Detectable(msgspec.Struct, frozen=True, kw_only=True):
    """The smallest difference between two rates that so many records and facts can tell from chance."""

    precision: float
    recall: float


class ReplayCounts(msgspec.Struct, frozen=True, kw_only=True):
    """What a set holds. `undated` conversations say nothing of when they were."""

    rows: int
    turns: int
    turns_stating: int
    facts: int
    undated: int


class ReplaySet(msgspec.Struct, frozen=True, kw_only=True):
    """All gates on one source.

    Attributes:
        is_weak: Whether its labels allow figures of recall alone.
        counts: What it holds.
        excluded: What is left out of it.
        detectable: See there.
        identity: The shipped stack twice.
        gates: By name.
    """

    is_weak: bool
    counts: ReplayCounts
    excluded: LeftOut
    detectable: Detectable
    identity: Control
    gates: dict[str, GateReport]


class JudgeUsed(msgspec.Struct, frozen=True, kw_only=True):
    """The local judge that was replayed.

    Attributes:
        id: Of its calibration record; empty: there is none for the configured embedder.
        date: Of its fit.
        sha256: Of the record.
        corpus_sha256: Of the turns that it was fitted on.
        is_held_out: Whether each style was judged by a fit on the others.
        mismatch: Why there is none.
    """

    id: str = ""
    date: str = ""
    sha256: str = ""
    corpus_sha256: str = ""
    is_held_out: bool = False
    mismatch: str = ""


class ReplayReport(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that was measured.

    Attributes:
        gates: Over all sets that are pooled, by name; `stack` is what runs.
        wrong: Every wrong record of `stack` on the pooled sets.
        position: Of `stack`.
        pooled: Sets behind `gates`: those whose labels allow figures of precision, or all where none does.
        sets: By source.
        excluded: What is left out of all sets.
        identity: The shipped stack twice, over all sets.
        minimum_detectable: Over the pooled sets.
        judge: Which one ran.
    """

    gates: dict[str, GateReport]
    wrong: tuple[WrongRecord, ...]
    position: str
    pooled: tuple[str, ...]
    sets: dict[str, ReplaySet]
    excluded: LeftOut
    identity: Control
    minimum_detectable: Detectable
    judge: JudgeUsed
