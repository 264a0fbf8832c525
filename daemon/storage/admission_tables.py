"""The write path's tables on SQLite, inside the transaction of one write."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Final

import msgspec

from recalld.actors.store.admission_rows import ObservationRow, ProposalRow, RecordedTurn
from recalld.actors.store.admission_tables import Attempt
from recalld.actors.store.rules import conflicting_id
from recalld.daemon.storage import evidence, ledger, memories, noted_facts, slots
from recalld.daemon.storage.admission_rows import facts_from_row
from recalld.daemon.storage.changes import ChangeNotes
from recalld.daemon.storage.embeddings import replace_vectors
from recalld.daemon.storage.meta import fold_key
from recalld.daemon.storage.rows import LIVE
from recalld.daemon.storage.users import ensure_user
from recalld.models.domain.admission_store import Evidence, SlotHolder, SlotValue
from recalld.models.domain.errors import InvariantError
from recalld.models.domain.records import Memory, MemoryStatus
from recalld.models.domain.store import DecisionRow, TextVector
from recalld.models.domain.usage import Usage
from recalld.models.policy.capacity import EvictionCandidate, with_separators
from recalld.models.policy.duplicates import duplicate_digest, tombstone_digest

# Only constant text is joined into the statements below; every value is a parameter.
_USAGE: Final = f"""
    SELECT COUNT(*), COALESCE(SUM(LENGTH(m.text)), 0) FROM memories AS m
    WHERE m.user_no = :user_no AND m.scope = :scope AND {LIVE}
"""  # noqa: S608 - constant text
_CANDIDATES: Final = f"""
    SELECT m.id, m.created_at_ms, m.expires_at_ms, (
        SELECT COUNT(*) FROM outcomes AS o WHERE o.user_no = m.user_no AND o.memory_id = m.id AND o.result = 'used'
    ) FROM memories AS m WHERE m.user_no = :user_no AND m.scope = :scope AND {LIVE}
"""  # noqa: S608 - constant text


class _Savepoint:
    """An attempt that SQLite takes back."""

    def __init__(self, db: sqlite3.Connection, notes: ChangeNotes) -> None:
        self._db = db
        self._notes = notes
        self._seqs = dict(notes.seqs)

    def undo(self) -> None:
        """Take back everything that was done since, change numbers included."""
        self._db.execute("ROLLBACK TO attempt")
        self._notes.seqs.clear()
        self._notes.seqs.update(self._seqs)


class SqliteTables:
    """Implements `AdmissionTables`.

    Args:
        db: A connection inside a write transaction.
        notes: The changes of that transaction.
        user: Whose tables; given a number now if need be.
    """

    def __init__(self, db: sqlite3.Connection, notes: ChangeNotes, user: str) -> None:
        self._db = db
        self._notes = notes
        self._user = user
        self._user_no = ensure_user(db, user)
        self._key = fold_key(db)

    @contextmanager
    def attempt(self) -> Iterator[Attempt]:
        """Begin work that may be taken back. What raises takes the whole transaction back."""
        self._db.execute("SAVEPOINT attempt")
        yield _Savepoint(self._db, self._notes)
        self._db.execute("RELEASE attempt")

    def turn(self, turn_key: str) -> RecordedTurn | None:
        """What became of a turn. Raises `DamagedRowError`."""
        record = ledger.find_turn(self._db, self._user_no, turn_key)
        if record is None:
            return None
        row: tuple[bytes] | None = self._db.execute(
            "SELECT facts FROM turn_facts WHERE user_no = ? AND turn_key = ?", (self._user_no, turn_key)
        ).fetchone()
        return RecordedTurn(
            decision_id=record.decision_id,
            reason=record.reason,
            outcome=record.outcome,
            memory_id=record.memory_id,
            facts=None if row is None else facts_from_row(record.decision_id, row[0]),
        )

    def record_turn(self, turn_key: str, turn: RecordedTurn, at_ms: int) -> None:
        """Note what became of a turn."""
        record = ledger.TurnRecord(
            decision_id=turn.decision_id, reason=turn.reason, outcome=turn.outcome, memory_id=turn.memory_id
        )
        ledger.record_turn(self._db, self._user_no, turn_key, at_ms, record)
        if turn.facts is not None:
            self._db.execute(
                "INSERT INTO turn_facts VALUES (?, ?, ?)", (self._user_no, turn_key, msgspec.json.encode(turn.facts))
            )

    def append_decision(self, row: DecisionRow) -> None:
        """Add a ledger row."""
        ledger.append_decision(self._db, row)

    def is_tombstoned(self, text: str) -> bool:
        """Whether the words were forgotten on purpose."""
        row = self._db.execute(
            "SELECT 1 FROM tombstones WHERE user_no = ? AND digest = ?",
            (self._user_no, tombstone_digest(text, self._key)),
        ).fetchone()
        return row is not None

    def lift_tombstone(self, text: str) -> None:
        """Let the words come back."""
        self._db.execute(
            "DELETE FROM tombstones WHERE user_no = ? AND digest = ?",
            (self._user_no, tombstone_digest(text, self._key)),
        )

    def add_tombstone(self, text: str, now_ms: int) -> None:
        """Keep the words from coming back."""
        self._db.execute(
            "INSERT INTO tombstones VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
            (self._user_no, tombstone_digest(text, self._key), now_ms),
        )

    def memory(self, memory_id: str) -> Memory | None:
        """A memory in any status but forgotten. Raises `DamagedRowError`."""
        stored = memories.find_by_id(self._db, self._user, self._user_no, memory_id)
        return None if stored is None or stored.memory.status is MemoryStatus.FORGOTTEN else stored.memory

    def live(self, memory_id: str, now_ms: int) -> Memory | None:
        """A memory that may be recalled. Raises `DamagedRowError`."""
        stored = memories.find_by_id(self._db, self._user, self._user_no, memory_id)
        is_live = stored is not None and stored.is_indexed and stored.memory.is_live(now_ms)
        return stored.memory if stored is not None and is_live else None

    def same_words(self, scope: str, text: str, now_ms: int) -> Memory | None:
        """The live memory of the same words in the scope. Raises `DamagedRowError`."""
        digest = duplicate_digest(text, self._key)
        same = memories.find_by_fold(self._db, self._user, self._user_no, scope, digest)
        if same is not None and not same.memory.is_live(now_ms):
            # Expired but not swept yet: it no longer counts as stored, and its place among the words must be free.
            memories.withdraw(self._db, self._notes, same)
            return None
        return None if same is None else same.memory

    def create(self, memory: Memory, embedder_key: str, vectors: Sequence[TextVector]) -> None:
        """Store a new memory and index it."""
        if memories.is_id_taken(self._db, memory.id):
            raise conflicting_id(memory.id)
        self._embed(self._insert(memory, is_indexed=True), memory, embedder_key, vectors)

    def replace(self, memory: Memory, embedder_key: str, vectors: Sequence[TextVector]) -> None:
        """Store a memory with another kind, expiry, cues or asks."""
        stored = self._stored(memory.id)
        memories.update_memory(self._db, stored, memory)
        if memory.revision != stored.memory.revision:
            self._embed(stored.memory_no, memory, embedder_key, vectors)
        self._notes.note(self._user, self._user_no, memory.id)

    def close(self, memory_id: str, *, by: str, now_ms: int) -> None:
        """Supersede a live memory."""
        memories.supersede(self._db, self._notes, self._stored(memory_id), now_ms)
        self.note_closing(memory_id, by=by, at_ms=now_ms)

    def is_forgotten(self, memory_id: str) -> bool:
        """Whether the user had a memory of this id and forgot it."""
        row = self._db.execute(
            "SELECT 1 FROM memories WHERE id = ? AND user_no = ? AND status = ?",
            (memory_id, self._user_no, MemoryStatus.FORGOTTEN.value),
        ).fetchone()
        return row is not None

    def is_id_taken(self, memory_id: str) -> bool:
        """Whether any user has a memory of this id."""
        return memories.is_id_taken(self._db, memory_id)

    def insert(self, memory: Memory, *, is_indexed: bool) -> None:
        """Store a memory as it is."""
        self._insert(memory, is_indexed=is_indexed)

    def note_closing(self, memory_id: str, *, by: str, at_ms: int) -> None:
        """Note when a memory was superseded, and by which one."""
        self._db.execute("INSERT OR REPLACE INTO closings VALUES (?, ?, ?, ?)", (self._user_no, memory_id, by, at_ms))

    def add_evidence(self, holder_id: str, added: Evidence) -> None:
        """Add a turn to what speaks for a thing."""
        evidence.add_evidence(self._db, self._user_no, holder_id, added)

    def evidence_of(self, holder_id: str) -> tuple[Evidence, ...]:
        """Every turn behind it, oldest first. Raises `DamagedRowError`."""
        return evidence.evidence_of(self._db, self._user_no, holder_id)

    def drop_evidence(self, holder_id: str) -> None:
        """Drop every turn behind it."""
        evidence.drop_evidence(self._db, self._user_no, (holder_id,))

    def move_evidence(self, from_id: str, to_id: str) -> None:
        """Let the turns behind one thing speak for another."""
        evidence.move_evidence(self._db, self._user_no, from_id, to_id)

    def slots_of(self, memory_id: str) -> tuple[SlotValue, ...]:
        """What a memory states values of."""
        return slots.slots_of(self._db, self._user_no, memory_id)

    def put_slots(self, memory_id: str, values: Sequence[SlotValue]) -> None:
        """Note what a memory states values of."""
        slots.put_slots(self._db, self._user_no, memory_id, values)

    def holders(self, scope: str, slot: str, subject: str, now_ms: int) -> tuple[SlotHolder, ...]:
        """Live memories of a scope that hold a slot of a subject."""
        return slots.holders(self._db, self._user, self._user_no, scope, (slot, subject), now_ms=now_ms)

    def unread(self, now_ms: int, limit: int) -> tuple[Memory, ...]:
        """Live memories of which nobody noted what they state values of."""
        return slots.unread(self._db, self._user, self._user_no, now_ms=now_ms, limit=limit)

    def observation(self, observation_id: str) -> ObservationRow | None:
        """An observation."""
        return noted_facts.find_observation(self._db, self._user_no, observation_id)

    def waiting_observation(self, scope: str, text: str) -> ObservationRow | None:
        """The observation of these words in a scope."""
        digest = tombstone_digest(text, self._key)
        return noted_facts.observation_of_words(self._db, self._user_no, scope, digest)

    def waiting_observations_of(self, scope: str, value: SlotValue) -> tuple[ObservationRow, ...]:
        """Observations of this value of a slot in a scope."""
        return noted_facts.observations_of_value(self._db, self._user_no, scope, value)

    def put_observation(self, row: ObservationRow) -> None:
        """Store an observation."""
        noted_facts.put_observation(self._db, self._user_no, row, tombstone_digest(row.fact.memory.text, self._key))

    def remove_observation(self, observation_id: str) -> None:
        """Remove an observation."""
        noted_facts.remove_observation(self._db, self._user_no, observation_id)

    def drop_observations(self, *, before_ms: int, keep: int) -> None:
        """Drop observations that are too old or too many."""
        noted_facts.drop_observations(self._db, self._user_no, before_ms=before_ms, keep=keep)

    def proposal(self, proposal_id: str) -> ProposalRow | None:
        """A proposal."""
        return noted_facts.find_proposal(self._db, self._user_no, proposal_id)

    def proposal_of(self, scope: str, text: str) -> ProposalRow | None:
        """The newest proposal of these words in a scope."""
        return noted_facts.proposal_of_words(self._db, self._user_no, scope, tombstone_digest(text, self._key))

    def latest_waiting(self, session: str, now_ms: int) -> ProposalRow | None:
        """The newest proposal of a session that waits."""
        return noted_facts.latest_waiting(self._db, self._user_no, session, now_ms)

    def asked(self, session: str, since_ms: int) -> int:
        """How many proposals a session was given since then."""
        return noted_facts.count_asked(self._db, self._user_no, session, since_ms)

    def waiting_proposals(self, now_ms: int) -> int:
        """How many proposals wait."""
        return noted_facts.count_waiting(self._db, self._user_no, now_ms)

    def put_proposal(self, row: ProposalRow) -> None:
        """Store a proposal."""
        noted_facts.put_proposal(self._db, self._user_no, row, tombstone_digest(row.fact.memory.text, self._key))

    def drop_proposals(self, *, now_ms: int, keep: int) -> None:
        """Drop the oldest proposals over a number that wait no more."""
        noted_facts.drop_proposals(self._db, self._user_no, now_ms=now_ms, keep=keep)

    def usage(self, scope: str, now_ms: int) -> Usage:
        """What live memories of a scope use."""
        return usage(self._db, self._user_no, scope, now_ms=now_ms)

    def eviction_candidates(self, scope: str, now_ms: int) -> tuple[EvictionCandidate, ...]:
        """Live memories of a scope."""
        parameters = {"user_no": self._user_no, "scope": scope, "now_ms": now_ms}
        rows: list[tuple[str, int, int | None, int]] = self._db.execute(_CANDIDATES, parameters).fetchall()
        return tuple(
            EvictionCandidate(memory_id=memory_id, created_at_ms=created_at_ms, expires_at_ms=expires_at_ms, used=used)
            for memory_id, created_at_ms, expires_at_ms, used in rows
        )

    def _insert(self, memory: Memory, *, is_indexed: bool) -> int:
        digest = duplicate_digest(memory.text, self._key)
        memory_no = memories.insert_memory(self._db, self._user_no, memory, digest, is_indexed=is_indexed)
        self._notes.note(self._user, self._user_no, memory.id)
        return memory_no

    def _embed(self, memory_no: int, memory: Memory, embedder_key: str, vectors: Sequence[TextVector]) -> None:
        if embedder_key and vectors:
            replace_vectors(self._db, memory_no, memory.revision, embedder_key, vectors)

    def _stored(self, memory_id: str) -> memories.StoredMemory:
        stored = memories.find_by_id(self._db, self._user, self._user_no, memory_id)
        if stored is None:
            message = "a memory went away inside the transaction that had found it"
            raise InvariantError(message)
        return stored


def usage(db: sqlite3.Connection, user_no: int | None, scope: str, *, now_ms: int) -> Usage:
    """What live memories of a scope use; reads the length of each."""
    row: tuple[int, int] = db.execute(_USAGE, {"user_no": user_no, "scope": scope, "now_ms": now_ms}).fetchone()
    return Usage(records=row[0], chars=with_separators(row[1], row[0]))
