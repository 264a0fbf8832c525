"""What is shown of a list that no gate has judged: only what stands out of it.

Guards: the user's attention while the relevance gate cannot judge, or cannot read a memory.
Cost: three comparisons per candidate. Fails: towards less; what is left out is named with its reason.

The list is the floor's own, in its own order. What is in view already or was excluded by the caller keeps its place in
it, so that leaving out a good hit never brings up the leftovers behind it: the answer is always a part of what would
have been shown without the exclusions.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

import msgspec

from recalld.models.domain.reasons import DropReason
from recalld.models.domain.recall import Candidate, DroppedItem, Evidence
from recalld.models.policy.floor import FloorValues

LAG_MAX = 0.15
"""How far a candidate may lie behind the list's best, in cosine above its own floor. Set by hand: a memory that answers
lies that far above the floor as a rule, and what merely passed it does not."""


class DegradedList(msgspec.Struct, frozen=True, kw_only=True):
    """What is shown, order kept, and what is held back."""

    shown: tuple[Candidate, ...]
    dropped: tuple[DroppedItem, ...]


def stand_out(
    ranked: Sequence[Candidate],
    *,
    kept: Collection[str],
    floors: FloorValues,
    items_max: int,
    timed: Collection[str] = (),
    lag_max: float = LAG_MAX,
) -> DegradedList:
    """Choose what may be shown unjudged.

    A candidate without a vector has nothing to lie behind with, and neither has one in a list without any.

    Args:
        ranked: What passed the floor, best first, also what is excluded.
        kept: Ids of those that are not excluded.
        floors: From where each cosine counts.
        items_max: Places; excluded candidates take theirs.
        timed: Ids of those that answer by their time, for which their cosines say nothing.
        lag_max: How far behind the best a candidate may lie; infinite for a search, which leaves nothing out for that.
    """
    heights = [None if each.memory.id in timed else _height(each.evidence, floors) for each in ranked]
    lowest = max((height for height in heights if height is not None), default=0.0) - lag_max
    shown: list[Candidate] = []
    dropped: list[DroppedItem] = []
    places = 0
    for candidate, height in zip(ranked, heights, strict=True):
        is_kept = candidate.memory.id in kept
        reason: DropReason | None
        if height is not None and height < lowest:
            reason = DropReason.BEHIND_BEST
        else:
            reason = None if places < items_max else DropReason.OVER_MAX_ITEMS
            places += 1
        if is_kept and reason is None:
            shown.append(candidate)
        elif is_kept and reason is not None:
            dropped.append(_dropped(candidate, reason))
    return DegradedList(shown=tuple(shown), dropped=tuple(dropped))


def _height(evidence: Evidence, floors: FloorValues) -> float | None:
    """How far its best cosine lies above that text's floor; None without a vector."""
    heights = [
        cosine - floor
        for cosine, floor in (
            (evidence.cosine, floors.record),
            (evidence.cue_cosine, floors.cue),
            (evidence.ask_cosine, floors.ask),
        )
        if cosine is not None
    ]
    return max(heights, default=None)


def _dropped(candidate: Candidate, reason: DropReason) -> DroppedItem:
    return DroppedItem(memory_id=candidate.memory.id, reason=reason, evidence=candidate.evidence)
