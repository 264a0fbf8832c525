"""The in-memory store's table of turns that wait for a language model."""

from __future__ import annotations

import msgspec

from recalld.models.domain.extraction import PendingTurn


class PendingState(msgspec.Struct, kw_only=True):
    """Turns of one user.

    Attributes:
        turns: By number, in order of arrival.
        set_aside: Numbers of those that are not tried again.
        expired: How many were let go unread.
        overflowed: How many were not taken, because too many waited.
    """

    turns: dict[int, PendingTurn] = msgspec.field(default_factory=dict)
    set_aside: set[int] = msgspec.field(default_factory=set)
    expired: int = 0
    overflowed: int = 0

    def waiting(self) -> tuple[PendingTurn, ...]:
        """Those that will be tried, in order of arrival."""
        return tuple(turn for number, turn in self.turns.items() if number not in self.set_aside)

    def remove(self, number: int) -> bool:
        """Remove a turn; whether it was there."""
        self.set_aside.discard(number)
        return self.turns.pop(number, None) is not None

    def copied(self) -> PendingState:
        """A copy that shares no table."""
        return PendingState(
            turns=dict(self.turns), set_aside=set(self.set_aside), expired=self.expired, overflowed=self.overflowed
        )
