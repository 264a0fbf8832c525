"""Which step of a recall each reason to drop a candidate belongs to."""

from __future__ import annotations

import enum
from types import MappingProxyType
from typing import Final

from recalld.models.domain.reasons import DropReason


class Stage(enum.StrEnum):
    """Where a candidate ended, in the order in which a recall goes through them."""

    SEARCH = "search"
    """Nominated, and not even read or not of the time that was asked for."""
    EXCLUSIONS = "exclusions"
    FLOOR = "floor"
    BUDGET = "budget"
    """Time ran out before the relevance gate came to it."""
    RELEVANCE = "relevance"
    PACK = "pack"
    INJECTED = "injected"


_STAGES: Final = MappingProxyType(
    {
        DropReason.OUTRANKED: Stage.SEARCH,
        DropReason.OUT_OF_INTERVAL: Stage.SEARCH,
        DropReason.WRONG_SCOPE: Stage.SEARCH,
        DropReason.NOT_LIVE: Stage.SEARCH,
        DropReason.ALREADY_VISIBLE: Stage.EXCLUSIONS,
        DropReason.EXCLUDED_BY_CALLER: Stage.EXCLUSIONS,
        DropReason.OWN_TEXT: Stage.EXCLUSIONS,
        DropReason.BELOW_FLOOR: Stage.FLOOR,
        DropReason.BUDGET: Stage.BUDGET,
        DropReason.BELOW_THRESHOLD: Stage.RELEVANCE,
        DropReason.BEHIND_BEST: Stage.RELEVANCE,
        DropReason.OVER_MAX_ITEMS: Stage.PACK,
        DropReason.OVER_MAX_CHARS: Stage.PACK,
    }
)


def stage_of(reason: str) -> Stage:
    """The step that dropped a candidate for this reason; without one it was injected.

    A reason of another version of this program counts as the search's: nothing past it is known.
    """
    if not reason:
        return Stage.INJECTED
    try:
        return _STAGES[DropReason(reason)]
    except (ValueError, KeyError):
        return Stage.SEARCH
