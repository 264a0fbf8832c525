"""The sampling actor: chooses among decisions that were answered already, and hands what it keeps to the store.

Nobody waits for it. What finds its mailbox full, or cannot be stored, is lost for the audit and counted.
"""

from __future__ import annotations

import collections
from typing import Final

import msgspec

from recalld.actors.kernel import Actor, ActorContext, AskError
from recalld.actors.kernel.address import Address
from recalld.actors.ports import Clock
from recalld.actors.store import StoreMessage, ask_store
from recalld.actors.text_work import TextWork
from recalld.models.domain.admission import ObservedTurn, ObserveReply
from recalld.models.domain.audit_samples import AppendSamples, Sample, SampleKind
from recalld.models.domain.errors import RecalldError
from recalld.models.domain.recall import RecallOutcome
from recalld.models.policy.sampling import sample_text, sampled_recall, sampled_turn

KEPT_COUNTER: Final = "audit_samples_kept"
LOST_COUNTER: Final = "audit_samples_lost"
STORE_DEADLINE_S: Final = 30.0
"""Seconds a sample may wait behind users' writes."""


class SampleRecall(msgspec.Struct, frozen=True, kw_only=True):
    """A recall was answered.

    Attributes:
        user: Whose.
        text: The turn it was asked with.
        outcome: What was decided.
        at_ms: When, Unix epoch milliseconds.
    """

    user: str
    text: str
    outcome: RecallOutcome
    at_ms: int


class SampleTurn(msgspec.Struct, frozen=True, kw_only=True):
    """An observed turn was answered."""

    turn: ObservedTurn
    reply: ObserveReply
    at_ms: int


SamplingMessage = SampleRecall | SampleTurn


class SamplingRules(msgspec.Struct, frozen=True, kw_only=True):
    """How much is kept.

    Attributes:
        rate: Probability of each decision.
        keeps_text: Whether the user's words are kept with it.
        rows_max: Samples of one user.
        key: Of chance; see `recalld.models.policy.sampling`.
    """

    rate: float
    keeps_text: bool
    rows_max: int
    key: bytes


class SamplingActor(Actor[SamplingMessage]):
    """Keeps samples.

    Args:
        store: The store actor.
        clock: Time.
        text_work: Takes long texts off the event loop.
        rules: How much is kept.
        counters: The daemon's counters, as `stats` shows them.
    """

    def __init__(
        self,
        store: Address[StoreMessage],
        *,
        clock: Clock,
        text_work: TextWork,
        rules: SamplingRules,
        counters: collections.Counter[str],
    ) -> None:
        self._store = store
        self._clock = clock
        self._text_work = text_work
        self._rules = rules
        self._counters = counters

    async def handle(self, message: SamplingMessage, ctx: ActorContext[SamplingMessage]) -> None:
        """Keep what chance takes of one decision."""
        del ctx
        rules = self._rules
        match message:
            case SampleRecall(user=user, text=text, outcome=outcome, at_ms=at_ms):
                chosen = sampled_recall(user, outcome, key=rules.key, rate=rules.rate, at_ms=at_ms)
            case SampleTurn(turn=turn, reply=reply, at_ms=at_ms):
                user, text = turn.user, turn.text
                chosen = sampled_turn(turn, reply, key=rules.key, rate=rules.rate, at_ms=at_ms)
        if not chosen:
            return
        samples = await self._with_text(chosen, text)
        if not samples:
            return
        command = AppendSamples(user=user, samples=samples, rows_max=rules.rows_max)
        try:
            deadline_s = self._clock.monotonic_s() + STORE_DEADLINE_S
            self._counters[KEPT_COUNTER] += await ask_store(self._store, command, deadline_s=deadline_s)
        except (AskError, RecalldError):
            self._counters[LOST_COUNTER] += len(samples)

    async def _with_text(self, chosen: tuple[Sample, ...], text: str) -> tuple[Sample, ...]:
        """The samples with what may be kept of the turn; records alone where that is nothing, as they need none."""
        if all(sample.kind is SampleKind.RECORD for sample in chosen):
            return chosen
        kept = await self._text_work.run(lambda: sample_text(text), chars=len(text))
        if not kept:
            return tuple(sample for sample in chosen if sample.kind is SampleKind.RECORD)
        if not self._rules.keeps_text:
            return chosen
        return tuple(
            sample if sample.kind is SampleKind.RECORD else msgspec.structs.replace(sample, text=kept)
            for sample in chosen
        )
