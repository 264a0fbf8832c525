"""The tables that the write path works on, as each implementation of the store offers them inside a transaction."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Protocol

from recalld.actors.store.admission_rows import ObservationRow, ProposalRow, RecordedTurn
from recalld.models.domain.admission_store import Evidence, SlotHolder, SlotValue
from recalld.models.domain.records import Memory
from recalld.models.domain.store import DecisionRow, TextVector
from recalld.models.domain.usage import Usage
from recalld.models.policy.capacity import EvictionCandidate

EVIDENCE_MAX = 100
"""Turns kept behind one record or observation, the newest: more of them change nothing."""
OBSERVATIONS_MAX = 2_000
"""Observations of one user that wait; beyond that the ones made longest ago go."""

PROPOSALS_MAX = 1_000
"""Proposals of one user that are kept; those that were answered, or not in time, make room."""


class Attempt(Protocol):
    """Work that can be taken back as a whole."""

    def undo(self) -> None:
        """Take back everything that was done since the attempt began."""
        ...


class AdmissionTables(Protocol):
    """One user's tables inside one write transaction, so that nothing here waits or fails half-way.

    Names of memories, observations and proposals are ids; all of them are the user's own, others are not found.
    """

    def attempt(self) -> AbstractContextManager[Attempt]:
        """Begin work that may be taken back."""
        ...

    # Turns and the ledger.

    def turn(self, turn_key: str) -> RecordedTurn | None:
        """What became of a turn; None when it was not seen."""
        ...

    def record_turn(self, turn_key: str, turn: RecordedTurn, at_ms: int) -> None:
        """Note what became of a turn that was not seen before."""
        ...

    def append_decision(self, row: DecisionRow) -> None:
        """Add a ledger row."""
        ...

    # Records.

    def is_tombstoned(self, text: str) -> bool:
        """Whether the words were forgotten on purpose."""
        ...

    def lift_tombstone(self, text: str) -> None:
        """Let the words come back."""
        ...

    def add_tombstone(self, text: str, now_ms: int) -> None:
        """Keep the words from coming back, but by an explicit save."""
        ...

    def memory(self, memory_id: str) -> Memory | None:
        """A memory in any status but forgotten."""
        ...

    def live(self, memory_id: str, now_ms: int) -> Memory | None:
        """A memory that may be recalled."""
        ...

    def same_words(self, scope: str, text: str, now_ms: int) -> Memory | None:
        """The live memory of the same words in the scope; an expired one makes room."""
        ...

    def create(self, memory: Memory, embedder_key: str, vectors: Sequence[TextVector]) -> None:
        """Store a new memory and index it. Raises `CONFLICT` when its id is taken."""
        ...

    def replace(self, memory: Memory, embedder_key: str, vectors: Sequence[TextVector]) -> None:
        """Store a memory with another kind or expiry, or with other cues and asks. It must be live.

        A new revision takes the vectors; without any it waits for them.
        """
        ...

    def close(self, memory_id: str, *, by: str, now_ms: int) -> None:
        """Supersede a live memory: it leaves every index at once and stays as history.

        `by` is the id of the record that replaced it; empty: none did.
        """
        ...

    # Taking over.

    def is_forgotten(self, memory_id: str) -> bool:
        """Whether the user had a memory of this id and forgot it, and a trace of it is left."""
        ...

    def is_id_taken(self, memory_id: str) -> bool:
        """Whether any user has a memory of this id, in any status."""
        ...

    def insert(self, memory: Memory, *, is_indexed: bool) -> None:
        """Store a memory as it is, in whatever status but forgotten, and index it if wanted. Its id must be free."""
        ...

    def note_closing(self, memory_id: str, *, by: str, at_ms: int) -> None:
        """Note when a memory was superseded, and by which one; empty: by none."""
        ...

    # Evidence.

    def add_evidence(self, holder_id: str, evidence: Evidence) -> None:
        """Add a turn to what speaks for a memory, an observation or a proposal, unless it is there already."""
        ...

    def evidence_of(self, holder_id: str) -> tuple[Evidence, ...]:
        """Every turn behind it, oldest first."""
        ...

    def drop_evidence(self, holder_id: str) -> None:
        """Drop every turn behind it."""
        ...

    def move_evidence(self, from_id: str, to_id: str) -> None:
        """Let the turns behind one thing speak for another, but for those that do already."""
        ...

    # Slots.

    def slots_of(self, memory_id: str) -> tuple[SlotValue, ...]:
        """What a memory states values of."""
        ...

    def put_slots(self, memory_id: str, slots: Sequence[SlotValue]) -> None:
        """Note what a memory states values of, in place of what was noted; also that it states none."""
        ...

    def holders(self, scope: str, slot: str, subject: str, now_ms: int) -> tuple[SlotHolder, ...]:
        """Live memories of a scope that hold a slot of a subject, oldest first."""
        ...

    def unread(self, now_ms: int, limit: int) -> tuple[Memory, ...]:
        """Live memories of which nobody noted what they state values of, newest first."""
        ...

    # Observations.

    def observation(self, observation_id: str) -> ObservationRow | None:
        """An observation."""
        ...

    def waiting_observation(self, scope: str, text: str) -> ObservationRow | None:
        """The observation of these words in a scope that is no record yet."""
        ...

    def waiting_observations_of(self, scope: str, value: SlotValue) -> tuple[ObservationRow, ...]:
        """Observations of this value of a slot in a scope that are no records yet, oldest first."""
        ...

    def put_observation(self, row: ObservationRow) -> None:
        """Store an observation, new or changed."""
        ...

    def remove_observation(self, observation_id: str) -> None:
        """Remove an observation; the turns behind it stay until they are moved."""
        ...

    def drop_observations(self, *, before_ms: int, keep: int) -> None:
        """Drop observations that are no records and were made last before a time, and all but the newest `keep`."""
        ...

    # Proposals.

    def proposal(self, proposal_id: str) -> ProposalRow | None:
        """A proposal."""
        ...

    def proposal_of(self, scope: str, text: str) -> ProposalRow | None:
        """The newest proposal of these words in a scope, in any state."""
        ...

    def latest_waiting(self, session: str, now_ms: int) -> ProposalRow | None:
        """The newest proposal of a session that waits and has not expired."""
        ...

    def asked(self, session: str, since_ms: int) -> int:
        """How many proposals a session was given since then."""
        ...

    def waiting_proposals(self, now_ms: int) -> int:
        """How many proposals of the user wait and have not expired."""
        ...

    def put_proposal(self, row: ProposalRow) -> None:
        """Store a proposal, new or changed."""
        ...

    def drop_proposals(self, *, now_ms: int, keep: int) -> None:
        """Drop the oldest proposals over a number that wait no more."""
        ...

    # Capacity.

    def usage(self, scope: str, now_ms: int) -> Usage:
        """What live memories of a scope use; without caps."""
        ...

    def eviction_candidates(self, scope: str, now_ms: int) -> tuple[EvictionCandidate, ...]:
        """Live memories of a scope."""
        ...
