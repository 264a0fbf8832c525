"""From what every gate made of every turn to the report of a replay."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import msgspec

from recalld.models.lab.replay_cases import Case, LeftOut, total_left_out
from recalld.models.lab.replay_labels import LabelledTurn, TurnResult
from recalld.models.lab.replay_report import (
    GateReport,
    JudgeUsed,
    ReplayCounts,
    ReplayReport,
    ReplaySet,
)
from recalld.models.lab.replay_tally import detectable_in, gate_report, identity, listed_wrong, without_unmet_ends

STACK: Final = "stack"
"""The gate that runs: generators and policy at the position in force. Those of other positions begin with the name."""


class SetResults(msgspec.Struct, frozen=True, kw_only=True):
    """One set, replayed.

    Attributes:
        name: In the report.
        is_weak: Whether its labels allow figures of recall alone.
        cases: Its conversations.
        excluded: What is left out of it as a whole, without the facts that its cases leave out.
        results: What each gate made of each labelled turn, in the order of the cases.
        again: What `stack` made of them the second time.
    """

    name: str
    is_weak: bool
    cases: tuple[Case, ...]
    excluded: LeftOut
    results: dict[str, tuple[TurnResult, ...]]
    again: tuple[TurnResult, ...]

    @property
    def labels(self) -> tuple[LabelledTurn, ...]:
        """Every labelled turn as it counts: without ends of what the store of its conversation never held."""
        turns = [turn for case in self.cases for turn in case.labels]
        stacks = [found for name, found in self.results.items() if name.startswith(STACK)]
        return tuple(map(without_unmet_ends, turns, zip(*stacks, strict=True)))

    @property
    def left_out(self) -> LeftOut:
        """All that is left out."""
        ending = sum(len(turn.facts) for case in self.cases for turn in case.labels)
        ending -= sum(len(turn.facts) for turn in self.labels)
        return total_left_out((self.excluded, *(case.left_out for case in self.cases), LeftOut(facts_ending=ending)))


def summarise(sets: Sequence[SetResults], *, position: str, judge: JudgeUsed) -> ReplayReport:
    """Count everything.

    Args:
        sets: At least one.
        position: Of `stack`.
        judge: Which one ran.
    """
    pooled = [each for each in sets if not each.is_weak] or list(sets)
    labels = [turn for each in pooled for turn in each.labels]
    names = list(pooled[0].results)
    gates = {name: gate_report(labels, [one for each in pooled for one in each.results[name]]) for name in names}
    once = [one for each in sets for one in each.results[STACK]]
    again = [one for each in sets for one in each.again]
    wrong = [
        one for each in pooled if not each.is_weak for one in listed_wrong(each.name, each.labels, each.results[STACK])
    ]
    return ReplayReport(
        gates=gates,
        wrong=tuple(wrong),
        position=position,
        pooled=tuple(each.name for each in pooled),
        sets={each.name: _set_report(each) for each in sets},
        excluded=total_left_out([each.left_out for each in sets]),
        identity=identity(STACK, once, again),
        minimum_detectable=detectable_in(gates[STACK]),
        judge=judge,
    )


def _set_report(each: SetResults) -> ReplaySet:
    labels = each.labels
    gates: dict[str, GateReport] = {name: gate_report(labels, found) for name, found in each.results.items()}
    return ReplaySet(
        is_weak=each.is_weak,
        counts=ReplayCounts(
            rows=len(each.cases),
            turns=len(labels),
            turns_stating=sum(bool(turn.facts) for turn in labels),
            facts=sum(len(turn.facts) for turn in labels),
            undated=sum(case.is_undated for case in each.cases),
        ),
        excluded=each.left_out,
        detectable=detectable_in(gates[STACK]),
        identity=identity(STACK, each.results[STACK], each.again),
        gates=gates,
    )
