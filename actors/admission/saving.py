"""Saving: check, embed, write in one transaction, announce."""

from __future__ import annotations

import msgspec
import numpy as np

from recalld.actors.admission.dependencies import EMBED_WAIT_S_MAX, WRITE_RESERVE_S, AdmissionDependencies
from recalld.actors.admission.enriching import enriched
from recalld.actors.admission.writing import answered_by_store
from recalld.actors.embedder import EmbedText, EmbedTexts, TextsEmbedded
from recalld.actors.kernel import AskError
from recalld.actors.store import ask_store
from recalld.models.domain.admission import RememberReply, RememberRequest
from recalld.models.domain.errors import InvariantError
from recalld.models.domain.events import Event, EventName
from recalld.models.domain.reasons import AdmissionReason, DegradedReason, Op, RememberOutcome
from recalld.models.domain.records import Memory, NewMemory, VectorRole
from recalld.models.domain.store import DecisionRow, Remember, Remembered, TextVector
from recalld.models.policy.apostrophes import straight_apostrophes
from recalld.models.policy.ask_guard import check_asks
from recalld.models.policy.memory_checks import check_new_memory
from recalld.models.policy.passages import split_passages

ANSWER_GRACE_S = 0.005
"""What the embedder is given beyond its own deadline for its answer to travel back."""


class Vectors(msgspec.Struct, frozen=True, kw_only=True):
    """The vectors of one memory; none when the embedder could not make all of them in time.

    Attributes:
        embedder_key: Which embedder made them; empty when none did.
        vectors: One for each text of the memory, or none at all.
        failure: Why there are none, where the embedder said so; None when they are there, and when no answer came.
    """

    embedder_key: str = ""
    vectors: tuple[TextVector, ...] = ()
    failure: DegradedReason | None = None


def texts_of(memory: NewMemory | Memory) -> tuple[tuple[VectorRole, int, str], ...]:
    """Every text of a memory that gets a vector: role, ordinal and text, with straight apostrophes as queries have.

    A long text is embedded passage by passage; see `policy.passages`.
    """
    texts = (
        *((VectorRole.RECORD, place, passage) for place, passage in enumerate(split_passages(memory.text))),
        *((VectorRole.CUE, place, cue) for place, cue in enumerate(memory.cues)),
        *((VectorRole.ASK, place, ask) for place, ask in enumerate(memory.asks)),
    )
    return tuple((role, ordinal, straight_apostrophes(text)) for role, ordinal, text in texts)


async def embed_memory(
    deps: AdmissionDependencies, memory: NewMemory | Memory, *, deadline_s: float, is_bulk: bool = False
) -> Vectors:
    """Embed all texts of a memory, or nothing: a half-embedded record would look embedded and be half blind."""
    texts = texts_of(memory)
    try:
        embedded: TextsEmbedded = await deps.embedder.ask(
            lambda reply: EmbedTexts(
                texts=tuple(EmbedText(text=text, is_query=False) for _, _, text in texts),
                deadline_s=deadline_s,
                is_bulk=is_bulk,
                owner=memory.user,
                reply=reply,
            ),
            deadline_s=deadline_s + ANSWER_GRACE_S,
        )
    except AskError:
        return Vectors()
    if embedded.failure is not None:
        return Vectors(failure=embedded.failure.reason)
    vectors: list[TextVector] = []
    for (role, ordinal, _), vector in zip(texts, embedded.vectors, strict=True):
        if vector is None:
            return Vectors()
        vectors.append(TextVector(role=role, ordinal=ordinal, data=vector.astype(np.dtype("<f2")).tobytes()))
    return Vectors(embedder_key=embedded.embedder_key, vectors=tuple(vectors))


class Saver:
    """Writes memories. Used for explicit saves and by the observer."""

    def __init__(self, deps: AdmissionDependencies) -> None:
        self._deps = deps

    async def remember(self, request: RememberRequest) -> RememberReply:
        """Store explicitly.

        Raises:
            RecalldError: `BAD_REQUEST`, `BUSY`, `STORAGE_FULL`, `STORAGE_UNAVAILABLE`.
        """
        remembered, is_embedded = await self.save(
            request.memory, op=Op.REMEMBER, session=request.session, deadline_s=request.deadline_s
        )
        if remembered.outcome is None or remembered.memory is None:
            message = "an explicit save was refused by a tombstone, which it must lift"
            raise InvariantError(message)
        return RememberReply(
            memory=remembered.memory,
            outcome=remembered.outcome,
            decision_id=remembered.decision_id,
            is_embedded=is_embedded,
        )

    async def save(
        self, memory: NewMemory, *, op: Op, session: str, deadline_s: float, turn_key: str = ""
    ) -> tuple[Remembered, bool]:
        """Store what somebody explicitly asked to store.

        Returns:
            What became of it, and whether the vectors of what was written are there already.

        Raises:
            RecalldError: As `remember`.
        """
        deps = self._deps
        now_ms = deps.clock.now_ms()
        checked = check_new_memory(memory, now_ms=now_ms)
        check_asks(checked)
        checked, body = enriched(checked, is_on=deps.is_enriching)
        now_s = deps.clock.monotonic_s()
        embed_by_s = min(now_s + EMBED_WAIT_S_MAX, deadline_s - WRITE_RESERVE_S)
        vectors = await embed_memory(deps, checked, deadline_s=embed_by_s)
        command = Remember(
            memory=checked,
            memory_id=deps.ids.new_id("mem"),
            now_ms=now_ms,
            embedder_key=vectors.embedder_key,
            vectors=vectors.vectors,
            decision=DecisionRow(
                id=deps.ids.new_id("adm"),
                user=checked.user,
                session=session,
                op=op,
                at_ms=now_ms,
                decision="kept",
                reason=AdmissionReason.EXPLICIT_SAVE,
            ),
            turn_key=turn_key,
            body=body,
        )
        remembered = await answered_by_store(ask_store(deps.store, command, deadline_s=deadline_s))
        self._announce(remembered, checked.user, op)
        return remembered, bool(vectors.vectors) or remembered.outcome is RememberOutcome.DUPLICATE

    def _announce(self, remembered: Remembered, user: str, op: Op) -> None:
        self._deps.events.publish(
            Event(
                name=EventName.MEMORY_ADMITTED,
                at_ms=self._deps.clock.now_ms(),
                user=user,
                fields={
                    "decision_id": remembered.decision_id,
                    "op": op,
                    "outcome": remembered.outcome or "refused",
                    "reason": AdmissionReason.EXPLICIT_SAVE,
                    "memory_id": remembered.memory.id if remembered.memory is not None else "",
                },
            )
        )
