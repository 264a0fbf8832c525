"""Which pairs to score, best first, in the time there is.

Guards: the gate's latency. Cost: one heap operation per pair. Fails: towards fewer pairs; at least one is always tried
while any time is left.

The first view of every candidate comes before any second view: judging eight memories once beats judging four twice.
The plan is a prefix of that order: it ends at the first pair that is predicted not to fit, so more time never makes it
lose a pair, and a worse candidate never takes a better one's place. What a plan has brought in earlier than predicted,
because its scores were remembered or the machine was fast, leaves time for another one.
"""

from __future__ import annotations

import heapq
from collections.abc import Collection, Sequence

import msgspec

from recalld.models.policy.views import View, ViewName

PairName = tuple[str, ViewName]
"""A pair of one recall: the id of its memory, and how it is put."""

CANDIDATES_MAX = 8
"""Candidates scored at most: more than the usual three, because what helps is often not among those; the shipped
calibration is fitted with as many."""


class GateEntry(msgspec.Struct, frozen=True, kw_only=True):
    """One candidate that may be scored.

    Attributes:
        memory_id: Whose views these are.
        views: In the order of `plan_views`; not empty.
        predicted_ms: What each view will cost on one lane: its tokens times the measured ms per token.
        decided: Whether bounds already decide: True passes, False fails, None must be scored.
    """

    memory_id: str
    views: tuple[View, ...]
    predicted_ms: tuple[float, ...]
    decided: bool | None = None


class PlannedPair(msgspec.Struct, frozen=True, kw_only=True):
    """One pair to score."""

    memory_id: str
    view: View
    predicted_ms: float

    @property
    def name(self) -> PairName:
        """What tells it apart from the other pairs of a recall."""
        return self.memory_id, self.view.name


class GatePlan(msgspec.Struct, frozen=True, kw_only=True):
    """What to score and what not.

    Attributes:
        pairs: In order of worth.
        dropped_by_budget: Candidates of which no view fits the time, best first.
        dropped_by_count: Candidates beyond `candidates_max`, and those behind enough decided ones.
        predicted_ms: When the last lane is expected to finish.
    """

    pairs: tuple[PlannedPair, ...]
    dropped_by_budget: tuple[str, ...] = ()
    dropped_by_count: tuple[str, ...] = ()
    predicted_ms: float = 0.0


def plan_pairs(
    entries: Sequence[GateEntry],
    *,
    lanes: int,
    budget_ms: float,
    max_items: int,
    candidates_max: int = CANDIDATES_MAX,
    known: Collection[PairName] = frozenset(),
) -> GatePlan:
    """Choose the pairs to score.

    Args:
        entries: Candidates, best first.
        lanes: Pairs that run at the same time, from 1.
        budget_ms: Time for all of it; at or below 0 nothing is scored.
        max_items: Items the caller will take; once so many better candidates have passed by their bounds alone, the
            rest is not scored.
        candidates_max: Candidates scored at most; those decided by bounds cost nothing and do not count.
        known: Pairs that were scored by earlier plans of this recall: they cost nothing any more. With any of them, the
            next pair is tried only if it is predicted to fit.

    Raises:
        ValueError: `lanes` is below 1, or an entry has no view or not one prediction per view.
    """
    if lanes < 1:
        message = f"lanes must be at least 1, got {lanes}"
        raise ValueError(message)
    wanted, beyond = _choose(entries, max_items=max_items, candidates_max=candidates_max)
    if budget_ms <= 0:
        return GatePlan(
            pairs=(), dropped_by_budget=tuple(entry.memory_id for entry in wanted), dropped_by_count=tuple(beyond)
        )
    ordered = [pair for pair in _in_order(wanted) if pair.name not in known]
    pairs, predicted_ms = _fit(ordered, lanes=lanes, budget_ms=budget_ms, is_one_tried=not known)
    tried = {pair.memory_id for pair in pairs} | {memory_id for memory_id, _ in known}
    return GatePlan(
        pairs=tuple(pairs),
        dropped_by_budget=tuple(entry.memory_id for entry in wanted if entry.memory_id not in tried),
        dropped_by_count=tuple(beyond),
        predicted_ms=predicted_ms,
    )


def _choose(entries: Sequence[GateEntry], *, max_items: int, candidates_max: int) -> tuple[list[GateEntry], list[str]]:
    """Split the undecided entries into those worth scoring and the ids of those beyond the counts."""
    wanted: list[GateEntry] = []
    beyond: list[str] = []
    passing = 0
    for entry in entries:
        if not entry.views or len(entry.views) != len(entry.predicted_ms):
            message = f"entry {entry.memory_id} must have at least one view and one prediction per view"
            raise ValueError(message)
        if entry.decided is not None:
            passing += entry.decided
        elif passing >= max_items or len(wanted) >= candidates_max:
            beyond.append(entry.memory_id)
        else:
            wanted.append(entry)
    return wanted, beyond


def _in_order(entries: Sequence[GateEntry]) -> list[PlannedPair]:
    """All pairs: every first view, best candidate first, then every second view, and so on."""
    depth = max((len(entry.views) for entry in entries), default=0)
    return [
        PlannedPair(memory_id=entry.memory_id, view=entry.views[place], predicted_ms=entry.predicted_ms[place])
        for place in range(depth)
        for entry in entries
        if place < len(entry.views)
    ]


def _fit(
    ordered: Sequence[PlannedPair], *, lanes: int, budget_ms: float, is_one_tried: bool
) -> tuple[list[PlannedPair], float]:
    """The longest prefix that finishes in time when each pair goes to the lane that is free first."""
    free_at_ms = [0.0] * lanes
    pairs: list[PlannedPair] = []
    last_ms = 0.0
    for pair in ordered:
        finish_ms = free_at_ms[0] + pair.predicted_ms
        if finish_ms > budget_ms and (pairs or not is_one_tried):
            break
        heapq.heapreplace(free_at_ms, finish_ms)
        pairs.append(pair)
        last_ms = max(last_ms, finish_ms)
    return pairs, last_ms
