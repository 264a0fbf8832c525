"""What the recall actor of one user can be told."""

from __future__ import annotations

import msgspec
import numpy as np
from numpy.typing import NDArray

from recalld.actors.kernel import Reply
from recalld.models.domain.admission import SessionEvent
from recalld.models.domain.recall import RecallOutcome, RecallQuery
from recalld.models.domain.standing import StandingBlock, StandingRequest


class Recall(msgspec.Struct, frozen=True, kw_only=True):
    """Answer a recall."""

    query: RecallQuery
    reply: Reply[RecallOutcome]


class ChangeSession(msgspec.Struct, frozen=True, kw_only=True):
    """A session started, was compacted or ended: what was visible in it no longer is."""

    session: str
    event: SessionEvent
    reply: Reply[None]


class GiveStanding(msgspec.Struct, frozen=True, kw_only=True):
    """Answer with the standing block, once for each session."""

    request: StandingRequest
    reply: Reply[StandingBlock]


class ListShown(msgspec.Struct, frozen=True, kw_only=True):
    """Answer with the ids of the memories that recalls have put before the user in a session."""

    session: str
    reply: Reply[tuple[str, ...]]


class FindNear(msgspec.Struct, frozen=True, kw_only=True):
    """Answer, for each text that is about to be stored, with the ids of live memories whose text lies near.

    Attributes:
        vectors: One for each text, L2-normalised, as records are embedded.
        scopes: Where each of them holds; memories of that scope and of the global one are looked at.
        embedder_key: What made the vectors.
        cosine_min: How near they must lie, in [-1, 1].
        limit: How many for each text, the nearest first.
    """

    vectors: tuple[NDArray[np.float32], ...]
    scopes: tuple[str, ...]
    embedder_key: str
    now_ms: int
    cosine_min: float
    limit: int
    reply: Reply[tuple[tuple[str, ...], ...]]


RecallMessage = Recall | ChangeSession | GiveStanding | ListShown | FindNear
