"""The end of a hard forgetting that a reader of the write-ahead log held up."""

from __future__ import annotations

from typing import Final

from recalld.actors.kernel import ActorContext
from recalld.actors.ports import MemoryWriter
from recalld.actors.store.delayed_post import post_later
from recalld.actors.store.messages import FinishErasure, StoreMessage
from recalld.models.domain.errors import RecalldError

ERASURE_RETRY_S: Final = 3.0
"""Pause between two attempts, in seconds. Each may hold up other writes for a quarter of a second."""


class PendingErasure:
    """Tries until the log is gone. Used by the store actor alone, from its hooks.

    Args:
        writer: Whose log it is.
    """

    def __init__(self, writer: MemoryWriter) -> None:
        self._writer = writer
        self._is_timer_set = False

    def retry_later(self, ctx: ActorContext[StoreMessage]) -> None:
        """See to it that the log is truncated soon."""
        if not self._is_timer_set:
            self._is_timer_set = True
            post_later(ctx, FinishErasure(), ERASURE_RETRY_S, name="erasure timer")

    async def retry(self, ctx: ActorContext[StoreMessage]) -> None:
        """Truncate the log now; the timer has run out."""
        self._is_timer_set = False
        try:
            is_erased = (await self._writer.truncate_log()).is_truncated
        except RecalldError:
            is_erased = False
        if not is_erased:
            self.retry_later(ctx)
