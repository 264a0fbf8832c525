"""What is handed over to be remembered or forgotten, and what became of it."""

from __future__ import annotations

import enum

import msgspec

from recalld.models.domain.admission_store import FactOutcome, Observation, Proposal
from recalld.models.domain.facts import Generator
from recalld.models.domain.reasons import AdmissionReason, RememberOutcome
from recalld.models.domain.records import Memory, MemoryKind, NewMemory
from recalld.models.domain.store import NoteCounts
from recalld.models.domain.usage import Usage


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
    """What became of an explicit save.

    Attributes:
        is_embedded: False while its vectors are still to come.
        superseded: Ids of records that it closed, because they held another value of the same slot.
        usage: Where a cap is nearly reached.
    """

    memory: Memory
    outcome: RememberOutcome
    decision_id: str
    is_embedded: bool
    superseded: tuple[str, ...] = ()
    usage: Usage | None = None


class OfferedFact(msgspec.Struct, frozen=True, kw_only=True):
    """A fact that a runtime's own model found in a turn, and offers with it.

    Attributes:
        quote: The user's words for it; what is in no word of the user is not admitted, whatever else is said of it.
        scope: Where it holds; None: where the turn does.
        slot: What it states a value of, where the model knows the slots; empty: none.
    """

    statement: str
    kind: MemoryKind = MemoryKind.FACT
    scope: str | None = None
    quote: str = ""
    cues: tuple[str, ...] = ()
    asks: tuple[str, ...] = ()
    expires_at_ms: int | None = None
    slot: str = ""


class ObservedTurn(msgspec.Struct, frozen=True, kw_only=True):
    """A turn as it was said. Idempotent per (user, session, turn_id).

    Attributes:
        at_ms: When it was said, Unix epoch milliseconds; days that it speaks of are counted from there.
        time_zone: The user's; empty: not said.
        offered: What the runtime's own model found in it.
        unreadable: Fields of further candidates that hold nothing that they may hold, one for each such candidate.
        injected: Ids of memories that the runtime has put before the user in this session.
        answers: The proposal that the runtime itself put to the user right before it; empty: none.
        client: The client that handed it over; it may not approve what it offered.
    """

    user: str
    session: str
    turn_id: str
    speaker: Speaker
    text: str
    at_ms: int
    time_zone: str = ""
    scope: str = ""
    offered: tuple[OfferedFact, ...] = ()
    unreadable: tuple[str, ...] = ()
    injected: tuple[str, ...] = ()
    answers: str = ""
    client: str = ""
    deadline_s: float


class Verdict(msgspec.Struct, frozen=True, kw_only=True):
    """What became of one fact of a turn.

    Attributes:
        reason: Why.
        memory: The record, as it is now; None where there is none.
        outcome: What became of it; None where it never came to the store.
        superseded: Ids of records that it closed.
        generator: What found it; None where nothing did, because the turn as a whole led to nothing.
        rule: Which rule, model or calibration record found it.
        decided_by: Which rule of the policy dropped or lowered it; empty where none did.
        also_found_by: What else found the same, as in `judge:judge.v1`.
        observation: Where it waits for more evidence.
        proposal: Where it waits for the user's yes.
        usage: Where a cap refused it, or is nearly reached.
    """

    reason: AdmissionReason
    memory: Memory | None = None
    outcome: FactOutcome | None = None
    superseded: tuple[str, ...] = ()
    generator: Generator | None = None
    rule: str = ""
    decided_by: str = ""
    also_found_by: tuple[str, ...] = ()
    observation: Observation | None = None
    proposal: Proposal | None = None
    usage: Usage | None = None


class ObserveReply(msgspec.Struct, frozen=True, kw_only=True):
    """What a turn led to.

    Attributes:
        kept: What is a record now, or ended one.
        observed: What is noted until more turns say the same.
        proposals: What waits for the user's yes.
        dropped: What led to nothing.
    """

    decision_id: str
    kept: tuple[Verdict, ...] = ()
    observed: tuple[Verdict, ...] = ()
    proposals: tuple[Verdict, ...] = ()
    dropped: tuple[Verdict, ...] = ()


class ConfirmRequest(msgspec.Struct, frozen=True, kw_only=True):
    """An answer to a proposal.

    Attributes:
        session: Where no proposal is named: the one whose latest live proposal is meant.
        proposal_id: Which; empty: see `session`.
        edited_text: What to store instead; empty: as proposed.
        approver: The client that answers, or that handed the user's yes over as a turn.
    """

    user: str
    session: str = ""
    proposal_id: str = ""
    is_accepted: bool
    edited_text: str = ""
    approver: str = ""
    deadline_s: float


class ConfirmReply(msgspec.Struct, frozen=True, kw_only=True):
    """What became of an answer.

    Attributes:
        proposal: As it stands now.
        verdict: Of the record, where one was accepted.
        is_repeat: The same answer had been given before; nothing changed.
    """

    proposal: Proposal
    verdict: Verdict | None = None
    decision_id: str
    is_repeat: bool = False


class SettleRequest(msgspec.Struct, frozen=True, kw_only=True):
    """A person's word on an observation.

    Attributes:
        edited_text: What to store instead; empty: as observed.
        approver: The client that answers.
    """

    user: str
    observation_id: str
    is_accepted: bool
    edited_text: str = ""
    approver: str = ""
    deadline_s: float


class SettleReply(msgspec.Struct, frozen=True, kw_only=True):
    """What became of it.

    Attributes:
        observation: As it was, with the record it became.
        verdict: Of the record, where it was accepted.
        decision_id: Empty where nothing changed.
        is_repeat: It was a record already.
    """

    observation: Observation
    verdict: Verdict | None = None
    decision_id: str
    is_repeat: bool = False


class ForgetRequest(msgspec.Struct, frozen=True, kw_only=True):
    """Forget by ids, or by words: every live memory that contains all words of `query`.

    Exactly one of `ids` and `query` is given. `is_purge` leaves nothing behind, and is for reserved users only.
    Turns that wait for a model, observations and proposals with all words of `query`, or beside ids of `notes_query`,
    go as well.
    """

    user: str
    ids: tuple[str, ...] = ()
    query: str = ""
    notes_query: str = ""
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
        notes: What else held the words of the request.
    """

    memories: tuple[Memory, ...]
    notes: NoteCounts = NoteCounts()
    unknown: tuple[str, ...] = ()
    tombstones: int = 0
    is_dry_run: bool = False
    decision_id: str = ""
    is_erasure_pending: bool = False
