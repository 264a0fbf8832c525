"""The query's two vectors, and the typed reason when there are none."""

from __future__ import annotations

import msgspec
import numpy as np
from numpy.typing import NDArray

from recalld.actors.embedder import EmbedText, EmbedTexts, TextsEmbedded
from recalld.actors.kernel import AskError, AskFailure
from recalld.actors.recall.dependencies import RecallDependencies
from recalld.actors.supervisor import GateTrouble
from recalld.models.domain.reasons import DegradedReason
from recalld.models.policy.deadline import embed_deadline_s

ANSWER_GRACE_S = 0.005
"""What an actor is given beyond its own deadline for its answer to travel back."""


class QueryVectors(msgspec.Struct, frozen=True, kw_only=True):
    """The query embedded twice: with the query prefix to compare with texts, without it to compare with questions."""

    query: NDArray[np.float32]
    question: NDArray[np.float32]
    embedder_key: str


async def embed_query(
    deps: RecallDependencies, user: str, text: str, *, envelope_deadline_s: float
) -> QueryVectors | GateTrouble:
    """Embed the query within its share of the envelope, or say why it could not be."""
    now_s = deps.clock.monotonic_s()
    deadline_s = embed_deadline_s(now_s=now_s, envelope_deadline_s=envelope_deadline_s)
    if deadline_s <= now_s:
        return GateTrouble(reason=DegradedReason.ENVELOPE_EXCEEDED)
    if deps.turns.is_crowded(deadline_s=envelope_deadline_s):
        return GateTrouble(reason=DegradedReason.QUEUE_FULL)
    texts = (EmbedText(text=text, is_query=True), EmbedText(text=text, is_query=False))
    try:
        embedded: TextsEmbedded = await deps.embedder.ask(
            lambda reply: EmbedTexts(texts=texts, deadline_s=deadline_s, owner=user, reply=reply),
            deadline_s=deadline_s + ANSWER_GRACE_S,
        )
    except AskError as error:
        return GateTrouble(reason=_ask_reason(error.failure))
    if embedded.failure is not None:
        return GateTrouble(reason=embedded.failure.reason, detail=embedded.failure.error_type)
    query, question = embedded.vectors
    if query is None or question is None:
        return GateTrouble(reason=DegradedReason.EMBED_TIMEOUT)
    return QueryVectors(query=query, question=question, embedder_key=embedded.embedder_key)


def _ask_reason(failure: AskFailure) -> DegradedReason:
    match failure:
        case AskFailure.BUSY:
            return DegradedReason.QUEUE_FULL
        case AskFailure.TIMEOUT:
            return DegradedReason.EMBED_TIMEOUT
        case AskFailure.CLOSED | AskFailure.DIED:
            return DegradedReason.EMBEDDER_UNAVAILABLE
