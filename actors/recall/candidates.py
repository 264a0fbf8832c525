"""Step 2 of a recall: nominate candidates by meaning and by words, and fuse them."""

from __future__ import annotations

from collections.abc import Sequence

import anyio
import msgspec

from recalld.actors.recall.dependencies import RecallDependencies
from recalld.actors.recall.index import Cosines, IndexCounts, UserIndex
from recalld.actors.recall.query_vectors import QueryVectors, embed_query
from recalld.actors.recall.state import RecallState, Spawn
from recalld.actors.supervisor import GateTrouble
from recalld.models.domain.errors import RecalldError
from recalld.models.domain.reasons import DegradedReason
from recalld.models.domain.recall import Candidate, Coverage, RecallQuery
from recalld.models.domain.records import Memory
from recalld.models.domain.store import LexicalHit
from recalld.models.policy.deadline import count_deadline_s, embed_deadline_s, vectors_deadline_s
from recalld.models.policy.fusion import Legs, VectorHit, fuse
from recalld.models.policy.query_reading import QueryReading

INDEX_LOADING = "index_loading"
"""Detail of a recall that went on without vectors because the user's index was not loaded yet."""


class Found(msgspec.Struct, frozen=True, kw_only=True):
    """The nominated candidates, best first.

    Attributes:
        trouble: Why the vector leg is missing; None when it ran.
        coverage: What could be seen of the user's memories; None when that was not counted in time.
        embed_ms: Time until the query's vectors were there.
        search_ms: Time for both legs and fusion, without the embedding.
    """

    candidates: tuple[Candidate, ...]
    trouble: GateTrouble | None
    coverage: Coverage | None
    embed_ms: float
    search_ms: float


class _Words(msgspec.Struct, frozen=True, kw_only=True):
    """What the words nominated, best first, and the memories behind it."""

    hits: tuple[LexicalHit, ...] = ()
    memories: dict[str, Memory] = {}


class _Near(msgspec.Struct, frozen=True, kw_only=True):
    """What the vectors nominated, in no order, the memories of both legs, and where it was found."""

    hits: tuple[VectorHit, ...]
    memories: dict[str, Memory]
    index: UserIndex


class _Asked:
    """The embedder's answer, once it is there."""

    def __init__(self) -> None:
        self.vectors: QueryVectors | GateTrouble = GateTrouble(reason=DegradedReason.EMBED_TIMEOUT)
        self.is_answered = anyio.Event()

    def answer(self, vectors: QueryVectors | GateTrouble) -> None:
        self.vectors = vectors
        self.is_answered.set()


class CandidateFinder:
    """Finds candidates for one user."""

    def __init__(self, user: str, state: RecallState, deps: RecallDependencies) -> None:
        self._user = user
        self._state = state
        self._deps = deps

    async def find(self, query: RecallQuery, reading: QueryReading, *, now_ms: int, spawn: Spawn) -> Found:
        """Nominate by both legs; the vector leg may be missing, which is a result.

        The words come first, with all that an answer by them alone needs. Whatever the vectors' leg then meets, a model
        that is late or an index that is still being loaded, costs this recall its vectors and nothing else.

        Args:
            query: The request.
            reading: What its text says.
            now_ms: Expired memories are left out.
            spawn: Starts what must go on when this recall's time has run out.

        Raises:
            RecalldError: `STORAGE_UNAVAILABLE`.
        """
        clock = self._deps.clock
        started_s = clock.monotonic_s()
        vectors_by_s = vectors_deadline_s(now_s=started_s, envelope_deadline_s=query.deadline_s)
        words, vectors = await self._words_and_vectors(query, reading, now_ms)
        embedded_s = clock.monotonic_s()
        near: _Near | GateTrouble = GateTrouble(reason=DegradedReason.ENVELOPE_EXCEEDED)
        with anyio.move_on_after(vectors_by_s - embedded_s):
            near = await self._by_vectors(query, vectors, words, now_ms, spawn)
        trouble = near if isinstance(near, GateTrouble) else None
        hits: tuple[VectorHit, ...] = ()
        memories = words.memories
        index = self._state.current_index(self._deps.reader.seq(self._user))
        if isinstance(near, _Near):
            hits, memories, index = near.hits, near.memories, near.index
        coverage = await self._coverage(query, index, now_ms)
        return Found(
            candidates=fuse(
                Legs(vector=hits, lexical=words.hits), memories, floors=self._deps.calibration.floors, now_ms=now_ms
            ),
            trouble=trouble,
            coverage=coverage,
            embed_ms=(embedded_s - started_s) * 1000.0,
            search_ms=(clock.monotonic_s() - embedded_s) * 1000.0,
        )

    async def _words_and_vectors(
        self, query: RecallQuery, reading: QueryReading, now_ms: int
    ) -> tuple[_Words, QueryVectors | GateTrouble]:
        """Look up the words while the query is embedded: neither waits for the other."""
        asked = _Asked()

        async def ask_embedder() -> None:
            asked.answer(await embed_query(self._deps, self._user, reading.text, envelope_deadline_s=query.deadline_s))

        words, failure = _Words(), None
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(ask_embedder)
            try:
                words = await self._by_words(query, reading.terms, now_ms)
            except RecalldError as error:  # raised below as itself, not as a group
                failure = error
                tasks.cancel_scope.cancel()
            else:
                await self._answered(asked)
        if failure is not None:
            raise failure
        return words, asked.vectors

    async def _answered(self, asked: _Asked) -> None:
        if not asked.is_answered.is_set():  # else there is no waiting, and the turn need not be given up
            with self._deps.turns.waiting():
                await asked.is_answered.wait()

    async def _by_words(self, query: RecallQuery, terms: tuple[str, ...], now_ms: int) -> _Words:
        """What the words nominate, read in full."""
        if not terms:
            return _Words()
        reader = self._deps.reader
        hits = await reader.lexical(
            self._user,
            terms,
            now_ms=now_ms,
            limit=self._deps.limits.lexical_limit + self._hidden(query),
            scope=query.scope,
        )
        if not hits:
            return _Words()
        memories = await reader.memories(self._user, [hit.memory_id for hit in hits])
        return _Words(hits=tuple(hits), memories=memories)

    async def _by_vectors(
        self, query: RecallQuery, vectors: QueryVectors | GateTrouble, words: _Words, now_ms: int, spawn: Spawn
    ) -> _Near | GateTrouble:
        """What the vectors nominate beside the words, read in full; or why they could not."""
        if isinstance(vectors, GateTrouble):
            return vectors
        index = await self._index(vectors, query, now_ms, spawn)
        if index is None:
            return GateTrouble(reason=DegradedReason.ENVELOPE_EXCEEDED, detail=INDEX_LOADING)
        hits = self._search(index, vectors, query, words.hits, now_ms)
        unread = [hit.memory_id for hit in hits if hit.memory_id not in words.memories]
        more = await self._deps.reader.memories(self._user, unread) if unread else {}
        return _Near(hits=hits, memories={**words.memories, **more}, index=index)

    async def _index(self, vectors: QueryVectors, query: RecallQuery, now_ms: int, spawn: Spawn) -> UserIndex | None:
        """The user's index; None while a large one is still being loaded and this recall can wait no longer."""
        now_s = self._deps.clock.monotonic_s()
        with anyio.move_on_after(embed_deadline_s(now_s=now_s, envelope_deadline_s=query.deadline_s) - now_s):
            return await self._state.index(
                self._deps.reader,
                self._user,
                embedder_key=vectors.embedder_key,
                dims=len(vectors.query),
                now_ms=now_ms,
                spawn=spawn,
            )
        return None

    def _hidden(self, query: RecallQuery) -> int:
        """How many hits may be left out again: so many more are asked for, so that none of them takes a place."""
        return len(self._state.visible.visible(query.session)) + len(query.exclude)

    def _search(
        self, index: UserIndex, vectors: QueryVectors, query: RecallQuery, lexical: Sequence[LexicalHit], now_ms: int
    ) -> tuple[VectorHit, ...]:
        found = index.search(
            vectors.query,
            vectors.question,
            scope=query.scope,
            now_ms=now_ms,
            limit=self._deps.limits.vector_limit + self._hidden(query),
            also=(hit.memory_id for hit in lexical),
        )
        return tuple(_vector_hit(cosines) for cosines in found)

    async def _coverage(self, query: RecallQuery, index: UserIndex | None, now_ms: int) -> Coverage | None:
        """What could be seen: from the index in memory where it is up to date, else counted in the store, in time."""
        if index is not None:
            return _coverage(index.counts(query.scope, now_ms))
        now_s = self._deps.clock.monotonic_s()
        by_s = count_deadline_s(now_s=now_s, envelope_deadline_s=query.deadline_s)
        with anyio.move_on_after(by_s - now_s):
            return await self._coverage_without_index(query.scope, now_ms)
        return None

    async def _coverage_without_index(self, scope: str | None, now_ms: int) -> Coverage:
        everything = await self._deps.reader.counts(self._user, "", now_ms=now_ms)
        scoped = (
            everything if scope is None else await self._deps.reader.counts(self._user, "", now_ms=now_ms, scope=scope)
        )
        return Coverage(
            discovered=everything.live,
            searched=scoped.live,
            skipped_wrong_scope=everything.live - scoped.live,
            records_without_asks=scoped.records_without_asks,
        )


def _coverage(counts: IndexCounts) -> Coverage:
    return Coverage(
        discovered=counts.live,
        searched=counts.in_scope,
        skipped_wrong_scope=counts.live - counts.in_scope,
        pending_embedding=counts.pending,
        records_without_asks=counts.without_asks,
    )


def _vector_hit(cosines: Cosines) -> VectorHit:
    return VectorHit(
        memory_id=cosines.memory_id,
        cosine=cosines.record,
        cue_cosine=cosines.cue,
        ask_cosine=cosines.ask,
        cue_ordinal=cosines.best_cue,
    )
