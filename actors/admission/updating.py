"""Changing what is known about a memory beside its text: check, embed what is new, write in one transaction."""

from __future__ import annotations

import numpy as np

from recalld.actors.admission.dependencies import EMBED_WAIT_S_MAX, WRITE_RESERVE_S, AdmissionDependencies
from recalld.actors.admission.saving import ANSWER_GRACE_S, check_secrets
from recalld.actors.admission.writing import answered_by_store
from recalld.actors.embedder import EmbedText, EmbedTexts, TextsEmbedded
from recalld.actors.kernel import AskError
from recalld.actors.store import ask_store
from recalld.actors.store.update_rules import TextPlace, new_texts, no_live_memory
from recalld.models.domain.cues import UpdateReply, UpdateRequest
from recalld.models.domain.events import Event, EventName
from recalld.models.domain.reasons import Op
from recalld.models.domain.store import DecisionRow, TextVector, Update, Updated
from recalld.models.policy.apostrophes import straight_apostrophes
from recalld.models.policy.memory_changes import checked_changes

UPDATED = "updated"
"""What the ledger row of a change says was decided."""


class Updater:
    """Changes memories of one user. The memory stays in every index meanwhile, with the vectors of what stays."""

    def __init__(self, deps: AdmissionDependencies) -> None:
        self._deps = deps

    async def update(self, request: UpdateRequest) -> UpdateReply:
        """Change a live memory. What changes nothing writes nothing, and has no ledger row.

        Raises:
            RecalldError: `BAD_REQUEST`; `NOT_FOUND`; `CONFLICT` for another revision, and for a scope that has the same
                words; `BUSY`, `STORAGE_FULL`, `STORAGE_UNAVAILABLE`.
        """
        deps = self._deps
        now_ms = deps.clock.now_ms()
        memory = await deps.reader.memory(request.user, request.memory_id)
        if memory is None:
            raise no_live_memory(request.memory_id)
        changes = checked_changes(memory, request.changes, now_ms=now_ms)
        check_secrets(cues=changes.cues or (), asks=changes.asks or ())
        texts = new_texts(memory, changes)
        embedder_key, vectors = await self._embed(request, texts) if texts else ("", ())
        command = Update(
            user=request.user,
            memory_id=request.memory_id,
            changes=changes,
            if_revision=request.if_revision,
            now_ms=now_ms,
            embedder_key=embedder_key,
            vectors=vectors,
            note=request.note,
            decision=DecisionRow(
                id=deps.ids.new_id("upd"),
                user=request.user,
                session="",
                op=Op.UPDATE,
                at_ms=now_ms,
                decision=UPDATED,
                reason=request.reason.value,
            ),
        )
        updated = await answered_by_store(ask_store(deps.store, command, deadline_s=request.deadline_s))
        if not updated.is_changed:
            return UpdateReply(memory=updated.memory, is_embedded=updated.is_embedded)
        self._announce(request, command, updated)
        return UpdateReply(memory=updated.memory, decision_id=command.decision.id, is_embedded=updated.is_embedded)

    async def _embed(self, request: UpdateRequest, texts: dict[TextPlace, str]) -> tuple[str, tuple[TextVector, ...]]:
        """Vectors of new texts, and whose they are; none when they cannot be made in time: they are made later."""
        deps = self._deps
        deadline_s = min(deps.clock.monotonic_s() + EMBED_WAIT_S_MAX, request.deadline_s - WRITE_RESERVE_S)
        straight = tuple(EmbedText(text=straight_apostrophes(text), is_query=False) for text in texts.values())
        try:
            embedded: TextsEmbedded = await deps.embedder.ask(
                lambda reply: EmbedTexts(texts=straight, deadline_s=deadline_s, owner=request.user, reply=reply),
                deadline_s=deadline_s + ANSWER_GRACE_S,
            )
        except AskError:
            return "", ()
        vectors = tuple(
            TextVector(role=role, ordinal=ordinal, data=vector.astype(np.dtype("<f2")).tobytes())
            for (role, ordinal), vector in zip(texts, embedded.vectors, strict=True)
            if vector is not None
        )
        return (embedded.embedder_key, vectors) if vectors else ("", ())

    def _announce(self, request: UpdateRequest, command: Update, updated: Updated) -> None:
        self._deps.events.publish(
            Event(
                name=EventName.MEMORY_UPDATED,
                at_ms=command.now_ms,
                user=request.user,
                fields={
                    "decision_id": command.decision.id,
                    "memory_id": request.memory_id,
                    "reason": request.reason,
                    "revision": updated.memory.revision,
                },
            )
        )
