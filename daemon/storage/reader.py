"""The reading side of the store, on SQLite: a few connections that cannot write."""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncIterator, Callable, Collection, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from pathlib import Path
from typing import TypeVar

import anyio

from recalld.actors.store.forgetting_rules import Sought
from recalld.actors.store.rules import unstorable
from recalld.actors.store.search_text import query_stems, terms_posted
from recalld.daemon.storage import (
    admission_queries,
    audit_samples,
    outcomes,
    pending_turns,
    queries,
    sought_notes,
    standing,
)
from recalld.daemon.storage.admission_tables import usage
from recalld.daemon.storage.changes import SeqBoard
from recalld.daemon.storage.connection import Session, open_reading, open_session
from recalld.daemon.storage.decision_samples import newest_samples, newest_users
from recalld.daemon.storage.health import Liveness, assess
from recalld.daemon.storage.index_delta import index_delta, index_page
from recalld.daemon.storage.ledger import find_decision
from recalld.daemon.storage.ledger_tallies import read_tallies
from recalld.daemon.storage.pending import PendingSearch
from recalld.daemon.storage.rows import VectorShape
from recalld.daemon.storage.search import find_by_words, find_posted
from recalld.daemon.storage.slots import holders
from recalld.daemon.storage.times import find_within
from recalld.daemon.storage.transactions import guarded, in_snapshot
from recalld.daemon.storage.users import find_user
from recalld.models.domain.admission_store import Lineage, ObservationPage, ProposalPage, ProposalState, SlotHolder
from recalld.models.domain.audit_samples import SampleGroup, SampleKind, SamplePage
from recalld.models.domain.drift import DecisionSample
from recalld.models.domain.extraction import PendingCounts, PendingTurn
from recalld.models.domain.ledger_tally import LedgerTallies
from recalld.models.domain.outcomes import OutcomeTally
from recalld.models.domain.records import Memory, MemoryKind
from recalld.models.domain.standing import MemoryOutcomes, StandingCandidates
from recalld.models.domain.store import (
    DecisionRow,
    FoundByWords,
    IndexDelta,
    IndexPage,
    LexicalHit,
    ListFilter,
    MemoryPage,
    NoteCounts,
    PendingEmbedding,
    StoreCounts,
    StoreHealth,
)
from recalld.models.domain.time_window import TimeWindow
from recalld.models.domain.usage import Usage
from recalld.models.domain.user_data import ExportPage

R = TypeVar("R")


class SessionPool:
    """Reading connections, each lent to one caller at a time; callers beyond their number wait in turn."""

    def __init__(self, sessions: Sequence[Session], path: Path) -> None:
        self._path = path
        self._idle = list(sessions)
        self._turns = anyio.Semaphore(len(sessions))

    async def run(self, work: Callable[[sqlite3.Connection], R]) -> R:
        """Run reading `work` in one snapshot.

        When the caller is cancelled, the running statement is interrupted, so that the connection is soon free for
        whoever comes next.

        Raises:
            RecalldError: `STORAGE_UNAVAILABLE`, `BAD_REQUEST` for a value that SQLite cannot take, or `INTERNAL`.
        """
        async with self._turns:
            session = self._idle.pop()
            try:
                return await session.run(lambda db: guarded(db, lambda db: in_snapshot(db, work), self._path))
            except anyio.get_cancelled_exc_class():
                session.interrupt_now()
                raise
            except (UnicodeEncodeError, OverflowError) as error:
                raise unstorable(type(error).__name__) from error
            finally:
                self._idle.append(session)


@asynccontextmanager
async def open_pool(path: Path, readers: int) -> AsyncIterator[SessionPool]:
    """A pool of `readers` reading connections for as long as the block runs.

    Raises:
        RecalldError: The database cannot be opened; no connection stays open.
    """
    async with AsyncExitStack() as stack:
        sessions = [await stack.enter_async_context(open_session(path, open_reading)) for _ in range(readers)]
        yield SessionPool(sessions, path)


class SqliteReader:
    """Implements `MemoryReader`. Each call sees one state of the database: at least the last acknowledged write."""

    def __init__(
        self, pool: SessionPool, board: SeqBoard, path: Path, liveness: Liveness, *, vector_bytes: int | None = None
    ) -> None:
        self._pool = pool
        self._board = board
        self._path = path
        self._liveness = liveness
        self._vector_bytes = vector_bytes
        self._pending = PendingSearch()

    def seq(self, user: str) -> int:
        """The user's newest change number known to this process (0: none). Never blocks, touches no file."""
        return self._board.seq(user)

    async def load_seq(self, user: str) -> int:
        """As `seq`, but reads it from the database when this process has not seen the user yet."""
        if not self._board.knows(user):
            self._board.advance({user: await self._pool.run(partial(queries.last_seq, user=user))})
        return self._board.seq(user)

    async def memory(self, user: str, memory_id: str) -> Memory | None:
        """A memory in any status but forgotten."""
        return (await self.memories(user, (memory_id,))).get(memory_id)

    async def memories(self, user: str, memory_ids: Sequence[str]) -> dict[str, Memory]:
        """Several memories by id, in the order asked for; unknown, forgotten and damaged ones are missing."""
        return await self._pool.run(lambda db: queries.memories_by_id(db, user, memory_ids))

    async def erasable(self, user: str, memory_ids: Sequence[str]) -> dict[str, Memory]:
        """As `memories`, with forgotten ones too, and with what can be read of damaged ones."""
        return await self._pool.run(lambda db: queries.erasable_by_id(db, user, memory_ids))

    async def list_memories(
        self, user: str, what: ListFilter, *, now_ms: int, limit: int, cursor: str | None
    ) -> MemoryPage:
        """Live memories of the filter's very scope, newest first.

        Raises:
            RecalldError: `BAD_REQUEST` for a cursor that this store did not make, or a limit out of range.
        """
        return await self._pool.run(lambda db: queries.page(db, user, what, now_ms=now_ms, limit=limit, cursor=cursor))

    async def lexical(
        self,
        user: str,
        terms: Sequence[str],
        *,
        now_ms: int,
        limit: int,
        scope: str | None,
        windows: Sequence[TimeWindow] = (),
    ) -> list[LexicalHit]:
        """Live memories of the user that contain at least one of the terms, best first; see `actors.store.bm25`."""
        stems = query_stems(terms)

        def find(db: sqlite3.Connection) -> list[LexicalHit]:
            user_no = find_user(db, user)
            if user_no is None:
                return []
            return find_by_words(db, user_no, stems, now_ms=now_ms, limit=max(limit, 0), scope=scope, windows=windows)

        return await self._pool.run(find)

    async def found_by_words(
        self,
        user: str,
        terms: Sequence[str],
        *,
        now_ms: int,
        limit: int,
        scope: str | None,
        windows: Sequence[TimeWindow] = (),
        kinds: Collection[MemoryKind] = (),
    ) -> FoundByWords:
        """As `lexical`, with the memories behind the hits; see `MemoryReader.found_by_words`."""
        stems = query_stems(terms)

        def find(db: sqlite3.Connection) -> FoundByWords:
            user_no = find_user(db, user)
            if user_no is None:
                return FoundByWords()
            hits = find_by_words(db, user_no, stems, now_ms=now_ms, limit=max(limit, 0), scope=scope, windows=windows)
            memories = queries.memories_by_id(db, user, [hit.memory_id for hit in hits], kinds=kinds) if hits else {}
            return FoundByWords(hits=tuple(hits), memories=memories)

        return await self._pool.run(find)

    async def posted(self, user: str, terms: Sequence[str]) -> frozenset[str]:
        """Those of the terms that some memory of the user contains; see `MemoryReader.posted`."""

        def find(db: sqlite3.Connection) -> frozenset[str]:
            user_no = find_user(db, user)
            return frozenset() if user_no is None else find_posted(db, user_no, query_stems(terms))

        return terms_posted(terms, await self._pool.run(find)) if terms else frozenset()

    async def within(
        self, user: str, windows: Sequence[TimeWindow], *, now_ms: int, limit: int, scope: str | None
    ) -> list[Memory]:
        """Live memories of the user that lie in any of the windows, newest first."""
        return await self._pool.run(lambda db: find_within(db, user, windows, now_ms=now_ms, limit=limit, scope=scope))

    async def index_delta(self, user: str, embedder_key: str, *, since_seq: int, now_ms: int) -> IndexDelta:
        """What an index that stands at `since_seq` (0: empty) must apply; of a complete delta the first page."""
        seq_known = self._board.seq(user)
        return await self._pool.run(
            lambda db: index_delta(db, user, embedder_key, since_seq=since_seq, now_ms=now_ms, seq_known=seq_known)
        )

    async def index_page(self, user: str, embedder_key: str, *, after: str, now_ms: int) -> IndexPage:
        """A further page of a complete delta, from where the page before said."""
        return await self._pool.run(lambda db: index_page(db, user, embedder_key, after=after, now_ms=now_ms))

    async def pending(self, embedder_key: str, *, now_ms: int, limit: int) -> list[PendingEmbedding]:
        """Live memories of any user without sound vectors for this embedder, oldest first; damaged ones left out."""
        vectors = self._vectors(embedder_key)
        return await self._pool.run(lambda db: self._pending.find(db, vectors, now_ms=now_ms, limit=limit))

    async def counts(
        self,
        user: str,
        embedder_key: str,
        *,
        now_ms: int,
        scope: str | None = None,
        windows: Sequence[TimeWindow] = (),
    ) -> StoreCounts:
        """Counts of one user's memories; see `MemoryReader.counts`."""
        vectors = self._vectors(embedder_key)
        return await self._pool.run(
            lambda db: queries.counts(db, user, vectors, now_ms=now_ms, scope=scope, windows=windows)
        )

    async def decision(self, decision_id: str) -> DecisionRow | None:
        """A ledger row."""
        return await self._pool.run(lambda db: find_decision(db, decision_id))

    async def decision_samples(self, user: str, *, limit: int) -> tuple[DecisionSample, ...]:
        """The newest recalls and observed turns of a user."""
        return await self._pool.run(lambda db: newest_samples(db, user, limit=limit))

    async def deciding_users(self, *, since_ms: int, limit: int) -> tuple[str, ...]:
        """Users with ledger rows since a time."""
        return await self._pool.run(lambda db: newest_users(db, since_ms=since_ms, limit=limit))

    async def ledger_tallies(self, user: str | None, *, since_ms: int | None, now_ms: int) -> LedgerTallies:
        """What was counted of the ledger since a time."""
        return await self._pool.run(lambda db: read_tallies(db, user, since_ms=since_ms, now_ms=now_ms))

    async def audit_samples(self, user: str, kinds: Sequence[SampleKind], *, is_marked: bool, limit: int) -> SamplePage:
        """The newest samples for an audit, of some kinds."""
        return await self._pool.run(
            lambda db: audit_samples.find_samples(db, user, kinds, is_marked=is_marked, limit=limit)
        )

    async def audit_counts(self, user: str | None, *, since_ms: int) -> tuple[SampleGroup, ...]:
        """Samples for an audit, counted."""
        return await self._pool.run(lambda db: audit_samples.count_samples(db, user, since_ms=since_ms))

    async def outcomes(self, user: str, memory_ids: Sequence[str]) -> dict[str, OutcomeTally]:
        """Reports on each of these memories, counted."""
        return await self._pool.run(lambda db: outcomes.tallies(db, user, memory_ids))

    async def reported(self, user: str, *, memory_id: str = "", decision_id: str = "", limit: int) -> MemoryOutcomes:
        """What was reported on a memory, or (without one) on a decision."""
        return await self._pool.run(
            lambda db: outcomes.reported(db, user, memory_id=memory_id, decision_id=decision_id, limit=limit)
        )

    async def standing_candidates(self, user: str, scope: str, *, now_ms: int, limit: int) -> StandingCandidates:
        """Live memories of the scope and the global one that may stand in a block; damaged ones are left out."""
        return await self._pool.run(
            lambda db: standing.standing_candidates(db, user, scope, now_ms=now_ms, limit=limit)
        )

    async def observations(self, user: str, *, since_ms: int, limit: int, cursor: str | None) -> ObservationPage:
        """A page of observations, the one made last first."""
        return await self._pool.run(
            lambda db: admission_queries.observations(db, user, since_ms=since_ms, limit=limit, cursor=cursor)
        )

    async def proposals(
        self, user: str, states: Sequence[ProposalState], *, now_ms: int, limit: int, cursor: str | None
    ) -> ProposalPage:
        """A page of proposals, newest first."""
        return await self._pool.run(
            lambda db: admission_queries.proposals(db, user, states, now_ms=now_ms, limit=limit, cursor=cursor)
        )

    async def lineage(self, user: str, memory_id: str, *, now_ms: int) -> Lineage | None:
        """Everything behind a record."""
        return await self._pool.run(lambda db: admission_queries.lineage(db, user, memory_id, now_ms=now_ms))

    async def usage(self, user: str, scope: str, *, now_ms: int) -> Usage:
        """What live memories of a scope use."""
        return await self._pool.run(lambda db: usage(db, find_user(db, user), scope, now_ms=now_ms))

    async def slot_holders(
        self, user: str, scope: str, slot: str, subject: str = "", *, now_ms: int
    ) -> tuple[SlotHolder, ...]:
        """Live memories of a scope that hold a slot of a subject, oldest first."""
        return await self._pool.run(
            lambda db: holders(db, user, find_user(db, user), scope, (slot, subject), now_ms=now_ms)
        )

    async def pending_turns(self, user: str, *, limit: int) -> tuple[PendingTurn, ...]:
        """Turns of the user that wait for a model, in order of arrival."""
        return await self._pool.run(lambda db: pending_turns.pending_turns(db, user, limit=limit))

    async def pending_users(self) -> tuple[str, ...]:
        """Users with turns that wait for a model."""
        return await self._pool.run(pending_turns.pending_users)

    async def pending_counts(self, user: str | None) -> PendingCounts:
        """How many turns wait for a model."""
        return await self._pool.run(lambda db: pending_turns.pending_counts(db, user))

    async def notes_with(self, user: str, words: Sequence[str]) -> NoteCounts:
        """How many of the user's waiting turns, observations and proposals hold all of some index terms."""
        return await self._pool.run(lambda db: sought_notes.count(db, user, Sought(words=frozenset(words))))

    async def exported(self, user: str, *, now_ms: int, limit: int, cursor: str | None) -> ExportPage:
        """A page of everything that is kept of the user."""
        return await self._pool.run(
            lambda db: admission_queries.exported(db, user, now_ms=now_ms, limit=limit, cursor=cursor)
        )

    async def health(self, embedder_key: str, *, now_ms: int) -> StoreHealth:
        """What the store says of itself. Never raises: an unreadable store is a result."""
        return await assess(self._pool.run, self._liveness, self._path, self._vectors(embedder_key), now_ms=now_ms)

    def _vectors(self, embedder_key: str) -> VectorShape:
        return VectorShape(embedder_key=embedder_key, vector_bytes=self._vector_bytes)
