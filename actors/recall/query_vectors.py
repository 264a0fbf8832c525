"""The query's two vectors, and the typed reason when there are none."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import msgspec
import numpy as np
from numpy.typing import NDArray

from recalld.actors.embedder import EmbedText, EmbedTexts, TextsEmbedded
from recalld.actors.kernel import AskError, AskFailure
from recalld.actors.recall.dependencies import RecallDependencies
from recalld.actors.supervisor import GateTrouble
from recalld.models.domain.reasons import DegradedReason
from recalld.models.policy.deadline import embed_deadline_s
from recalld.models.policy.query_focus import focused_query

ANSWER_GRACE_S = 0.005
"""What an actor is given beyond its own deadline for its answer to travel back."""


class ClauseVectors(msgspec.Struct, frozen=True, kw_only=True):
    """One clause of a compound query, embedded like a query of its own."""

    text: str
    query: NDArray[np.float32]
    question: NDArray[np.float32]


class QueryVectors(msgspec.Struct, frozen=True, kw_only=True):
    """The query embedded twice: with the query prefix to compare with texts, without it to compare with questions."""

    query: NDArray[np.float32]
    question: NDArray[np.float32]
    embedder_key: str
    clauses: tuple[ClauseVectors, ...] = ()
    """Those clauses of a compound query that were embedded in time."""

    @property
    def parts(self) -> tuple[ClauseVectors, ...]:
        """All that is looked up: the whole query, whose text is empty here, and then its clauses."""
        return (ClauseVectors(text="", query=self.query, question=self.question), *self.clauses)


async def embed_query(
    deps: RecallDependencies, user: str, text: str, *, envelope_deadline_s: float, clauses: Sequence[str] = ()
) -> QueryVectors | GateTrouble:
    """Embed the query within its share of the envelope, or say why it could not be.

    The clauses of a compound query come behind it: what of them is not there in time is left out.

    Both vectors are asked for at once, and run beside each other where the embedder has two lanes. One run over both as
    a batch would change them: the model's activations are quantised over the whole tensor.
    """
    now_s = deps.clock.monotonic_s()
    deadline_s = embed_deadline_s(now_s=now_s, envelope_deadline_s=envelope_deadline_s)
    if deadline_s <= now_s:
        return GateTrouble(reason=DegradedReason.ENVELOPE_EXCEEDED)
    if deps.turns.is_crowded(deadline_s=envelope_deadline_s):
        return GateTrouble(reason=DegradedReason.QUEUE_FULL)
    focus = await deps.text_work.run(partial(focused_query, text), chars=len(text))
    texts = tuple(
        EmbedText(text=each, is_query=is_query, is_kept=True)
        for each in (focus, *clauses)
        for is_query in (True, False)
    )
    try:
        embedded: TextsEmbedded = await deps.embedder.ask(
            lambda reply: EmbedTexts(texts=texts, deadline_s=deadline_s, owner=user, reply=reply),
            deadline_s=deadline_s + ANSWER_GRACE_S,
        )
    except AskError as error:
        return GateTrouble(reason=_ask_reason(error.failure))
    if embedded.failure is not None:
        return GateTrouble(reason=embedded.failure.reason, detail=embedded.failure.error_type)
    query, question = embedded.vectors[:2]
    if query is None or question is None:
        return GateTrouble(reason=DegradedReason.EMBED_TIMEOUT)
    deps.last_embedder.embedder_key, deps.last_embedder.dims = embedded.embedder_key, len(query)
    return QueryVectors(
        query=query,
        question=question,
        embedder_key=embedded.embedder_key,
        clauses=_clause_vectors(clauses, embedded.vectors[2:]),
    )


def _clause_vectors(clauses: Sequence[str], vectors: Sequence[NDArray[np.float32] | None]) -> tuple[ClauseVectors, ...]:
    """The clauses of which both vectors are there."""
    pairs = zip(clauses, vectors[::2], vectors[1::2], strict=True)
    return tuple(
        ClauseVectors(text=clause, query=query, question=question)
        for clause, query, question in pairs
        if query is not None and question is not None
    )


def _ask_reason(failure: AskFailure) -> DegradedReason:
    match failure:
        case AskFailure.BUSY:
            return DegradedReason.QUEUE_FULL
        case AskFailure.TIMEOUT:
            return DegradedReason.EMBED_TIMEOUT
        case AskFailure.CLOSED | AskFailure.DIED:
            return DegradedReason.EMBEDDER_UNAVAILABLE
