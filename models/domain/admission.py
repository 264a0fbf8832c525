"""What is handed over to be remembered or forgotten, and what became of it."""

from __future__ import annotations

import enum

import msgspec

from recalld.models.domain.reasons import AdmissionReason, RememberOutcome
from recalld.models.domain.records import Memory, NewMemory


class Speaker(enum.StrEnum):
    """Who said a turn. Only the user's own words may become the user's facts."""

    USER = "user"
    ASSISTANT = "assistant"
    TOOL = "tool"
    SYSTEM = "system"
    OTHER = "other"


class SessionEvent(enum.StrEnum):
    """What happened to a runtime's session."""

    STARTED = "started"
    COMPACTED = "compacted"
    ENDED = "ended"


class RememberRequest(msgspec.Struct, frozen=True, kw_only=True):
    """An explicit save."""

    memory: NewMemory
    session: str = ""
    deadline_s: float


class RememberReply(msgspec.Struct, frozen=True, kw_only=True):
    """What became of an explicit save. `is_embedded` is False while its vectors are still to come."""

    memory: Memory
    outcome: RememberOutcome
    decision_id: str
    is_embedded: bool


class ObservedTurn(msgspec.Struct, frozen=True, kw_only=True):
    """A turn as it was said. Idempotent per (user, session, turn_id)."""

    user: str
    session: str
    turn_id: str
    speaker: Speaker
    text: str
    at_ms: int
    scope: str = ""
    deadline_s: float


class Verdict(msgspec.Struct, frozen=True, kw_only=True):
    """One thing kept or dropped from a turn."""

    reason: AdmissionReason
    memory: Memory | None = None


class ObserveReply(msgspec.Struct, frozen=True, kw_only=True):
    """What a turn led to."""

    decision_id: str
    kept: tuple[Verdict, ...] = ()
    dropped: tuple[Verdict, ...] = ()


class ForgetRequest(msgspec.Struct, frozen=True, kw_only=True):
    """Forget by ids, or by words: every live memory that contains all words of `query`.

    Exactly one of `ids` and `query` is given. `is_purge` leaves nothing behind, and is for reserved users only.
    """

    user: str
    ids: tuple[str, ...] = ()
    query: str = ""
    is_hard: bool = False
    is_dry_run: bool = False
    is_purge: bool = False
    deadline_s: float


class ForgetReply(msgspec.Struct, frozen=True, kw_only=True):
    """What was (or, in a dry run, would be) forgotten.

    Attributes:
        memories: What was forgotten. Of a memory that had been forgotten before, and whose last bytes a hard forgetting
            removes, no words are left to show.
        unknown: Asked ids that were not there.
        tombstones: How many tombstones that added.
        is_dry_run: Nothing was done.
        decision_id: Of the ledger row.
        is_erasure_pending: Bytes of a hard forgetting still lie in the write-ahead log; they go as soon as they can.
    """

    memories: tuple[Memory, ...]
    unknown: tuple[str, ...] = ()
    tombstones: int = 0
    is_dry_run: bool = False
    decision_id: str = ""
    is_erasure_pending: bool = False
