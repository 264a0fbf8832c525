"""Addresses of actors that are none: what is asked is answered at once, so that a recall runs without a daemon."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from recalld.actors.embedder import (
    EmbedderMessage,
    EmbedderModelsChanged,
    EmbedTexts,
    GetEmbedderHealth,
    TextsEmbedded,
)
from recalld.actors.kernel import Address, PostOutcome, Reply
from recalld.actors.kernel.mailbox import Mailbox
from recalld.actors.ports import Clock
from recalld.actors.scorer import (
    GetScorerHealth,
    PairsScored,
    ProbeScorer,
    ScorePairs,
    ScorerMessage,
    ScorerModelsChanged,
)
from recalld.daemon.evaluation.meter import Meter
from recalld.models.domain.errors import InvariantError

M = TypeVar("M")
R = TypeVar("R")


class StillClock:
    """Time that stands still, so that nothing is ever late; the present is that of the row."""

    def __init__(self) -> None:
        self.present_ms = 0

    def monotonic_s(self) -> float:
        """Always 0."""
        return 0.0

    def now_ms(self) -> int:
        """The present of the row, Unix epoch milliseconds."""
        return self.present_ms


class RowIds:
    """Ids that count."""

    def __init__(self) -> None:
        self._count = 0

    def new_id(self, prefix: str) -> str:
        """The next one."""
        self._count += 1
        return f"{prefix}_{self._count}"


class DirectAddress(Address[M]):
    """An address behind which a function answers.

    Args:
        name: For errors.
        answer: Takes each message, and answers before it returns.
        clock: Of the deadlines.
    """

    def __init__(self, name: str, answer: Callable[[M], None], clock: Clock) -> None:
        super().__init__(name=name, mailbox=Mailbox(1), clock=clock)
        self._answer = answer
        self._still = clock

    def post(self, message: M) -> PostOutcome:
        """Hand a message over."""
        self._answer(message)
        return PostOutcome.ACCEPTED

    async def ask(self, build: Callable[[Reply[R]], M], *, deadline_s: float) -> R:
        """Hand a message over, and take the answer that is there at once."""
        reply: Reply[R] = Reply(actor=self.name, deadline_s=deadline_s, clock=self._still)
        self._answer(build(reply))
        return await reply.wait()


def scorer_of(meter: Meter) -> Callable[[ScorerMessage], None]:
    """Scores pairs at once."""

    def answer(message: ScorerMessage) -> None:
        match message:
            case ScorePairs():
                logits = tuple(meter.score(pair.query, pair.memory_text) for pair in message.pairs)
                message.reply.send(PairsScored(logits=logits, pairs_scored=len(logits)))
            case ProbeScorer() | GetScorerHealth() | ScorerModelsChanged():
                raise InvariantError(_unasked(message))

    return answer


def embedder_of(meter: Meter, embedder_key: str) -> Callable[[EmbedderMessage], None]:
    """Embeds texts at once."""

    def answer(message: EmbedderMessage) -> None:
        match message:
            case EmbedTexts():
                vectors = tuple(meter.embed(each.text, is_query=each.is_query) for each in message.texts)
                message.reply.send(TextsEmbedded(vectors=vectors, embedder_key=embedder_key))
            case GetEmbedderHealth() | EmbedderModelsChanged():
                raise InvariantError(_unasked(message))

    return answer


def _unasked(
    message: ProbeScorer | GetScorerHealth | ScorerModelsChanged | GetEmbedderHealth | EmbedderModelsChanged,
) -> str:
    return f"a recall sends no {type(message).__name__}"
