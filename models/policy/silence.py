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
    *, coverage: Coverage | None, has_vectors: bool, candidates: int, above_floor: int, not_excluded: int
) -> RecallReason:
    """The first step at which nothing was left.

    Args:
        coverage: What could be searched; None when it was not counted in time.
        has_vectors: Whether it could be searched by meaning; by words alone, having found nothing proves nothing.
        candidates: Nominated by words or vectors.
        above_floor: Of those, not below the floor.
        not_excluded: Of those, not excluded: what the gate was shown.
    """
    if coverage is not None and coverage.discovered == 0:
        return RecallReason.NOTHING_STORED
    if coverage is not None and coverage.searched == 0:
        return RecallReason.EXCLUDED
    if above_floor == 0 and not has_vectors:
        return RecallReason.DEGRADED
    if candidates == 0:
        is_all_pending = coverage is not None and coverage.pending_embedding == coverage.searched
        return RecallReason.EMBEDDING_PENDING if is_all_pending else RecallReason.NO_CANDIDATES
    if above_floor == 0:
        return RecallReason.BELOW_FLOOR
    return RecallReason.EXCLUDED if not_excluded == 0 else RecallReason.GATED
