"""The tables of the in-memory store, and what can be asked of them without time or policy."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from recalld.actors.store.memory_admission_state import AdmissionState
from recalld.actors.store.memory_ledger import LedgerCounts
from recalld.actors.store.memory_outcome_state import OutcomeState
from recalld.actors.store.memory_pending_state import PendingState
from recalld.actors.store.search_text import SearchText
from recalld.models.domain.audit_samples import Sample
from recalld.models.domain.reasons import AdmissionReason, RememberOutcome
from recalld.models.domain.records import Memory, MemoryStatus
from recalld.models.domain.store import DecisionRow, TextVector


class Entry(msgspec.Struct, kw_only=True):
    """One memory with everything that hangs on it.

    Attributes:
        is_indexed: Words and vectors can find it.
        is_waiting: Some text of it waits for its vector, while `vectors` has those of the others.
    """

    memory: Memory
    digest: bytes
    found_by: SearchText
    is_indexed: bool = True
    embedder_key: str = ""
    vectors: tuple[TextVector, ...] = ()
    is_waiting: bool = False


class Turn(msgspec.Struct, frozen=True, kw_only=True):
    """What an observed turn led to."""

    decision_id: str
    reason: AdmissionReason
    outcome: RememberOutcome | None
    memory_id: str | None
    at_ms: int


class Change(msgspec.Struct, frozen=True, kw_only=True):
    """Something about a memory changed that an index must know."""

    seq: int
    user: str
    memory_id: str


class UserState(msgspec.Struct, kw_only=True):
    """Everything of one user. `last_seq` is the number of the user's newest change."""

    last_seq: int = 0
    entries: dict[str, Entry] = msgspec.field(default_factory=dict)
    tombstones: set[bytes] = msgspec.field(default_factory=set)
    turns: dict[str, Turn] = msgspec.field(default_factory=dict)
    reports: OutcomeState = msgspec.field(default_factory=OutcomeState)
    admission: AdmissionState = msgspec.field(default_factory=AdmissionState)
    pending: PendingState = msgspec.field(default_factory=PendingState)
    samples: dict[str, Sample] = msgspec.field(default_factory=dict)

    def indexed(self) -> Iterator[Entry]:
        """Entries that words and vectors can find."""
        return (entry for entry in self.entries.values() if entry.is_indexed)

    def live(self, now_ms: int) -> Iterator[Entry]:
        """Entries that may be recalled."""
        return (entry for entry in self.indexed() if entry.memory.is_live(now_ms))

    def superseded(self) -> Iterator[Entry]:
        """Entries that something newer closed."""
        return (entry for entry in self.entries.values() if entry.memory.status is MemoryStatus.SUPERSEDED)

    def same_words(self, scope: str, digest: bytes) -> Entry | None:
        """The indexed entry of the same words in the same scope; there is one at most."""
        found = (entry for entry in self.indexed() if (entry.memory.scope, entry.digest) == (scope, digest))
        return next(found, None)


class StoreState(msgspec.Struct, kw_only=True):
    """The whole store. `seqs` keeps the newest change number of purged users too."""

    users: dict[str, UserState] = msgspec.field(default_factory=dict)
    decisions: dict[str, DecisionRow] = msgspec.field(default_factory=dict)
    ledger: LedgerCounts = msgspec.field(default_factory=LedgerCounts)
    changes: list[Change] = msgspec.field(default_factory=list)
    seqs: dict[str, int] = msgspec.field(default_factory=dict)
    newest_seq: int = 0
    newest_pending: int = 0
    trimmed_through: int = 0
    audited_at_ms: int | None = None

    def user(self, user: str) -> UserState:
        """The user's state, made if there is none."""
        return self.users.setdefault(user, UserState())

    def append_decision(self, row: DecisionRow) -> None:
        """Add a ledger row and count it; a row whose id is there already stays as it is."""
        self.user(row.user)
        if row.id not in self.decisions:
            self.decisions[row.id] = row
            self.ledger.add(row)

    def is_id_taken(self, memory_id: str) -> bool:
        """Whether any user has a memory of this id, in any status."""
        return any(memory_id in state.entries for state in self.users.values())

    def note(self, user: str, memory_id: str) -> None:
        """Record a change of one of the user's memories."""
        self.newest_seq += 1
        self.changes.append(Change(seq=self.newest_seq, user=user, memory_id=memory_id))
        self.user(user).last_seq = self.newest_seq
        self.seqs[user] = self.newest_seq

    def withdraw(self, user: str, entry: Entry) -> None:
        """Take an entry out of every index; it stays readable by id."""
        entry.is_indexed = False
        entry.embedder_key = ""
        entry.vectors = ()
        self.note(user, entry.memory.id)
