"""Telling the sampling actor of decisions, without waiting for anything."""

from __future__ import annotations

import collections

from recalld.actors.kernel.address import Address
from recalld.actors.kernel.mailbox import PostOutcome
from recalld.actors.ports import Clock
from recalld.actors.sampling.actor import LOST_COUNTER, SampleRecall, SampleTurn, SamplingMessage
from recalld.models.domain.admission import ObservedTurn, ObserveReply
from recalld.models.domain.recall import RecallOutcome, RecallQuery
from recalld.models.domain.reserved import is_reserved_user


class Sampler:
    """Posts what was decided. A decision that finds the mailbox full is counted as lost.

    Args:
        actor: The sampling actor; None: nothing is sampled.
        clock: Time.
        counters: The daemon's counters.
    """

    def __init__(
        self, actor: Address[SamplingMessage] | None, *, clock: Clock, counters: collections.Counter[str]
    ) -> None:
        self._actor = actor
        self._clock = clock
        self._counters = counters

    def recalled(self, query: RecallQuery, outcome: RecallOutcome) -> None:
        """A recall is about to be answered. Who searches on purpose is judged by no turn gate, and not sampled."""
        if self._actor is None or query.is_search or is_reserved_user(query.user):
            return
        self._post(SampleRecall(user=query.user, text=query.text, outcome=outcome, at_ms=self._clock.now_ms()))

    def observed(self, turn: ObservedTurn, reply: ObserveReply) -> None:
        """An observed turn is about to be answered."""
        if self._actor is None or is_reserved_user(turn.user):
            return
        self._post(SampleTurn(turn=turn, reply=reply, at_ms=self._clock.now_ms()))

    def _post(self, message: SamplingMessage) -> None:
        if self._actor is not None and self._actor.post(message) is not PostOutcome.ACCEPTED:
            self._counters[LOST_COUNTER] += 1
