"""What the families read out of a request in the same way: the user's words, the moment, the caller's model."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from datetime import UTC, datetime
from types import MappingProxyType
from zoneinfo import ZoneInfo

from recalld.models.domain.decide import DecideCandidate, DecideRequest, ModelFailure
from recalld.models.policy.duplicates import fold
from recalld.models.policy.host_text import strip_host_text
from recalld.models.policy.turn.directions import GateCause
from recalld.models.policy.turn.turn_input import own_words

KEY_BYTES = 12

MODEL_CAUSES: Mapping[ModelFailure, GateCause] = MappingProxyType(
    {
        ModelFailure.ERROR: GateCause.ERROR,
        ModelFailure.TIMEOUT: GateCause.TIMEOUT,
        ModelFailure.REFUSED: GateCause.ERROR,
        ModelFailure.NO_BUDGET: GateCause.BUDGET,
        ModelFailure.CANCELLED: GateCause.ERROR,
    }
)
"""What each failure of the caller's model means for a gate."""


def message_of(request: DecideRequest) -> str:
    """The user's own words, host text removed; empty when there are none."""
    return own_words(request.parts)


def moment_of(request: DecideRequest) -> tuple[datetime, ZoneInfo] | None:
    """The present and the zone; None unless both were supplied."""
    if request.now_ms is None or not request.time_zone:
        return None
    return datetime.fromtimestamp(request.now_ms / 1000, tz=UTC), ZoneInfo(request.time_zone)


def age_ms_of(candidate: DecideCandidate, now_ms: int | None) -> int | None:
    """How old a candidate is; None when nobody can say."""
    if candidate.at_ms is not None and now_ms is not None:
        return max(0, now_ms - candidate.at_ms)
    return candidate.age_ms


def content_of(candidate: DecideCandidate) -> str:
    """The words of a candidate without what a host wrote into it; empty when nothing is left."""
    words = (candidate.title, candidate.description, candidate.text)
    return strip_host_text("\n".join(word for word in words if word))


def content_key(candidate: DecideCandidate) -> str:
    """What candidates that say the same have in common, whatever they are called: a digest of their folded words."""
    words = fold(content_of(candidate)) or f"\x1f{candidate.id}"
    return hashlib.blake2b(words.encode("utf-8", "surrogatepass"), digest_size=KEY_BYTES).hexdigest()
