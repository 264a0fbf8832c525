"""The ledger as everybody but the store sees it: hand a row over without waiting, and settle before reading."""

from __future__ import annotations

from recalld.actors.events import EventBus, EventLevel
from recalld.actors.kernel import Address, AskError, PostOutcome
from recalld.actors.ports import Clock
from recalld.actors.store.messages import SettleLedger, StoreMessage
from recalld.models.domain.events import Event, EventName
from recalld.models.domain.store import AppendDecisions, DecisionRow


class Ledger:
    """Hands rows to the store actor, and counts what could not be kept.

    Attributes:
        rows_dropped: Rows lost since start: the store's mailbox was full, or the store refused them for too long.
    """

    def __init__(self, events: EventBus, clock: Clock) -> None:
        self._events = events
        self._clock = clock
        self._store: Address[StoreMessage] | None = None
        self.rows_dropped = 0

    def attach(self, store: Address[StoreMessage]) -> None:
        """Say which actor writes the rows; the actor itself needs `note_dropped` before it can be started."""
        self._store = store

    def append(self, row: DecisionRow) -> None:
        """Hand over a row. Never waits; a row that cannot be taken is counted and announced."""
        if self._store is None or self._store.post(AppendDecisions(rows=(row,))) is not PostOutcome.ACCEPTED:
            self.note_dropped(1)

    async def settle(self, *, deadline_s: float) -> bool:
        """Wait until every row handed over before is written, or the store refused it.

        Returns:
            Whether the store actor answered by the deadline.
        """
        if self._store is None:
            return False
        try:
            await self._store.ask(lambda reply: SettleLedger(reply=reply), deadline_s=deadline_s)
        except AskError:
            return False
        return True

    def note_dropped(self, count: int) -> None:
        """Count rows that were lost; announced when the count passes a power of two: loud at first, never a flood."""
        before, self.rows_dropped = self.rows_dropped, self.rows_dropped + count
        if before.bit_length() != self.rows_dropped.bit_length():
            self._events.publish(
                Event(
                    name=EventName.LEDGER_ROWS_DROPPED,
                    at_ms=self._clock.now_ms(),
                    fields={"rows_dropped": self.rows_dropped},
                ),
                EventLevel.WARNING,
            )
