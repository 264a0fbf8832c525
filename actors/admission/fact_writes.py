"""From a ruled fact to what the store is told: the record it would be, its vectors, and what lies near."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import msgspec
import numpy as np

from recalld.actors.admission.dependencies import EMBED_WAIT_S_MAX, WRITE_RESERVE_S, AdmissionDependencies
from recalld.actors.admission.enriching import enriched
from recalld.actors.admission.recall_view import NearText, RecallView
from recalld.actors.admission.saving import Vectors, embed_memory
from recalld.models.domain.admission import ObservedTurn
from recalld.models.domain.admission_store import DroppedFact, Evidence, FactWrite, FoundBy
from recalld.models.domain.errors import RecalldError
from recalld.models.domain.facts import Generator, Ruling
from recalld.models.domain.reasons import AdmissionReason
from recalld.models.domain.records import MEMORY_CHARS_MAX, MemorySource, NewMemory, VectorRole
from recalld.models.policy.ask_guard import check_asks, without_stuffing
from recalld.models.policy.memory_checks import check_new_memory
from recalld.models.policy.slot_values import is_single_valued
from recalld.models.policy.statements import rule_book
from recalld.models.policy.turn_rulings import RuledFact, dropped_fact

CHECKS_RULE: Final = "memory_checks"
"""What is said to have dropped a fact that no memory could be made of."""
_SOURCES: Final = {
    Generator.EXPLICIT: MemorySource.EXPLICIT,
    Generator.RULE: MemorySource.HEURISTIC,
    Generator.JUDGE: MemorySource.HEURISTIC,
    Generator.MODEL: MemorySource.MODEL,
    Generator.CONFIRMED: MemorySource.CONFIRMED,
}

_OWN_WORDS: Final = frozenset({Generator.RULE, Generator.JUDGE})
"""Generators whose cues and asks are recalld's own: what one of them adds may never cost the user's statement."""


class ReadyFacts(msgspec.Struct, frozen=True, kw_only=True):
    """The facts of a turn, ready for the store.

    Attributes:
        writes: One for each fact that a memory can be made of.
        dropped: The others.
    """

    writes: tuple[FactWrite, ...] = ()
    dropped: tuple[DroppedFact, ...] = ()


class FactWrites:
    """Gets facts of one user ready for the store."""

    def __init__(self, deps: AdmissionDependencies, view: RecallView) -> None:
        self._deps = deps
        self._view = view

    async def ready(self, turn: ObservedTurn, facts: Sequence[RuledFact], *, now_ms: int) -> ReadyFacts:
        """Check, enrich and embed each fact, and have what lies near nominated. Without an embedder nothing fails."""
        made: list[tuple[RuledFact, NewMemory]] = []
        dropped: list[DroppedFact] = []
        for fact in facts:
            match self._memory_of(turn, fact.ruling, now_ms):
                case NewMemory() as memory:
                    made.append((fact, memory))
                case AdmissionReason() as reason:
                    dropped.append(_not_made(fact, reason))
        embed_by_s = min(self._deps.clock.monotonic_s() + EMBED_WAIT_S_MAX, turn.deadline_s - WRITE_RESERVE_S)
        vectors = [await embed_memory(self._deps, memory, deadline_s=embed_by_s) for _, memory in made]
        near = await self._near([memory for _, memory in made], vectors, now_ms=now_ms, deadline_s=embed_by_s)
        writes = tuple(
            self._write(turn, fact, memory, embedded, neighbours)
            for (fact, memory), embedded, neighbours in zip(made, vectors, near, strict=True)
        )
        return ReadyFacts(writes=writes, dropped=tuple(dropped))

    def _memory_of(self, turn: ObservedTurn, ruling: Ruling, now_ms: int) -> NewMemory | AdmissionReason:
        """The record that a fact is or would become, or why it can be none."""
        candidate = ruling.candidate
        memory = NewMemory(
            user=turn.user,
            text=candidate.statement,
            kind=candidate.kind,
            scope=turn.scope if candidate.scope is None else candidate.scope,
            cues=candidate.cues,
            asks=candidate.asks,
            source=_SOURCES[candidate.generator],
            expires_at_ms=candidate.expires_at_ms,
        )
        if len(memory.text.strip()) > MEMORY_CHARS_MAX:
            return AdmissionReason.TOO_LONG
        if memory.expires_at_ms is not None and memory.expires_at_ms <= now_ms:
            return AdmissionReason.EXPIRED
        checked = _checked(memory, now_ms)
        if checked is None and candidate.generator in _OWN_WORDS:
            checked = _checked(without_stuffing(memory), now_ms)
            checked = checked or _checked(msgspec.structs.replace(memory, cues=(), asks=()), now_ms)
        if checked is None:
            # What is left are control characters, and questions that would bring it along everywhere.
            return AdmissionReason.INJECTION
        fuller, _ = enriched(checked, is_on=self._deps.is_enriching)
        return fuller

    async def _near(
        self, memories: Sequence[NewMemory], vectors: Sequence[Vectors], *, now_ms: int, deadline_s: float
    ) -> tuple[tuple[str, ...], ...]:
        texts = [
            NearText(vector=np.frombuffer(each.data, dtype="<f2").astype(np.float32), scope=memory.scope)
            for memory, embedded in zip(memories, vectors, strict=True)
            for each in embedded.vectors
            if each.role is VectorRole.RECORD and each.ordinal == 0
        ]
        if not texts:
            return ((),) * len(memories)
        key = next(embedded.embedder_key for embedded in vectors if embedded.vectors)
        found = iter(await self._view.near(texts, embedder_key=key, now_ms=now_ms, deadline_s=deadline_s))
        return tuple(next(found) if embedded.vectors else () for embedded in vectors)

    def _write(
        self, turn: ObservedTurn, fact: RuledFact, memory: NewMemory, vectors: Vectors, neighbours: tuple[str, ...]
    ) -> FactWrite:
        ids, ruling, candidate = self._deps.ids, fact.ruling, fact.ruling.candidate
        return FactWrite(
            memory=memory,
            memory_id=ids.new_id("mem"),
            note_id=ids.new_id("obs"),
            disposition=ruling.disposition,
            slot=candidate.slot,
            subject=candidate.subject,
            value=candidate.value,
            is_single_valued=_is_single_valued(fact),
            is_ending=candidate.is_ending,
            neighbours=neighbours,
            evidence=Evidence(
                session=turn.session,
                turn_id=turn.turn_id,
                at_ms=turn.at_ms,
                generator=candidate.generator,
                rule=" + ".join((candidate.rule, *fact.also_found_by)),
                reason=ruling.reason,
                quote=candidate.quote,
            ),
            found=FoundBy(
                generator=candidate.generator, rule=candidate.rule, decided_by=ruling.rule, also=fact.also_found_by
            ),
            embedder_key=vectors.embedder_key,
            vectors=vectors.vectors,
        )


def _checked(memory: NewMemory, now_ms: int) -> NewMemory | None:
    """The memory as it is to be stored; None for one that may not be."""
    try:
        checked = check_new_memory(memory, now_ms=now_ms)
        check_asks(checked)
    except RecalldError:
        return None
    return checked


def _is_single_valued(fact: RuledFact) -> bool:
    """Whether the slot holds one value at a time. A rule knows its own slots; what a model calls one must be listed."""
    slot = fact.ruling.candidate.slot
    is_of_rule = fact.ruling.candidate.generator is Generator.RULE or any(
        each.startswith(f"{Generator.RULE}:") for each in fact.also_found_by
    )
    return rule_book.is_single_valued(slot) if is_of_rule else is_single_valued(slot)


def _not_made(fact: RuledFact, reason: AdmissionReason) -> DroppedFact:
    not_made = msgspec.structs.replace(fact.ruling, reason=reason, rule=CHECKS_RULE)
    return dropped_fact(not_made, fact.also_found_by)
