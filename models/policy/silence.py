"""Telling the empties apart: why a recall has nothing to hand over."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from recalld.models.domain.reasons import DegradedReason, RecallReason
from recalld.models.domain.recall import Coverage

_EMPTY: Final[Mapping[RecallReason, DegradedReason]] = MappingProxyType(
    {
        RecallReason.STORE_UNREADABLE: DegradedReason.STORE_UNREADABLE,
        RecallReason.ENVELOPE_EXCEEDED: DegradedReason.ENVELOPE_EXCEEDED,
        RecallReason.RECALL_FAILED: DegradedReason.RECALL_FAILED,
        RecallReason.BUSY: DegradedReason.QUEUE_FULL,
        RecallReason.DRAINING: DegradedReason.DRAINING,
    }
)


def why_empty(reason: RecallReason) -> DegradedReason:
    """What stood in the way of a recall that ended, with an error and with nothing, for this reason.

    Raises:
        KeyError: Nothing stands in the way of a recall that ends so.
    """
    return _EMPTY[reason]


def why_silent(
    *,
    coverage: Coverage | None,
    has_vectors: bool,
    candidates: int,
    above_floor: int,
    not_excluded: int,
    timed: int | None = None,
    asks_only_for_time: bool = False,
    is_best_excluded: bool = False,
) -> RecallReason:
    """The first step at which nothing was left.

    Args:
        coverage: What could be searched; None when it was not counted in time.
        has_vectors: Whether it could be searched by meaning; by words alone, having found nothing proves nothing.
        candidates: Nominated by words or vectors.
        above_floor: Of those, not below the floor.
        not_excluded: Of those, not excluded: what the gate was shown.
        timed: Records of the time that the query speaks of; None: it speaks of none.
        asks_only_for_time: Whether it asks for nothing but that time.
        is_best_excluded: Whether the candidate that came first is in view already or was excluded by the caller.
    """
    if coverage is not None and coverage.searched == 0:
        return _why_nothing_was_searched(coverage)
    if above_floor == 0 and not has_vectors:
        return RecallReason.DEGRADED
    if above_floor == 0:
        is_all_pending = coverage is not None and coverage.pending_embedding >= coverage.searched
        return _why_nothing_came_near(candidates, timed, is_all_pending=is_all_pending)
    if asks_only_for_time and timed == 0:
        return RecallReason.NOTHING_IN_INTERVAL  # what else came near is not what was asked for
    return RecallReason.EXCLUDED if not_excluded == 0 or is_best_excluded else RecallReason.GATED


def _why_nothing_was_searched(coverage: Coverage) -> RecallReason:
    if coverage.discovered == 0:
        return RecallReason.NOTHING_STORED
    return RecallReason.NOTHING_IN_INTERVAL if coverage.skipped_out_of_interval else RecallReason.EXCLUDED


def _why_nothing_came_near(candidates: int, timed: int | None, *, is_all_pending: bool) -> RecallReason:
    if candidates == 0 and is_all_pending:
        return RecallReason.EMBEDDING_PENDING
    # A time of which nothing is stored explains an empty answer better than that nothing else came near.
    if timed == 0:
        return RecallReason.NOTHING_IN_INTERVAL
    return RecallReason.NO_CANDIDATES if candidates == 0 else RecallReason.BELOW_FLOOR
