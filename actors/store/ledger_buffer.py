"""Ledger rows on their way to the store: gathered, so that a burst of recalls does not cost a disk sync each."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from itertools import islice
from typing import Final

from recalld.actors.kernel import ActorContext
from recalld.actors.ports import MemoryWriter
from recalld.actors.store.delayed_post import post_later
from recalld.actors.store.messages import FlushLedger, StoreMessage
from recalld.models.domain.errors import RecalldError
from recalld.models.domain.store import AppendDecisions, DecisionRow

BATCH_ROWS_MAX: Final = 64
"""Rows that are written at once when they have gathered: one transaction of about two milliseconds."""
BATCH_DELAY_S: Final = 0.25
"""Longest a row waits for company, in seconds: what a crash may cost the ledger, and no more."""
RETRY_DELAY_S: Final = 2.0
"""Pause before rows that the store refused (a full disk) are tried again, in seconds."""
WAITING_ROWS_MAX: Final = 4_096
"""Rows kept while the store refuses them; then the oldest are given up. About four megabytes."""


class LedgerBuffer:
    """Gathers ledger rows and writes them in batches. Used by the store actor alone, from its hooks.

    Args:
        writer: Where the rows go.
        on_rows_dropped: Told how many rows were given up.
    """

    def __init__(self, writer: MemoryWriter, on_rows_dropped: Callable[[int], None]) -> None:
        self._writer = writer
        self._on_rows_dropped = on_rows_dropped
        self._rows: deque[DecisionRow] = deque()
        self._is_timer_set = False
        self._is_refused = False

    async def add(self, rows: Sequence[DecisionRow], ctx: ActorContext[StoreMessage]) -> None:
        """Take rows; write all that wait once a batch has gathered, unless the store refused the last one."""
        self._rows.extend(rows)
        if len(self._rows) >= BATCH_ROWS_MAX and not self._is_refused:
            await self.flush()
        self._shed()
        self._set_timer(ctx)

    async def flush(self) -> None:
        """Write the rows that wait. Rows that the store refuses go on waiting."""
        while self._rows:
            batch = tuple(islice(self._rows, BATCH_ROWS_MAX))
            try:
                await self._writer.append_decisions(AppendDecisions(rows=batch))
            except RecalldError as error:
                self._is_refused = error.retryable
                if error.retryable:
                    return
                await self._write_singly(batch)
            for _ in batch:
                self._rows.popleft()
        self._is_refused = False

    async def flush_when_due(self, ctx: ActorContext[StoreMessage]) -> None:
        """Write the rows that wait; the timer has run out."""
        self._is_timer_set = False
        await self.flush()
        self._set_timer(ctx)

    async def _write_singly(self, batch: Sequence[DecisionRow]) -> None:
        """Write what can be written of a batch that holds something unstorable; the rest is given up."""
        dropped = 0
        for row in batch:
            try:
                await self._writer.append_decisions(AppendDecisions(rows=(row,)))
            except RecalldError:
                dropped += 1
        if dropped:
            self._on_rows_dropped(dropped)

    def give_up(self) -> None:
        """Drop the rows that wait, and say how many they were."""
        self._drop(len(self._rows))

    def _shed(self) -> None:
        self._drop(len(self._rows) - WAITING_ROWS_MAX)

    def _drop(self, count: int) -> None:
        if count <= 0:
            return
        for _ in range(count):
            self._rows.popleft()
        self._on_rows_dropped(count)

    def _set_timer(self, ctx: ActorContext[StoreMessage]) -> None:
        if self._rows and not self._is_timer_set:
            self._is_timer_set = True
            delay_s = RETRY_DELAY_S if self._is_refused else BATCH_DELAY_S
            post_later(ctx, FlushLedger(), delay_s, name="ledger timer")
