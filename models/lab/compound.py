"""All gates of a recall together, on labelled memories: how many pass every gate, beside how many pass each alone.

The product of the parts is what gates would let through together if they erred independently. They do not: what is hard
for one is often hard for the next, and then the joint share is above the product; where each drops what the others
keep, it is below. Only the joint share says what reaches the prompt.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence

import msgspec

from recalld.models.calibration.intervals import wilson
from recalld.models.domain.recall import RecalledItem
from recalld.models.lab.report import CompoundRates, Rate, rate_of
from recalld.models.lab.results import Question
from recalld.models.policy.pack import pack


class RelevantPassed(msgspec.Struct, frozen=True, kw_only=True):
    """What became of one relevant memory of an answerable row.

    Attributes:
        search: The search nominated it. What it did not, no gate was asked about.
        turn: The turn gate lets the turn through.
        floor: It is not below the similarity floor.
        relevance: The relevance gate lets it through with the floor lifted and nothing packed.
        pack: It is handed over when everything nominated passes, in the order of the search.
        joint: It is handed over with every gate in place.
    """

    search: bool
    turn: bool
    floor: bool
    relevance: bool
    pack: bool
    joint: bool


def compound_rates(memories: Sequence[RelevantPassed]) -> CompoundRates:
    """The rates of a set.

    Args:
        memories: Every relevant memory of every answerable row.
    """
    nominated = [each for each in memories if each.search]
    turn = _rate([each.turn for each in nominated])
    floor = _rate([each.floor for each in nominated])
    relevance = _rate([each.relevance for each in nominated])
    packed = _rate([each.pack for each in nominated])
    return CompoundRates(
        search=_rate([each.search for each in memories]),
        turn=turn,
        floor=floor,
        relevance=relevance,
        pack=packed,
        joint=_rate([each.joint for each in nominated]),
        product=math.prod(each.rate for each in (turn, floor, relevance, packed)),
        injected=_rate([each.search and each.joint for each in memories]),
    )


def passed_of_row(
    question: Question,
    relevant: Collection[str],
    *,
    is_turn_run: bool,
    unfloored: Collection[str],
    injected: Collection[str],
    max_items: int,
    max_chars: int,
) -> tuple[RelevantPassed, ...]:
    """What became of the relevant memories of one row, each gate alone and all together.

    Args:
        question: What the search found.
        relevant: Ids of what helps.
        is_turn_run: Whether the turn gate lets the turn through.
        unfloored: Ids of what is handed over without floor, turn gate and limits.
        injected: Ids of what is handed over with every gate in place.
        max_items: Memories handed over at most.
        max_chars: Characters handed over at most.
    """
    nominated = {each.memory.id for each in question.nominated}
    above_floor = {each.memory.id for each in question.above_floor}
    everything = tuple(
        RecalledItem(memory=each.memory, evidence=each.evidence, relevance=None) for each in question.nominated
    )
    packed = {item.memory.id for item in pack(everything, max_items=max_items, max_chars=max_chars).items}
    return tuple(
        RelevantPassed(
            search=each in nominated,
            turn=is_turn_run,
            floor=each in above_floor,
            relevance=each in unfloored,
            pack=each in packed,
            joint=each in injected,
        )
        for each in sorted(relevant)
    )


def _rate(passed: Sequence[bool]) -> Rate:
    return rate_of(wilson(sum(passed), len(passed)))
