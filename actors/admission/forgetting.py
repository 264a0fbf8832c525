"""Forgetting by id or by words, with a preview."""

from __future__ import annotations

from typing import Final

import msgspec

from recalld.actors.admission.dependencies import AdmissionDependencies
from recalld.actors.admission.writing import answered_by_store
from recalld.actors.store import ask_store
from recalld.models.domain.admission import ForgetReply, ForgetRequest
from recalld.models.domain.errors import ErrorCode, RecalldError
from recalld.models.domain.events import Event, EventName
from recalld.models.domain.reasons import Op
from recalld.models.domain.records import Memory, MemoryStatus
from recalld.models.domain.reserved import is_reserved_user
from recalld.models.domain.store import DecisionRow, Forget, ListFilter, NoteCounts
from recalld.models.policy.terms import index_terms, query_terms

FORGOTTEN: Final = MemoryStatus.FORGOTTEN
PAGE = 500
"""Memories looked at between two chances for others to run."""


class _Asked(msgspec.Struct, frozen=True, kw_only=True):
    """What a request is about: memories that are there, and ids that are not."""

    memories: tuple[Memory, ...]
    unknown: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    """Of the request: what waits or was noted with all of them goes as well."""


class Forgetter:
    """Forgets memories of one user."""

    def __init__(self, deps: AdmissionDependencies) -> None:
        self._deps = deps

    async def forget(self, request: ForgetRequest) -> ForgetReply:
        """Forget, or in a dry run say what would be forgotten.

        Raises:
            RecalldError: `BAD_REQUEST` for a request without ids and without searchable words, or with both, and for a
                purge of a user that is not reserved; `BUSY`, `STORAGE_FULL`, `STORAGE_UNAVAILABLE`.
        """
        if bool(request.ids) == bool(request.query):
            raise RecalldError(ErrorCode.BAD_REQUEST, "ids, query: give exactly one of them, and not an empty one")
        if request.is_purge and not is_reserved_user(request.user):
            raise RecalldError(ErrorCode.BAD_REQUEST, "purge: only the daemon's own checks may; set hard instead")
        asked = await (self._by_ids(request) if request.ids else self._by_words(request))
        if request.is_dry_run:
            notes = await self._deps.reader.notes_with(request.user, asked.words) if asked.words else NoteCounts()
            return ForgetReply(memories=asked.memories, unknown=asked.unknown, is_dry_run=True, notes=notes)
        return await self._forget(request, asked)

    async def _by_ids(self, request: ForgetRequest) -> _Asked:
        """What is there to forget; a hard request also finds what is left of memories forgotten before."""
        is_thorough = request.is_hard or request.is_purge
        there = await self._deps.reader.erasable(request.user, request.ids)
        found = {id_: memory for id_, memory in there.items() if is_thorough or memory.status is not FORGOTTEN}
        wanted = tuple(dict.fromkeys(request.ids))
        return _Asked(
            memories=tuple(found[memory_id] for memory_id in wanted if memory_id in found),
            unknown=tuple(memory_id for memory_id in wanted if memory_id not in found),
            words=tuple(sorted(set(query_terms(request.notes_query)))) if request.notes_query else (),
        )

    async def _by_words(self, request: ForgetRequest) -> _Asked:
        words = set(query_terms(request.query))
        if not words:
            raise RecalldError(
                ErrorCode.BAD_REQUEST, "query: has no searchable words; name words of the memory, or its id"
            )
        matching: list[Memory] = []
        cursor: str | None = None
        while True:
            page = await self._deps.reader.list_memories(
                request.user, ListFilter(), now_ms=self._deps.clock.now_ms(), limit=PAGE, cursor=cursor
            )
            matching.extend(memory for memory in page.memories if words <= set(index_terms(memory.text)))
            cursor = page.cursor
            if cursor is None:
                return _Asked(memories=tuple(matching), words=tuple(sorted(words)))

    async def _forget(self, request: ForgetRequest, asked: _Asked) -> ForgetReply:
        deps = self._deps
        now_ms = deps.clock.now_ms()
        has_notes = bool(asked.words) and (await deps.reader.notes_with(request.user, asked.words)).total > 0
        decision = DecisionRow(
            id=deps.ids.new_id("fgt"),
            user=request.user,
            session="",
            op=Op.FORGET,
            at_ms=now_ms,
            decision="forgotten" if asked.memories or has_notes else "nothing",
            reason="requested" if asked.memories or has_notes else "not_found",
        )
        command = Forget(
            user=request.user,
            memory_ids=tuple(memory.id for memory in asked.memories),
            words=asked.words,
            now_ms=now_ms,
            is_hard=request.is_hard,
            is_purge=request.is_purge,
            decision=decision,
        )
        forgotten = await answered_by_store(ask_store(deps.store, command, deadline_s=request.deadline_s))
        gone = set(forgotten.ids)
        deps.events.publish(
            Event(
                name=EventName.MEMORY_FORGOTTEN,
                at_ms=now_ms,
                user=request.user,
                fields={"decision_id": decision.id, "count": len(gone), "is_hard": request.is_hard},
            )
        )
        return ForgetReply(
            memories=tuple(memory for memory in asked.memories if memory.id in gone),
            unknown=asked.unknown,
            tombstones=forgotten.tombstones,
            decision_id=decision.id,
            is_erasure_pending=forgotten.is_erasure_pending,
            notes=forgotten.notes,
        )
