"""Saving: check, embed, write in one transaction, announce."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import numpy as np

from recalld.actors.admission.dependencies import EMBED_WAIT_S_MAX, WRITE_RESERVE_S, AdmissionDependencies
from recalld.actors.admission.enriching import enriched
from recalld.actors.admission.writing import answered_by_store
from recalld.actors.embedder import EmbedText, EmbedTexts, TextsEmbedded
from recalld.actors.kernel import AskError
from recalld.actors.store import ask_store
from recalld.models.domain.admission import RememberReply, RememberRequest
from recalld.models.domain.errors import ErrorCode, InvariantError, RecalldError
from recalld.models.domain.events import Event, EventName
from recalld.models.domain.reasons import AdmissionReason, DegradedReason, Op, RememberOutcome
from recalld.models.domain.records import Memory, NewMemory, VectorRole
from recalld.models.domain.store import DecisionRow, Remember, Remembered, TextVector
from recalld.models.domain.usage import Usage
from recalld.models.policy.admission.secrets import redact
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
    """Writes memories that somebody explicitly asked to have stored, outside of a turn."""

    def __init__(self, deps: AdmissionDependencies) -> None:
        self._deps = deps

    async def remember(self, request: RememberRequest) -> RememberReply:
        """Store what somebody explicitly asked to store.

        Raises:
            RecalldError: `BAD_REQUEST`, also for a text that holds a secret; `CONFLICT` where a cap is reached; `BUSY`,
                `STORAGE_FULL`, `STORAGE_UNAVAILABLE`.
        """
        deps = self._deps
        now_ms = deps.clock.now_ms()
        checked = check_new_memory(request.memory, now_ms=now_ms)
        check_asks(checked)
        check_secrets(text=checked.text, cues=checked.cues, asks=checked.asks)
        checked, body = enriched(checked, is_on=deps.is_enriching)
        now_s = deps.clock.monotonic_s()
        embed_by_s = min(now_s + EMBED_WAIT_S_MAX, request.deadline_s - WRITE_RESERVE_S)
        vectors = await embed_memory(deps, checked, deadline_s=embed_by_s)
        limits = deps.options.limits
        command = Remember(
            memory=checked,
            memory_id=deps.ids.new_id("mem"),
            now_ms=now_ms,
            embedder_key=vectors.embedder_key,
            vectors=vectors.vectors,
            decision=DecisionRow(
                id=deps.ids.new_id("adm"),
                user=checked.user,
                session=request.session,
                op=Op.REMEMBER,
                at_ms=now_ms,
                decision="kept",
                reason=AdmissionReason.EXPLICIT_SAVE,
            ),
            body=body,
            records_max=limits.records_max,
            chars_max=limits.chars_max,
        )
        remembered = await answered_by_store(ask_store(deps.store, command, deadline_s=request.deadline_s))
        self._announce(remembered, checked.user)
        if remembered.refusal is AdmissionReason.OVER_CAPACITY:
            raise over_capacity(remembered.usage)
        if remembered.outcome is None or remembered.memory is None:
            message = "an explicit save was refused by a tombstone, which it must lift"
            raise InvariantError(message)
        return RememberReply(
            memory=remembered.memory,
            outcome=remembered.outcome,
            decision_id=remembered.decision_id,
            is_embedded=bool(vectors.vectors) or remembered.outcome is RememberOutcome.DUPLICATE,
            superseded=remembered.superseded,
            usage=remembered.usage,
        )

    def _announce(self, remembered: Remembered, user: str) -> None:
        self._deps.events.publish(
            Event(
                name=EventName.MEMORY_ADMITTED,
                at_ms=self._deps.clock.now_ms(),
                user=user,
                fields={
                    "decision_id": remembered.decision_id,
                    "op": Op.REMEMBER,
                    "outcome": remembered.outcome or "refused",
                    "reason": remembered.refusal or AdmissionReason.EXPLICIT_SAVE,
                    "memory_id": remembered.memory.id if remembered.memory is not None else "",
                    "superseded": len(remembered.superseded),
                },
            )
        )


def check_secrets(*, text: str = "", cues: Sequence[str] = (), asks: Sequence[str] = ()) -> None:
    """Refuse what holds a secret: a memory is shown to models, and a password has no business there.

    Raises:
        RecalldError: `BAD_REQUEST`, naming the field, never the secret.
    """
    named = (
        ("text", text),
        *((f"cues[{place}]", cue) for place, cue in enumerate(cues)),
        *((f"asks[{place}]", ask) for place, ask in enumerate(asks)),
    )
    for field, given in named:
        if redact(given).found:
            message = f"{field}: holds a password, key or token; take it out, and say where it is kept instead"
            raise RecalldError(ErrorCode.BAD_REQUEST, message)


def over_capacity(usage: Usage | None) -> RecalldError:
    """The error for a save beyond a cap: how much is used, and what could be let go."""
    if usage is None:
        message = "text: the scope is full; forget something first"
        return RecalldError(ErrorCode.CONFLICT, message)
    records = f"{usage.records} records" + (f" of {usage.records_max}" if usage.records_max else "")
    chars = f"{usage.chars} characters" + (f" of {usage.chars_max}" if usage.chars_max else "")
    evictions = f", such as {', '.join(usage.evictions)}" if usage.evictions else ""
    message = f"text: does not fit, the scope holds {records} and {chars}; forget something first{evictions}"
    return RecalldError(ErrorCode.CONFLICT, message)
