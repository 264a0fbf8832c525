"""What the user's recall coordinator knows, asked on the way to a write.

Nothing here holds up or fails a write: without an answer in time, nothing was shown and nothing lies near. The store
then still recognises the same words and the same slot.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import msgspec
import numpy as np
from numpy.typing import NDArray

from recalld.actors.kernel import Address, AskError
from recalld.actors.ports import Clock
from recalld.actors.recall.messages import FindNear, ListShown, RecallMessage
from recalld.models.domain.errors import RecalldError

ANSWER_S_MAX: Final = 0.5
"""Longest a write waits: loading a large index takes longer, and then the next turn finds it loaded."""
NEAR_COSINE_MIN: Final = 0.85
"""Low on purpose: what lies nearer is looked at, and nothing more; see `policy.same_fact` for what decides."""
NEAR_MAX: Final = 8


class NearText(msgspec.Struct, frozen=True, kw_only=True):
    """A text that is about to be stored: its vector, and where it holds."""

    vector: NDArray[np.float32]
    scope: str


class RecallView:
    """Asks the recall actor of one user.

    Args:
        recall: That actor.
        clock: Time.
    """

    def __init__(self, recall: Address[RecallMessage], clock: Clock) -> None:
        self._recall = recall
        self._clock = clock

    async def shown(self, session: str, *, deadline_s: float) -> tuple[str, ...]:
        """Ids of the memories that recalls have put before the user in a session."""
        try:
            return await self._recall.ask(
                lambda reply: ListShown(session=session, reply=reply), deadline_s=self._by(deadline_s)
            )
        except (AskError, RecalldError):
            return ()

    async def near(
        self, texts: Sequence[NearText], *, embedder_key: str, now_ms: int, deadline_s: float
    ) -> tuple[tuple[str, ...], ...]:
        """For each text the ids of live memories whose text lies near, the nearest first."""
        nothing: tuple[tuple[str, ...], ...] = ((),) * len(texts)
        if not texts:
            return nothing
        try:
            return await self._recall.ask(
                lambda reply: FindNear(
                    vectors=tuple(text.vector for text in texts),
                    scopes=tuple(text.scope for text in texts),
                    embedder_key=embedder_key,
                    now_ms=now_ms,
                    cosine_min=NEAR_COSINE_MIN,
                    limit=NEAR_MAX,
                    reply=reply,
                ),
                deadline_s=self._by(deadline_s),
            )
        except (AskError, RecalldError):
            return nothing

    def _by(self, deadline_s: float) -> float:
        return min(deadline_s, self._clock.monotonic_s() + ANSWER_S_MAX)
