"""The reading side of the in-memory store."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from recalld.actors.store.bm25 import (
    EXTRAS_WEIGHT,
    inverse_document_frequency,
    is_common,
    length_factor,
    rounded_score,
)
from recalld.actors.store.cursors import PagePosition, decode_cursor, encode_cursor
from recalld.actors.store.listing import checked_limit, contains_folded
from recalld.actors.store.memory_state import Entry, StoreState, UserState
from recalld.actors.store.search_text import query_stems
from recalld.models.domain.records import Memory, MemoryStatus
from recalld.models.domain.store import (
    DecisionRow,
    EmbeddedMemory,
    IndexDelta,
    LexicalHit,
    ListFilter,
    MemoryPage,
    PendingEmbedding,
    StoreCounts,
    StoreHealth,
)

_SCHEMA_VERSION = 1


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
        """Live memories of the filter's very scope, newest first. Raises `BAD_REQUEST` for a bad cursor or limit."""
        before = None if cursor is None else decode_cursor(cursor)
        size = checked_limit(limit)
        matching = [entry.memory for entry in self._of(user).live(now_ms) if _is_shown(entry.memory, what)]
        matching.sort(key=_newness, reverse=True)
        left = [
            each for each in matching if before is None or _newness(each) < (before.created_at_ms, before.memory_id)
        ]
        memories = tuple(left[:size])
        next_cursor = encode_cursor(PagePosition(*_newness(memories[-1]))) if len(left) > size else None
        return MemoryPage(memories=memories, cursor=next_cursor, total=len(matching))

    async def lexical(
        self, user: str, terms: Sequence[str], *, now_ms: int, limit: int, scope: str | None
    ) -> list[LexicalHit]:
        """Live memories of the user that contain at least one of the terms, best first; see `bm25`."""
        indexed = list(self._of(user).indexed())
        having = _memories_having(indexed, query_stems(terms))
        weights = {stem: inverse_document_frequency(len(indexed), count) for stem, count in having.items()}
        mean = sum(len(entry.found_by.main) for entry in indexed) / len(indexed) if indexed else 0.0
        rare = {stem for stem, count in having.items() if not is_common(len(indexed), count)}
        shown = [each for each in indexed if each.memory.is_live(now_ms) and _is_in_scope(each.memory, scope)]
        nominated = _entries_with(rare, shown) or _entries_with(set(having), shown)
        hits = [(_score(entry, weights, mean), entry.memory) for entry in nominated]
        hits.sort(key=lambda hit: (hit[0], _newness(hit[1])), reverse=True)
        return [LexicalHit(memory_id=memory.id, score=score) for score, memory in hits[: max(limit, 0)]]

    async def index_delta(self, user: str, embedder_key: str, *, since_seq: int, now_ms: int) -> IndexDelta:
        """What an index that stands at `since_seq` (0: empty) must apply."""
        state = self._state.users.get(user)
        if state is None:
            return IndexDelta(is_complete=True, seq=self.seq(user), upserts=(), removed=())
        if since_seq == state.last_seq and since_seq > 0:
            return IndexDelta(is_complete=False, seq=since_seq, upserts=(), removed=())
        live = sorted(state.live(now_ms), key=lambda entry: _newness(entry.memory))
        is_complete = not 0 < since_seq < state.last_seq or since_seq < self._state.trimmed_through
        changed = {each.memory_id for each in self._state.changes if each.user == user and each.seq > since_seq}
        if not is_complete:
            live = [entry for entry in live if entry.memory.id in changed]
        gone = set() if is_complete else changed - {entry.memory.id for entry in live}
        return IndexDelta(
            is_complete=is_complete,
            seq=state.last_seq,
            upserts=tuple(_embedded(entry, embedder_key) for entry in live),
            removed=tuple(sorted(gone)),
        )

    async def pending(self, embedder_key: str, *, now_ms: int, limit: int) -> list[PendingEmbedding]:
        """Live memories of any user without vectors for this embedder, oldest first."""
        waiting = [entry.memory for entry in self._live(now_ms) if not _is_embedded(entry, embedder_key)]
        waiting.sort(key=_newness)
        return [PendingEmbedding(memory=memory) for memory in waiting[: max(limit, 0)]]

    async def counts(self, user: str, embedder_key: str, *, now_ms: int, scope: str | None = None) -> StoreCounts:
        """Counts of one user's memories. With a scope, `live` counts that scope and the global one only."""
        state = self._of(user)
        live = list(state.live(now_ms))
        statuses = [entry.memory.status for entry in state.entries.values()]
        return StoreCounts(
            live=sum(_is_in_scope(entry.memory, scope) for entry in live),
            pending_embedding=sum(not _is_embedded(entry, embedder_key) for entry in live),
            superseded=statuses.count(MemoryStatus.SUPERSEDED),
            expired=statuses.count(MemoryStatus.ACTIVE) - len(live),
            tombstones=len(state.tombstones),
            records_without_asks=sum(not entry.memory.asks for entry in live),
        )

    async def decision(self, decision_id: str) -> DecisionRow | None:
        """A ledger row."""
        return self._state.decisions.get(decision_id)

    async def health(self, embedder_key: str, *, now_ms: int) -> StoreHealth:
        """What the store says of itself; there are no files to fail."""
        live = list(self._live(now_ms))
        pending = [entry for entry in live if not _is_embedded(entry, embedder_key)]
        return StoreHealth(
            is_readable=True,
            is_writable=True,
            schema_version=_SCHEMA_VERSION,
            users=len({entry.memory.user for entry in live}),
            live=len(live),
            blank=sum(not entry.memory.text.strip() for entry in live),
            fts_rows=sum(1 for state in self._state.users.values() for _ in state.indexed()),
            fts_matches=True,
            pending_embedding=len(pending),
            other_embedder=sum(bool(entry.vectors) for entry in pending),
            db_bytes=0,
            wal_bytes=0,
        )

    def _of(self, user: str) -> UserState:
        """The user's state; an empty one that nobody keeps when there is none."""
        return self._state.users.get(user) or UserState()

    def _live(self, now_ms: int) -> Iterable[Entry]:
        return (entry for state in self._state.users.values() for entry in state.live(now_ms))


def _newness(memory: Memory) -> tuple[int, str]:
    return memory.created_at_ms, memory.id


def _is_shown(memory: Memory, what: ListFilter) -> bool:
    is_asked_for = what.scope in (None, memory.scope) and what.kind in (None, memory.kind)
    return is_asked_for and contains_folded(memory.text, what.contains)


def _is_in_scope(memory: Memory, scope: str | None) -> bool:
    return scope is None or memory.scope in ("", scope)


def _is_embedded(entry: Entry, embedder_key: str) -> bool:
    return bool(entry.vectors) and entry.embedder_key == embedder_key


def _embedded(entry: Entry, embedder_key: str) -> EmbeddedMemory:
    memory = entry.memory
    return EmbeddedMemory(
        memory_id=memory.id,
        revision=memory.revision,
        scope=memory.scope,
        expires_at_ms=memory.expires_at_ms,
        has_asks=bool(memory.asks),
        vectors=entry.vectors if _is_embedded(entry, embedder_key) else (),
    )


def _memories_having(indexed: Sequence[Entry], stems: Sequence[str]) -> dict[str, int]:
    """How many of the user's memories have each stem of a query; without those that none has."""
    having = {stem: sum(stem in entry.found_by.stems for entry in indexed) for stem in stems}
    return {stem: count for stem, count in having.items() if count}


def _entries_with(stems: set[str], entries: Sequence[Entry]) -> list[Entry]:
    """The entries that have at least one of the stems."""
    return [entry for entry in entries if not stems.isdisjoint(entry.found_by.stems)]


def _score(entry: Entry, weights: dict[str, float], terms_mean: float) -> float:
    matched = sum(weight * _share(entry, stem) for stem, weight in weights.items())
    return rounded_score(matched, length_factor(len(entry.found_by.main), terms_mean))


def _share(entry: Entry, stem: str) -> float:
    """How much of a stem's weight a memory earns by where it has it."""
    if stem in entry.found_by.main:
        return 1.0
    return EXTRAS_WEIGHT if stem in entry.found_by.extras else 0.0
