"""Putting a turn among those that wait for a language model."""

from __future__ import annotations

from typing import Final, Protocol

from recalld.actors.admission.writing import answered_by_store
from recalld.actors.extraction.messages import ExtractionMessage, TurnWaits
from recalld.actors.kernel import Address
from recalld.actors.ports import Clock
from recalld.actors.store import StoreMessage, ask_store
from recalld.models.domain.admission import ObservedTurn
from recalld.models.domain.extraction import AppendPending, PendingTurn
from recalld.models.policy.turn_facts import TurnFacts

INJECTED_MAX: Final = 200
"""Ids of shown memories that are kept with a turn: the newest named ones."""


class TurnIntake(Protocol):
    """Where turns go that a model is to read later."""

    async def take(self, turn: ObservedTurn, facts: TurnFacts) -> None:
        """Take a turn of the user. Raises `RecalldError` when it cannot be kept."""
        ...


class NoIntake:
    """Implements `TurnIntake` where no model is configured: nothing is kept."""

    async def take(self, turn: ObservedTurn, facts: TurnFacts) -> None:
        """Take nothing."""


class StoreIntake:
    """Implements `TurnIntake` with the store's queue.

    Args:
        store: The store actor.
        worker: Is told that a turn waits.
        clock: Time.
        pending_max: Turns of a user that may wait.
    """

    def __init__(
        self,
        store: Address[StoreMessage],
        worker: Address[ExtractionMessage],
        clock: Clock,
        *,
        pending_max: int,
    ) -> None:
        self._store = store
        self._worker = worker
        self._clock = clock
        self._pending_max = pending_max

    async def take(self, turn: ObservedTurn, facts: TurnFacts) -> None:
        """Take a turn, unless the user refused to have it kept, or its runtime's own model has read it.

        Kept are the user's own words alone: no host text, no private spans, no secrets.

        Raises:
            RecalldError: `BUSY`, `STORAGE_FULL`, `STORAGE_UNAVAILABLE`.
        """
        text = facts.turn.text
        if not text.strip() or facts.is_refused or turn.offered:
            return
        command = AppendPending(
            user=turn.user,
            turn=PendingTurn(
                session=turn.session,
                turn_id=turn.turn_id,
                text=text,
                at_ms=turn.at_ms,
                time_zone=turn.time_zone,
                scope=turn.scope,
                client=turn.client,
                injected=turn.injected[-INJECTED_MAX:],
                added_at_ms=self._clock.now_ms(),
            ),
            pending_max=self._pending_max,
        )
        if await answered_by_store(ask_store(self._store, command, deadline_s=turn.deadline_s)):
            self._worker.post(TurnWaits(user=turn.user))
