"""The write path's tables in the in-memory store."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import msgspec

from recalld.actors.store.admission_rows import ObservationRow, ProposalRow, RecordedTurn
from recalld.actors.store.admission_tables import EVIDENCE_MAX, Attempt
from recalld.actors.store.memory_admission_reader import live_oldest_first, slot_holders, usage
from recalld.actors.store.memory_admission_state import Closing, KeptEvidence
from recalld.actors.store.memory_state import Entry, StoreState, Turn
from recalld.actors.store.memory_undo import StateAttempt
from recalld.actors.store.rules import conflicting_id, in_order
from recalld.actors.store.search_text import search_text
from recalld.models.domain.admission_store import Evidence, ProposalState, SlotHolder, SlotValue
from recalld.models.domain.outcomes import OutcomeResult
from recalld.models.domain.records import Memory, MemoryStatus
from recalld.models.domain.store import DecisionRow, TextVector
from recalld.models.domain.usage import Usage
from recalld.models.policy.capacity import EvictionCandidate
from recalld.models.policy.duplicates import duplicate_digest, fold, tombstone_digest
from recalld.models.policy.promotion import turn_of
from recalld.models.policy.slot_values import value_key


class InMemoryTables:
    """Implements `AdmissionTables`.

    Args:
        store: The store.
        fold_key: Keys the digests of words.
        user: Whose tables.
    """

    def __init__(self, store: StoreState, fold_key: bytes, user: str) -> None:
        self._store = store
        self._fold_key = fold_key
        self._user = user
        self._state = store.user(user)

    @contextmanager
    def attempt(self) -> Iterator[Attempt]:
        """Begin work that may be taken back."""
        yield StateAttempt(self._store, self._user)

    def turn(self, turn_key: str) -> RecordedTurn | None:
        """What became of a turn."""
        turn = self._state.turns.get(turn_key)
        if turn is None:
            return None
        return RecordedTurn(
            decision_id=turn.decision_id,
            reason=turn.reason,
            outcome=turn.outcome,
            memory_id=turn.memory_id,
            facts=self._state.admission.results.get(turn_key),
        )

    def record_turn(self, turn_key: str, turn: RecordedTurn, at_ms: int) -> None:
        """Note what became of a turn."""
        self._state.turns[turn_key] = Turn(
            decision_id=turn.decision_id,
            reason=turn.reason,
            outcome=turn.outcome,
            memory_id=turn.memory_id,
            at_ms=at_ms,
        )
        if turn.facts is not None:
            self._state.admission.results[turn_key] = turn.facts

    def append_decision(self, row: DecisionRow) -> None:
        """Add a ledger row."""
        self._store.append_decision(row)

    def is_tombstoned(self, text: str) -> bool:
        """Whether the words were forgotten on purpose."""
        return tombstone_digest(text, self._fold_key) in self._state.tombstones

    def lift_tombstone(self, text: str) -> None:
        """Let the words come back."""
        self._state.tombstones.discard(tombstone_digest(text, self._fold_key))

    def add_tombstone(self, text: str, now_ms: int) -> None:  # noqa: ARG002 - nobody asks this store when
        """Keep the words from coming back."""
        self._state.tombstones.add(tombstone_digest(text, self._fold_key))

    def memory(self, memory_id: str) -> Memory | None:
        """A memory in any status but forgotten."""
        entry = self._state.entries.get(memory_id)
        return None if entry is None or entry.memory.status is MemoryStatus.FORGOTTEN else entry.memory

    def live(self, memory_id: str, now_ms: int) -> Memory | None:
        """A memory that may be recalled."""
        entry = self._state.entries.get(memory_id)
        is_live = entry is not None and entry.is_indexed and entry.memory.is_live(now_ms)
        return entry.memory if entry is not None and is_live else None

    def same_words(self, scope: str, text: str, now_ms: int) -> Memory | None:
        """The live memory of the same words in the scope."""
        same = self._state.same_words(scope, duplicate_digest(text, self._fold_key))
        if same is not None and not same.memory.is_live(now_ms):
            self._store.withdraw(self._user, same)
            return None
        return None if same is None else same.memory

    def create(self, memory: Memory, embedder_key: str, vectors: Sequence[TextVector]) -> None:
        """Store a new memory and index it."""
        if self._store.is_id_taken(memory.id):
            raise conflicting_id(memory.id)
        self.insert(memory, is_indexed=True)
        self._embed(self._state.entries[memory.id], embedder_key, vectors)

    def replace(self, memory: Memory, embedder_key: str, vectors: Sequence[TextVector]) -> None:
        """Store a memory with another kind, expiry, cues or asks."""
        entry = self._state.entries[memory.id]
        is_reworded = memory.revision != entry.memory.revision
        entry.memory = memory
        if is_reworded:
            entry.found_by = search_text(memory)
            entry.embedder_key, entry.vectors, entry.is_waiting = "", (), False
            self._embed(entry, embedder_key, vectors)
        self._store.note(self._user, memory.id)

    def close(self, memory_id: str, *, by: str, now_ms: int) -> None:
        """Supersede a live memory."""
        entry = self._state.entries[memory_id]
        self._store.withdraw(self._user, entry)
        entry.memory = msgspec.structs.replace(entry.memory, status=MemoryStatus.SUPERSEDED, updated_at_ms=now_ms)
        self.note_closing(memory_id, by=by, at_ms=now_ms)

    def is_forgotten(self, memory_id: str) -> bool:
        """Whether the user had a memory of this id and forgot it."""
        entry = self._state.entries.get(memory_id)
        return entry is not None and entry.memory.status is MemoryStatus.FORGOTTEN

    def is_id_taken(self, memory_id: str) -> bool:
        """Whether any user has a memory of this id."""
        return self._store.is_id_taken(memory_id)

    def insert(self, memory: Memory, *, is_indexed: bool) -> None:
        """Store a memory as it is."""
        digest = duplicate_digest(memory.text, self._fold_key)
        self._state.entries[memory.id] = Entry(
            memory=memory, digest=digest, found_by=search_text(memory), is_indexed=is_indexed
        )
        self._store.note(self._user, memory.id)

    def note_closing(self, memory_id: str, *, by: str, at_ms: int) -> None:
        """Note when a memory was superseded, and by which one."""
        self._state.admission.closings[memory_id] = Closing(by=by, at_ms=at_ms)

    def add_evidence(self, holder_id: str, evidence: Evidence) -> None:
        """Add a turn to what speaks for a thing."""
        admission = self._state.admission
        held = [each for each in admission.evidence if each.holder_id == holder_id]
        if turn_of(evidence) in {turn_of(each.evidence) for each in held}:
            return
        added = KeptEvidence(holder_id=holder_id, evidence=evidence)
        over = held[: max(len(held) + 1 - EVIDENCE_MAX, 0)]
        admission.evidence = [*(each for each in admission.evidence if each not in over), added]

    def evidence_of(self, holder_id: str) -> tuple[Evidence, ...]:
        """Every turn behind it, oldest first."""
        return self._state.admission.evidence_of(holder_id)

    def drop_evidence(self, holder_id: str) -> None:
        """Drop every turn behind it."""
        self._state.admission.drop_evidence(holder_id)

    def move_evidence(self, from_id: str, to_id: str) -> None:
        """Let the turns behind one thing speak for another."""
        if from_id == to_id:
            return
        admission = self._state.admission
        known = {turn_of(each.evidence) for each in admission.evidence if each.holder_id == to_id}
        kept: list[KeptEvidence] = []
        for each in admission.evidence:
            if each.holder_id != from_id:
                kept.append(each)
            elif turn_of(each.evidence) not in known:
                kept.append(msgspec.structs.replace(each, holder_id=to_id))
        admission.evidence = kept

    def slots_of(self, memory_id: str) -> tuple[SlotValue, ...]:
        """What a memory states values of."""
        return self._state.admission.slots.get(memory_id, ())

    def put_slots(self, memory_id: str, slots: Sequence[SlotValue]) -> None:
        """Note what a memory states values of."""
        self._state.admission.slots[memory_id] = tuple(slots)

    def holders(self, scope: str, slot: str, subject: str, now_ms: int) -> tuple[SlotHolder, ...]:
        """Live memories of a scope that hold a slot of a subject."""
        return slot_holders(self._state, scope, (slot, subject), now_ms=now_ms)

    def unread(self, now_ms: int, limit: int) -> tuple[Memory, ...]:
        """Live memories of which nobody noted what they state values of."""
        slots = self._state.admission.slots
        found = [memory for memory in live_oldest_first(self._state, now_ms) if memory.id not in slots]
        return tuple(reversed(found))[:limit]

    def observation(self, observation_id: str) -> ObservationRow | None:
        """An observation."""
        return self._state.admission.observations.get(observation_id)

    def waiting_observation(self, scope: str, text: str) -> ObservationRow | None:
        """The observation of these words in a scope."""
        wanted = (scope, fold(text))
        found = (row for row in self._waiting() if (row.fact.memory.scope, fold(row.fact.memory.text)) == wanted)
        return next(found, None)

    def waiting_observations_of(self, scope: str, value: SlotValue) -> tuple[ObservationRow, ...]:
        """Observations of this value of a slot in a scope."""
        wanted = _slot_key(value)
        return tuple(
            row
            for row in self._waiting()
            if row.fact.memory.scope == scope
            and row.fact.value is not None
            and value.value
            and _slot_key(row.fact.value) == wanted
        )

    def put_observation(self, row: ObservationRow) -> None:
        """Store an observation."""
        self._state.admission.observations[row.id] = row

    def remove_observation(self, observation_id: str) -> None:
        """Remove an observation."""
        self._state.admission.observations.pop(observation_id, None)

    def drop_observations(self, *, before_ms: int, keep: int) -> None:
        """Drop observations that are too old or too many."""
        waiting = sorted(self._waiting(), key=lambda row: (row.last_at_ms, row.id), reverse=True)
        for place, row in enumerate(waiting):
            if place >= keep or row.last_at_ms < before_ms:
                self.remove_observation(row.id)
                self._state.admission.drop_evidence(row.id)

    def proposal(self, proposal_id: str) -> ProposalRow | None:
        """A proposal."""
        return self._state.admission.proposals.get(proposal_id)

    def proposal_of(self, scope: str, text: str) -> ProposalRow | None:
        """The newest proposal of these words in a scope."""
        wanted = (scope, fold(text))
        found = [
            row
            for row in self._state.admission.proposals.values()
            if (row.fact.memory.scope, fold(row.fact.memory.text)) == wanted
        ]
        return max(found, key=_newness, default=None)

    def latest_waiting(self, session: str, now_ms: int) -> ProposalRow | None:
        """The newest proposal of a session that waits."""
        waiting = (row for row in self._waiting_proposals(now_ms) if row.session == session)
        return max(waiting, key=_newness, default=None)

    def asked(self, session: str, since_ms: int) -> int:
        """How many proposals a session was given since then."""
        rows = self._state.admission.proposals.values()
        return sum(row.session == session and row.created_at_ms >= since_ms for row in rows)

    def waiting_proposals(self, now_ms: int) -> int:
        """How many proposals wait."""
        return len(self._waiting_proposals(now_ms))

    def put_proposal(self, row: ProposalRow) -> None:
        """Store a proposal."""
        self._state.admission.proposals[row.id] = row

    def drop_proposals(self, *, now_ms: int, keep: int) -> None:
        """Drop the oldest proposals over a number that wait no more."""
        admission = self._state.admission
        rows = sorted(admission.proposals.values(), key=_newness, reverse=True)
        for row in rows[keep:]:
            if row.view(now_ms).state is not ProposalState.PENDING:
                del admission.proposals[row.id]
                admission.drop_evidence(row.id)

    def usage(self, scope: str, now_ms: int) -> Usage:
        """What live memories of a scope use."""
        return usage(self._state, scope, now_ms=now_ms)

    def eviction_candidates(self, scope: str, now_ms: int) -> tuple[EvictionCandidate, ...]:
        """Live memories of a scope."""
        return tuple(
            EvictionCandidate(
                memory_id=memory.id,
                created_at_ms=memory.created_at_ms,
                expires_at_ms=memory.expires_at_ms,
                used=self._times_used(memory.id),
            )
            for memory in live_oldest_first(self._state, now_ms)
            if memory.scope == scope
        )

    def _times_used(self, memory_id: str) -> int:
        reported = (each.reported for each in self._state.reports.outcomes)
        return sum(each.memory_id == memory_id and each.result is OutcomeResult.USED for each in reported)

    def _waiting(self) -> list[ObservationRow]:
        rows = (row for row in self._state.admission.observations.values() if not row.promoted_to)
        return sorted(rows, key=lambda row: (row.first_at_ms, row.id))

    def _waiting_proposals(self, now_ms: int) -> list[ProposalRow]:
        rows = self._state.admission.proposals.values()
        return [row for row in rows if row.view(now_ms).state is ProposalState.PENDING]

    @staticmethod
    def _embed(entry: Entry, embedder_key: str, vectors: Sequence[TextVector]) -> None:
        if embedder_key and vectors:
            entry.embedder_key, entry.vectors = embedder_key, in_order(vectors)


def _newness(row: ProposalRow) -> tuple[int, str]:
    return row.created_at_ms, row.id


def _slot_key(value: SlotValue) -> tuple[str, str, str]:
    return value.slot, value.subject, value_key(value.value)
