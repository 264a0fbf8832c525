"""Step 2 of a recall: nominate candidates by meaning, by words and by time, and fuse them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

import anyio
import msgspec

from recalld.actors.recall.clauses import ClauseHits, clauses_of, united, with_clauses
from recalld.actors.recall.coverage import CoverageCounter, without_unreadable
from recalld.actors.recall.dependencies import RecallDependencies
from recalld.actors.recall.index import Cosines, UserIndex, VectorSearch
from recalld.actors.recall.query_vectors import QueryVectors, embed_query
from recalld.actors.recall.state import RecallState, Spawn
from recalld.actors.supervisor import GateTrouble
from recalld.models.domain.errors import RecalldError
from recalld.models.domain.reasons import DegradedReason
from recalld.models.domain.recall import Candidate, Coverage, RecallLimit, RecallQuery, TimeUse
from recalld.models.domain.records import Memory
from recalld.models.domain.store import LexicalHit
from recalld.models.domain.time_window import TimeWindow
from recalld.models.policy.deadline import embed_deadline_s, vectors_deadline_s
from recalld.models.policy.fusion import Legs, VectorHit, fuse
from recalld.models.policy.preselection import CONSIDERED_MAX, MARGIN, Preselection, Unread, preselect
from recalld.models.policy.query_reading import QueryReading

TIME_LIMIT = 20
"""Records nominated for their time, newest first: as many as the words may nominate by default."""
INDEX_LOADING = "index_loading"
"""Detail of a recall that went on without vectors because the user's index was not loaded yet."""


class Found(msgspec.Struct, frozen=True, kw_only=True):
    """The nominated candidates, best first.

    Attributes:
        unread: What else was nominated, of which enough was nearer.
        trouble: Why the vector leg is missing; None when it ran.
        coverage: What could be seen of the user's memories; None when that was not counted in time.
        limits: Limits of the legs beyond which there may be more.
        timed: Records of a time that the query speaks of, as far as they were looked for; None: it speaks of none.
        asks_only_for_time: Whether the query asks for nothing else.
        embed_ms: Time until the query's vectors were there.
        search_ms: Time for both legs and fusion, without the embedding.
    """

    candidates: tuple[Candidate, ...]
    trouble: GateTrouble | None
    coverage: Coverage | None
    limits: tuple[RecallLimit, ...]
    timed: int | None
    embed_ms: float
    search_ms: float
    unread: tuple[Unread, ...] = ()
    asks_only_for_time: bool = False


class _Words(msgspec.Struct, frozen=True, kw_only=True):
    """What the words nominated, best first, what a time nominated, newest first, and the memories behind both."""

    hits: tuple[LexicalHit, ...] = ()
    timed: tuple[str, ...] = ()
    memories: dict[str, Memory] = {}
    limits: tuple[RecallLimit, ...] = ()

    @property
    def memory_ids(self) -> tuple[str, ...]:
        return (*(hit.memory_id for hit in self.hits), *self.timed)


class _Near(msgspec.Struct, frozen=True, kw_only=True):
    """What the vectors nominated, in no order, the memories of both legs, and where it was found."""

    hits: tuple[VectorHit, ...]
    chosen: Preselection
    memories: dict[str, Memory]
    index: UserIndex
    clauses: Mapping[str, str]
    """For which clause of the message a memory was found, by its id; missing: for the whole of it."""


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
        self._counter = CoverageCounter(user, deps.reader, deps.clock)

    async def find(self, query: RecallQuery, reading: QueryReading, *, now_ms: int, spawn: Spawn) -> Found:
        """Nominate by all legs; the vector leg may be missing, which is a result.

        Words and times come first, with all that an answer by them alone needs. Whatever the vectors' leg then meets, a
        model that is late or an index that is still being loaded, costs this recall its vectors and nothing else.

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
        self._begin_loading(now_ms, spawn)
        words, vectors = await self._words_and_vectors(query, reading, now_ms)
        embedded_s = clock.monotonic_s()
        near: _Near | GateTrouble = GateTrouble(reason=DegradedReason.ENVELOPE_EXCEEDED)
        with anyio.move_on_after(vectors_by_s - embedded_s):
            near = await self._by_vectors(query, reading, vectors, words, now_ms, spawn)
        trouble = near if isinstance(near, GateTrouble) else None
        hits: tuple[VectorHit, ...] = ()
        clauses: Mapping[str, str] = {}
        memories, chosen = words.memories, Preselection(wanted=words.memory_ids)
        index = self._state.current_index(self._deps.reader.seq(self._user))
        if isinstance(near, _Near):
            hits, memories, index, clauses = near.hits, near.memories, near.index, near.clauses
            chosen = near.chosen
        coverage = await self._counter.count(
            query, index, _only(query, reading), index_seq=self._state.index_seq, now_ms=now_ms
        )
        legs = Legs(vector=hits, lexical=words.hits, time=words.timed)
        if coverage is not None:
            coverage = without_unreadable(coverage, chosen.wanted, memories)
        fused = fuse(legs, memories, floors=self._deps.calibration.floors, now_ms=now_ms, times=reading.times)
        return Found(
            candidates=with_clauses(fused, clauses),
            trouble=trouble,
            coverage=coverage,
            limits=(*words.limits, *self._vector_limit(chosen, coverage)),
            timed=len(words.timed) if reading.times.spans else None,
            asks_only_for_time=reading.times.asks_only_for_time,
            embed_ms=(embedded_s - started_s) * 1000.0,
            search_ms=(clock.monotonic_s() - embedded_s) * 1000.0,
            unread=chosen.unread,
        )

    def _begin_loading(self, now_ms: int, spawn: Spawn) -> None:
        """Have a missing index loaded while the query is embedded, if it is known whose vectors that will give."""
        last = self._deps.last_embedder
        if last.embedder_key:
            self._state.begin_loading(
                self._deps.reader,
                self._user,
                embedder_key=last.embedder_key,
                dims=last.dims,
                now_ms=now_ms,
                spawn=spawn,
            )

    async def _words_and_vectors(
        self, query: RecallQuery, reading: QueryReading, now_ms: int
    ) -> tuple[_Words, QueryVectors | GateTrouble]:
        """Look up the words while the query is embedded: neither waits for the other."""
        asked = _Asked()

        async def ask_embedder() -> None:
            asked.answer(
                await embed_query(
                    self._deps,
                    self._user,
                    reading.text,
                    envelope_deadline_s=query.deadline_s,
                    clauses=await self._deps.text_work.run(partial(clauses_of, reading.text), chars=len(reading.text)),
                )
            )

        words, failure = _Words(), None
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(ask_embedder)
            try:
                words = await self._by_time(query, reading, await self._by_words(query, reading, now_ms), now_ms)
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

    async def _by_words(self, query: RecallQuery, reading: QueryReading, now_ms: int) -> _Words:
        """What the words nominate, read in full."""
        if not reading.terms:
            return _Words()
        reader = self._deps.reader
        limit = self._deps.limits.lexical_limit + self._hidden(query)
        found = await reader.found_by_words(
            self._user,
            reading.terms,
            now_ms=now_ms,
            limit=limit,
            scope=query.scope,
            windows=_only(query, reading),
        )
        limits = (RecallLimit.LEXICAL_LIMIT,) if len(found.hits) >= limit else ()
        return _Words(hits=found.hits, memories=found.memories, limits=limits)

    async def _by_time(self, query: RecallQuery, reading: QueryReading, words: _Words, now_ms: int) -> _Words:
        """What a time in the query nominates, beside the words."""
        windows = reading.times.windows
        if not windows:
            return words
        limit = TIME_LIMIT + self._hidden(query)
        # A turn that mentions "today" in passing does not ask for more of today.
        is_asked_for = query.time is TimeUse.FILTER or reading.times.asks_only_for_time
        found = await self._deps.reader.within(self._user, windows, now_ms=now_ms, limit=limit, scope=query.scope)
        return msgspec.structs.replace(
            words,
            timed=tuple(memory.id for memory in found),
            memories={**words.memories, **{memory.id: memory for memory in found}},
            limits=(*words.limits, *((RecallLimit.TIME_LIMIT,) if is_asked_for and len(found) >= limit else ())),
        )

    async def _by_vectors(
        self,
        query: RecallQuery,
        reading: QueryReading,
        vectors: QueryVectors | GateTrouble,
        words: _Words,
        now_ms: int,
        spawn: Spawn,
    ) -> _Near | GateTrouble:
        """What the vectors nominate beside the words, read in full; or why they could not."""
        if isinstance(vectors, GateTrouble):
            return vectors
        index = await self._index(vectors, query, now_ms, spawn)
        if index is None:
            return GateTrouble(reason=DegradedReason.ENVELOPE_EXCEEDED, detail=INDEX_LOADING)
        found = await self._search(index, vectors, query, words.memory_ids, _only(query, reading), now_ms)
        hits = tuple(map(_vector_hit, found.cosines))
        chosen = preselect(
            Legs(vector=hits, lexical=words.hits, time=words.timed),
            index.times_of,
            floors=self._deps.calibration.floors,
            now_ms=now_ms,
            limit=self._read_limit(query),
            times=reading.times,
        )
        unread = [memory_id for memory_id in chosen.wanted if memory_id not in words.memories]
        more = await self._deps.reader.memories(self._user, unread) if unread else {}
        return _Near(hits=hits, chosen=chosen, memories={**words.memories, **more}, index=index, clauses=found.best)

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
        return len(self._state.visible.visible(query.session, query.turn_id)) + len(query.exclude)

    def _read_limit(self, query: RecallQuery) -> int | None:
        """How many of the memories that only the vectors found are read: what a gate looks at, and then some."""
        if query.is_search:  # which leaves nothing out but for want of places
            return None
        wanted = self._deps.limits.max_items if query.max_items is None else query.max_items
        return max(CONSIDERED_MAX, wanted) + MARGIN + self._hidden(query)

    def _vector_limit(self, chosen: Preselection, coverage: Coverage | None) -> tuple[RecallLimit, ...]:
        """The vector leg's limit, if more than it takes are above the floor and more are there."""
        limit = self._deps.limits.vector_limit
        if coverage is None or coverage.searched <= limit or chosen.above_floor < limit:
            return ()
        return (RecallLimit.VECTOR_LIMIT,)

    async def _search(
        self,
        index: UserIndex,
        vectors: QueryVectors,
        query: RecallQuery,
        also: Sequence[str],
        windows: Sequence[TimeWindow],
        now_ms: int,
    ) -> ClauseHits:
        """What is near to the message, and to each of its clauses."""
        found: list[tuple[str, list[Cosines]]] = []
        for part in vectors.parts:
            search = VectorSearch(
                query=part.query,
                question=part.question,
                scope=query.scope,
                now_ms=now_ms,
                limit=self._deps.limits.vector_limit + self._hidden(query),
                also=tuple(also),
                windows=windows,
            )
            found.append((part.text, await self._state.search(index, search, self._deps.text_work)))
        return united(found)


def _only(query: RecallQuery, reading: QueryReading) -> tuple[TimeWindow, ...]:
    """The windows to which the search is restricted; none: it is not."""
    return reading.times.windows if query.time is TimeUse.FILTER else ()


def _vector_hit(cosines: Cosines) -> VectorHit:
    return VectorHit(
        memory_id=cosines.memory_id,
        cosine=cosines.record,
        cue_cosine=cosines.cue,
        ask_cosine=cosines.ask,
        ask_mean=cosines.ask_mean,
        cue_ordinal=cosines.best_cue,
        passage=cosines.best_passage,
    )
