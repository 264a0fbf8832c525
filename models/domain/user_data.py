"""Everything that is kept of a user, on its way out, in, or away: export, import and purge."""

from __future__ import annotations

import enum

import msgspec

from recalld.models.domain.admission_store import Evidence, Observation, Proposal, SlotValue
from recalld.models.domain.records import Memory, NewMemory
from recalld.models.domain.store import DecisionRow


class PortableMemory(msgspec.Struct, frozen=True, kw_only=True):
    """A record with everything that hangs on it but its vectors, which belong to one embedder.

    Attributes:
        memory: In any status but forgotten.
        evidence: Every turn behind it, oldest first.
        slots: What it states values of.
        superseded_by: Id of the record that replaced it; empty: none did.
        closed_at_ms: When it was superseded, Unix epoch milliseconds; None: it was not.
    """

    memory: Memory
    evidence: tuple[Evidence, ...] = ()
    slots: tuple[SlotValue, ...] = ()
    superseded_by: str = ""
    closed_at_ms: int | None = None


class PortableFact(msgspec.Struct, frozen=True, kw_only=True):
    """What an observation or a proposal would store.

    Attributes:
        memory: The record it would become.
        value: What it states a value of; None: nothing.
        is_ending: It would close the slot's record and open none.
    """

    memory: NewMemory
    value: SlotValue | None = None
    is_ending: bool = False


class PortableObservation(msgspec.Struct, frozen=True, kw_only=True):
    """An observation and the turns behind it; those of a promoted one went to its record."""

    observation: Observation
    fact: PortableFact
    evidence: tuple[Evidence, ...] = ()


class PortableProposal(msgspec.Struct, frozen=True, kw_only=True):
    """A proposal and the turns behind it; those of an accepted one went to its record."""

    proposal: Proposal
    fact: PortableFact
    evidence: tuple[Evidence, ...] = ()


class ExportPage(msgspec.Struct, frozen=True, kw_only=True):
    """One page of everything that is kept of a user: memories, oldest first, then observations, then proposals.

    Attributes:
        cursor: Where the next page begins; None at the end.
    """

    memories: tuple[PortableMemory, ...] = ()
    observations: tuple[PortableObservation, ...] = ()
    proposals: tuple[PortableProposal, ...] = ()
    cursor: str | None = None


class ImportOutcome(enum.StrEnum):
    """What became of one record that was imported."""

    IMPORTED = "imported"
    UPDATED = "updated"
    """It is here already, by its id or by its words; turns behind it that were missing were added."""
    KNOWN = "known"
    """It is here already, by its id or by its words, and nothing changed."""
    CONFLICT = "conflict"
    """Its id stands for something else here."""
    TOMBSTONED = "tombstoned"
    """Its words, or this very memory, were forgotten here; only a person's new save brings them back."""
    OVER_CAPACITY = "over_capacity"
    """The scope is at its cap."""
    SECRET = "secret"  # noqa: S105 - the name of a reason
    """It holds a password, key or token."""


class ImportLine(msgspec.Struct, frozen=True, kw_only=True):
    """What became of one memory, observation or proposal, in the order in which they were handed over.

    Attributes:
        memory_id: Its id, as it was handed over.
        known_as: Id of what is here instead; empty where there is none.
    """

    memory_id: str
    outcome: ImportOutcome
    known_as: str = ""


class ImportRequest(msgspec.Struct, frozen=True, kw_only=True):
    """What somebody asks to have taken over. A memory without an id is new: it is checked and enriched like a save.

    Attributes:
        is_dry_run: Only say what would become of it.
    """

    user: str
    memories: tuple[PortableMemory, ...] = ()
    observations: tuple[PortableObservation, ...] = ()
    proposals: tuple[PortableProposal, ...] = ()
    is_dry_run: bool = False
    deadline_s: float


class ImportReply(msgspec.Struct, frozen=True, kw_only=True):
    """One line for each of them; `decision_id` is empty for a dry run."""

    imported: MemoriesImported
    decision_id: str = ""


class PurgeRequest(msgspec.Struct, frozen=True, kw_only=True):
    """Somebody asks to leave nothing of a user behind."""

    user: str
    deadline_s: float


# --- commands: each one is one transaction ---------------------------------------------------------------------------


class ImportMemories(msgspec.Struct, frozen=True, kw_only=True):
    """Take over what was exported: memories with their ids, times, status, slots and evidence, and what waits.

    Idempotent: what is here already stays as it is, but for turns behind it that were missing. Nothing supersedes
    anything: what holds and what does not is said by the status of each. Vectors are made afterwards, as for anything
    that waits for them.

    Attributes:
        user: Whose they become, whoever they belonged to.
        is_dry_run: Only say what would become of them.
        records_max: As for `AdmissionLimits`.
        chars_max: As for `AdmissionLimits`.
    """

    user: str
    memories: tuple[PortableMemory, ...]
    observations: tuple[PortableObservation, ...] = ()
    proposals: tuple[PortableProposal, ...] = ()
    now_ms: int
    records_max: int = 0
    chars_max: int = 0
    is_dry_run: bool = False
    decision: DecisionRow


class MemoriesImported(msgspec.Struct, frozen=True, kw_only=True):
    """One line for each memory, observation and proposal that was handed over."""

    lines: tuple[ImportLine, ...]
    observations: tuple[ImportLine, ...] = ()
    proposals: tuple[ImportLine, ...] = ()


class PurgeUser(msgspec.Struct, frozen=True, kw_only=True):
    """Leave nothing of a user behind: no row in any table, no tombstone and no ledger row, also of the purge itself."""

    user: str


class UserPurged(msgspec.Struct, frozen=True, kw_only=True):
    """What a purge took away.

    Attributes:
        memories: How many there were, forgotten ones included.
        observations: How many facts were noted.
        proposals: How many were put to the user, in any state.
        is_erasure_pending: As for `Forgotten`.
    """

    memories: int
    observations: int = 0
    proposals: int = 0
    is_erasure_pending: bool = False
