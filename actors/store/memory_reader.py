"""The reading side of the in-memory store."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from recalld.actors.store import (
    lexical_rank,
    memory_admission_reader,
    memory_audit,
    memory_pending_turns,
    memory_sought,
)
from recalld.actors.store.bm25 import inverse_document_frequency
from recalld.actors.store.cursors import PagePosition, decode_cursor, encode_cursor
from recalld.actors.store.forgetting_rules import Sought
from recalld.actors.store.lexical_rank import Finalist, Word, is_beyond_reading, matched_by, nominated_by, ranked, turns
from recalld.actors.store.listing import checked_limit, contains_folded
from recalld.actors.store.memory_outcomes import reported, standing_candidates, tallies
from recalld.actors.store.memory_samples import newest_samples, newest_users
from recalld.actors.store.memory_state import Entry, StoreState, UserState
from recalld.actors.store.packed_vectors import pack_vectors
from recalld.actors.store.search_text import query_stems, terms_posted
from recalld.models.domain.admission_store import Lineage, ObservationPage, ProposalPage, ProposalState, SlotHolder
from recalld.models.domain.audit_samples import SampleGroup, SampleKind, SamplePage
from recalld.models.domain.drift import DecisionSample
from recalld.models.domain.extraction import PendingCounts, PendingTurn
from recalld.models.domain.ledger_tally import LedgerTallies
from recalld.models.domain.outcomes import OutcomeTally
from recalld.models.domain.records import Memory, MemoryKind, MemoryStatus
from recalld.models.domain.standing import MemoryOutcomes, StandingCandidates
from recalld.models.domain.store import (
    DecisionRow,
    EmbeddedMemory,
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

INDEX_PAGE_MAX = 1_000
"""Memories in a page of a complete delta."""
_SCHEMA_VERSION = 13


class InMemoryReader:
    """Implements `MemoryReader`."""

    def __init__(self, state: StoreState) -> None:
        self._state = state

    def seq(self, user: str) -> int:
        """The user's newest change number (0: none)."""
        return self._state.seqs.get(user, 0)

    async def load_seq(self, user: str) -> int:
        """As `seq`."""
        return self.seq(user)

    async def memory(self, user: str, memory_id: str) -> Memory | None:
        """A memory in any status but forgotten."""
        return (await self.memories(user, (memory_id,))).get(memory_id)

    async def memories(self, user: str, memory_ids: Sequence[str]) -> dict[str, Memory]:
        """Several memories by id, in the order asked for; unknown and forgotten ones are missing."""
        entries = self._of(user).entries
        found = {memory_id: entries[memory_id].memory for memory_id in memory_ids if memory_id in entries}
        return {id_: memory for id_, memory in found.items() if memory.status is not MemoryStatus.FORGOTTEN}

    async def erasable(self, user: str, memory_ids: Sequence[str]) -> dict[str, Memory]:
        """As `memories`, with forgotten ones too."""
        entries = self._of(user).entries
        return {memory_id: entries[memory_id].memory for memory_id in memory_ids if memory_id in entries}

    async def list_memories(
        self, user: str, what: ListFilter, *, now_ms: int, limit: int, cursor: str | None
    ) -> MemoryPage:
        """Live or superseded memories of the scope, newest first. Raises `BAD_REQUEST` for a bad cursor or limit."""
        before = None if cursor is None else decode_cursor(cursor)
        size = checked_limit(limit)
        state = self._of(user)
        entries = state.superseded() if what.is_superseded else state.live(now_ms)
        matching = [entry.memory for entry in entries if _is_shown(entry.memory, what)]
        matching.sort(key=_newness, reverse=True)
        left = [
            each for each in matching if before is None or _newness(each) < (before.created_at_ms, before.memory_id)
        ]
        memories = tuple(left[:size])
        next_cursor = encode_cursor(PagePosition(*_newness(memories[-1]))) if len(left) > size else None
        return MemoryPage(memories=memories, cursor=next_cursor, total=len(matching))

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
        """Live memories of the user that contain at least one of the terms, best first; see `bm25`."""
        indexed = list(self._of(user).indexed())
        mean = sum(len(entry.found_by.main) for entry in indexed) / len(indexed) if indexed else 0.0
        shown = [
            each
            for each in indexed
            if each.memory.is_live(now_ms) and _is_in_scope(each.memory, scope) and _lies_in(each.memory, windows)
        ]
        words = [
            Word(stem, count, inverse_document_frequency(len(indexed), count))
            for stem, count in _memories_having(indexed, query_stems(terms)).items()
        ]
        finalists_max = max(lexical_rank.FINALISTS_MAX, limit)
        for nominating in turns(words):
            found = _nominated(nominating, shown, finalists_max)
            if found:
                return ranked([_finalist(words, entry) for entry in found], terms_mean=mean, limit=limit)
        return []

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
        """As `lexical`, with the memories behind the hits."""
        hits = await self.lexical(user, terms, now_ms=now_ms, limit=limit, scope=scope, windows=windows)
        memories = await self.memories(user, [hit.memory_id for hit in hits])
        wanted = {id_: memory for id_, memory in memories.items() if not kinds or memory.kind in kinds}
        return FoundByWords(hits=tuple(hits), memories=wanted)

    async def posted(self, user: str, terms: Sequence[str]) -> frozenset[str]:
        """Those of the terms that some memory of the user contains; see `MemoryReader.posted`."""
        indexed = list(self._of(user).indexed())
        return terms_posted(terms, frozenset(_memories_having(indexed, query_stems(terms))))

    async def within(
        self, user: str, windows: Sequence[TimeWindow], *, now_ms: int, limit: int, scope: str | None
    ) -> list[Memory]:
        """Live memories of the user that lie in any of the windows, newest first."""
        found = [
            (max(_moments_in(entry.memory, windows)), entry.memory.id, entry.memory)
            for entry in self._of(user).live(now_ms)
            if _is_in_scope(entry.memory, scope) and _moments_in(entry.memory, windows)
        ]
        found.sort(key=lambda each: each[:2], reverse=True)
        return [memory for _, _, memory in found[: max(limit, 0)]]

    async def index_delta(self, user: str, embedder_key: str, *, since_seq: int, now_ms: int) -> IndexDelta:
        """What an index that stands at `since_seq` (0: empty) must apply."""
        state = self._state.users.get(user)
        if state is None:
            return IndexDelta(is_complete=True, seq=self.seq(user), upserts=(), removed=())
        if since_seq == state.last_seq and since_seq > 0:
            return IndexDelta(is_complete=False, seq=since_seq, upserts=(), removed=())
        live = _by_newness(state, now_ms)
        if not 0 < since_seq < state.last_seq or since_seq < self._state.trimmed_through:
            upserts, more = _index_page(live, embedder_key)
            return IndexDelta(
                is_complete=True,
                seq=state.last_seq,
                upserts=upserts,
                removed=(),
                total=len(list(state.indexed())),
                more=more,
            )
        changed = {each.memory_id for each in self._state.changes if each.user == user and each.seq > since_seq}
        live = [entry for entry in live if entry.memory.id in changed]
        return IndexDelta(
            is_complete=False,
            seq=state.last_seq,
            upserts=tuple(_embedded(entry, embedder_key) for entry in live),
            removed=tuple(sorted(changed - {entry.memory.id for entry in live})),
        )

    async def index_page(self, user: str, embedder_key: str, *, after: str, now_ms: int) -> IndexPage:
        """A further page of a complete delta, from where the page before said."""
        position = decode_cursor(after)
        begin = (position.created_at_ms, position.memory_id)
        left = [entry for entry in _by_newness(self._of(user), now_ms) if _newness(entry.memory) > begin]
        upserts, more = _index_page(left, embedder_key)
        return IndexPage(upserts=upserts, more=more)

    async def pending(self, embedder_key: str, *, now_ms: int, limit: int) -> list[PendingEmbedding]:
        """Live memories of any user without vectors for this embedder, oldest first."""
        waiting = [entry.memory for entry in self._live(now_ms) if _is_pending(entry, embedder_key)]
        waiting.sort(key=_newness)
        return [PendingEmbedding(memory=memory) for memory in waiting[: max(limit, 0)]]

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
        state = self._of(user)
        live = list(state.live(now_ms))
        statuses = [entry.memory.status for entry in state.entries.values()]
        return StoreCounts(
            live=sum(_is_in_scope(entry.memory, scope) and _lies_in(entry.memory, windows) for entry in live),
            pending_embedding=sum(_is_pending(entry, embedder_key) for entry in live),
            superseded=statuses.count(MemoryStatus.SUPERSEDED),
            expired=statuses.count(MemoryStatus.ACTIVE) - len(live),
            tombstones=len(state.tombstones),
            records_without_asks=sum(not entry.memory.asks for entry in live),
        )

    async def decision(self, decision_id: str) -> DecisionRow | None:
        """A ledger row."""
        return self._state.decisions.get(decision_id)

    async def decision_samples(self, user: str, *, limit: int) -> tuple[DecisionSample, ...]:
        """The newest recalls and observed turns of a user."""
        return newest_samples(self._state.decisions.values(), user, limit=limit)

    async def deciding_users(self, *, since_ms: int, limit: int) -> tuple[str, ...]:
        """Users with ledger rows since a time."""
        return newest_users(self._state.decisions.values(), since_ms=since_ms, limit=limit)

    async def ledger_tallies(self, user: str | None, *, since_ms: int | None, now_ms: int) -> LedgerTallies:
        """What was counted of the ledger since a time."""
        state = self._state
        return state.ledger.read(state.decisions.values(), user, since_ms=since_ms, now_ms=now_ms)

    async def audit_samples(self, user: str, kinds: Sequence[SampleKind], *, is_marked: bool, limit: int) -> SamplePage:
        """The newest samples for an audit, of some kinds."""
        return memory_audit.find_samples(self._of(user), kinds, is_marked=is_marked, limit=limit)

    async def audit_counts(self, user: str | None, *, since_ms: int) -> tuple[SampleGroup, ...]:
        """Samples for an audit, counted."""
        return memory_audit.count_samples(self._state, user, since_ms=since_ms)

    async def outcomes(self, user: str, memory_ids: Sequence[str]) -> dict[str, OutcomeTally]:
        """Reports on each of these memories, counted."""
        return tallies(self._of(user).reports, memory_ids)

    async def reported(self, user: str, *, memory_id: str = "", decision_id: str = "", limit: int) -> MemoryOutcomes:
        """What was reported on a memory, or (without one) on a decision."""
        return reported(self._of(user).reports, memory_id=memory_id, decision_id=decision_id, limit=limit)

    async def standing_candidates(self, user: str, scope: str, *, now_ms: int, limit: int) -> StandingCandidates:
        """Live memories of the scope and the global one that may stand in a block."""
        return standing_candidates(self._of(user), scope, now_ms=now_ms, limit=limit)

    async def observations(self, user: str, *, since_ms: int, limit: int, cursor: str | None) -> ObservationPage:
        """A page of observations, the one made last first."""
        return memory_admission_reader.observations(self._of(user), since_ms=since_ms, limit=limit, cursor=cursor)

    async def proposals(
        self, user: str, states: Sequence[ProposalState], *, now_ms: int, limit: int, cursor: str | None
    ) -> ProposalPage:
        """A page of proposals, newest first."""
        state = self._of(user)
        return memory_admission_reader.proposals(state, states, now_ms=now_ms, limit=limit, cursor=cursor)

    async def lineage(self, user: str, memory_id: str, *, now_ms: int) -> Lineage | None:
        """Everything behind a record."""
        return memory_admission_reader.lineage(self._of(user), memory_id, now_ms=now_ms)

    async def usage(self, user: str, scope: str, *, now_ms: int) -> Usage:
        """What live memories of a scope use."""
        return memory_admission_reader.usage(self._of(user), scope, now_ms=now_ms)

    async def slot_holders(
        self, user: str, scope: str, slot: str, subject: str = "", *, now_ms: int
    ) -> tuple[SlotHolder, ...]:
        """Live memories of a scope that hold a slot of a subject, oldest first."""
        return memory_admission_reader.slot_holders(self._of(user), scope, (slot, subject), now_ms=now_ms)

    async def pending_turns(self, user: str, *, limit: int) -> tuple[PendingTurn, ...]:
        """Turns of the user that wait for a model, in order of arrival."""
        return memory_pending_turns.pending_turns(self._state, user, limit=limit)

    async def pending_users(self) -> tuple[str, ...]:
        """Users with turns that wait for a model."""
        return memory_pending_turns.pending_users(self._state)

    async def pending_counts(self, user: str | None) -> PendingCounts:
        """How many turns wait for a model."""
        return memory_pending_turns.pending_counts(self._state, user)

    async def notes_with(self, user: str, words: Sequence[str]) -> NoteCounts:
        """How many of the user's waiting turns, observations and proposals hold all of some index terms."""
        state = self._state.users.get(user)
        return NoteCounts() if state is None else memory_sought.found(state, Sought(words=frozenset(words))).counts

    async def exported(self, user: str, *, now_ms: int, limit: int, cursor: str | None) -> ExportPage:
        """A page of everything that is kept of the user."""
        return memory_admission_reader.exported(self._of(user), now_ms=now_ms, limit=limit, cursor=cursor)

    async def health(self, embedder_key: str, *, now_ms: int) -> StoreHealth:
        """What the store says of itself; there are no files to fail."""
        live = list(self._live(now_ms))
        pending = [entry for entry in live if _is_pending(entry, embedder_key)]
        return StoreHealth(
            is_readable=True,
            is_writable=True,
            schema_version=_SCHEMA_VERSION,
            audited_at_ms=self._state.audited_at_ms,
            users=len({entry.memory.user for entry in live}),
            live=len(live),
            blank=sum(not entry.memory.text.strip() for entry in live),
            fts_rows=sum(1 for state in self._state.users.values() for _ in state.indexed()),
            fts_matches=True,
            pending_embedding=len(pending),
            other_embedder=sum(bool(entry.vectors) and entry.embedder_key != embedder_key for entry in pending),
            db_bytes=0,
            wal_bytes=0,
        )

    def _of(self, user: str) -> UserState:
        """The user's state; an empty one that nobody keeps when there is none."""
        return self._state.users.get(user) or UserState()

    def _live(self, now_ms: int) -> Iterable[Entry]:
        return (entry for state in self._state.users.values() for entry in state.live(now_ms))


def _by_newness(state: UserState, now_ms: int) -> list[Entry]:
    """Live entries, oldest first."""
    return sorted(state.live(now_ms), key=lambda entry: _newness(entry.memory))


def _index_page(live: Sequence[Entry], embedder_key: str) -> tuple[tuple[EmbeddedMemory, ...], str]:
    """The first page of these entries, and where the next one begins; empty when there is none."""
    page = live[:INDEX_PAGE_MAX]
    is_last = len(page) == len(live)
    more = "" if is_last else encode_cursor(PagePosition(*_newness(page[-1].memory)))
    return tuple(_embedded(entry, embedder_key) for entry in page), more


def _newness(memory: Memory) -> tuple[int, str]:
    return memory.created_at_ms, memory.id


def _is_shown(memory: Memory, what: ListFilter) -> bool:
    is_asked_for = what.scope in (None, memory.scope) and what.kind in (None, memory.kind)
    is_left_out = what.without_asks and bool(memory.asks)
    return is_asked_for and not is_left_out and contains_folded(memory.text, what.contains)


def _is_in_scope(memory: Memory, scope: str | None) -> bool:
    return scope is None or memory.scope in ("", scope)


def _moments_in(memory: Memory, windows: Sequence[TimeWindow]) -> list[int]:
    """Those of a memory's times that lie in any of the windows."""
    moments = (memory.created_at_ms, memory.updated_at_ms)
    return [at_ms for at_ms in moments if any(window.holds(at_ms) for window in windows)]


def _lies_in(memory: Memory, windows: Sequence[TimeWindow]) -> bool:
    """Whether a memory lies in one of the windows; every one does when there are none."""
    return not windows or bool(_moments_in(memory, windows))


def _is_embedded(entry: Entry, embedder_key: str) -> bool:
    return bool(entry.vectors) and entry.embedder_key == embedder_key


def _is_pending(entry: Entry, embedder_key: str) -> bool:
    return entry.is_waiting or not _is_embedded(entry, embedder_key)


def _embedded(entry: Entry, embedder_key: str) -> EmbeddedMemory:
    memory = entry.memory
    return EmbeddedMemory(
        memory_id=memory.id,
        revision=memory.revision,
        scope=memory.scope,
        expires_at_ms=memory.expires_at_ms,
        has_asks=bool(memory.asks),
        created_at_ms=memory.created_at_ms,
        updated_at_ms=memory.updated_at_ms,
        vectors=pack_vectors(entry.vectors if _is_embedded(entry, embedder_key) else ()),
    )


def _memories_having(indexed: Sequence[Entry], stems: Sequence[str]) -> dict[str, int]:
    """How many of the user's memories have each stem of a query; without those that none has."""
    having = {stem: sum(stem in entry.found_by.stems for entry in indexed) for stem in stems}
    return {stem: count for stem, count in having.items() if count}


def _nominated(nominating: Sequence[Word], shown: Sequence[Entry], limit: int) -> list[Entry]:
    """The best of the entries that have one of the words, or the newest where they are too many to look at."""
    postings = [
        ([place for place, entry in enumerate(shown) if word.stem in stems(entry)], word.worth(is_in_text=is_in_text))
        for word in nominating
        for is_in_text, stems in ((True, _stems_of_text), (False, _stems_of_extras))
    ]
    if is_beyond_reading(nominating):
        newest = sorted((place for places, _ in postings for place in places), reverse=True)
        return [shown[place] for place in newest[:limit]]
    return [shown[place] for place in nominated_by(postings).numbers[:limit].tolist()]


def _stems_of_text(entry: Entry) -> Sequence[str]:
    return entry.found_by.main


def _stems_of_extras(entry: Entry) -> Sequence[str]:
    return entry.found_by.extras


def _finalist(words: Sequence[Word], entry: Entry) -> Finalist:
    memory, found_by = entry.memory, entry.found_by
    matched = matched_by(words, found_by.main, found_by.extras)
    return Finalist(memory.id, memory.created_at_ms, len(found_by.main), matched)
