"""What the store is told about a turn's facts, and what became of them: evidence, observations, proposals, records."""

from __future__ import annotations

import enum

import msgspec

from recalld.models.domain.facts import Disposition, Generator
from recalld.models.domain.gate_spent import UNSPENT, GateSpent
from recalld.models.domain.reasons import AdmissionReason
from recalld.models.domain.records import Memory, MemoryKind, NewMemory
from recalld.models.domain.store import DecisionRow, TextVector
from recalld.models.domain.usage import Usage


class Evidence(msgspec.Struct, frozen=True, kw_only=True):
    """One turn that speaks for a memory or an observation.

    Attributes:
        session: Of the turn; empty for a save without one.
        turn_id: Of the turn; empty for an explicit save that was no turn.
        at_ms: When it was said, Unix epoch milliseconds.
        generator: What found it there.
        rule: Which rule, model or calibration record.
        reason: What the policy said of it.
        quote: The user's words. They go when the memory is forgotten.
        decision_id: Of the ledger row.
    """

    session: str = ""
    turn_id: str = ""
    at_ms: int
    generator: Generator
    rule: str
    reason: AdmissionReason
    quote: str = ""
    decision_id: str = ""


class AdmissionLimits(msgspec.Struct, frozen=True, kw_only=True):
    """What bounds the write path of one user; see `[admission]` in the configuration.

    Attributes:
        promote_after: Independent observations (distinct turns) that make a record.
        promote_sessions: In how many sessions at least they were made.
        promote_window_ms: How far back observations count.
        proposals_per_session: How many confirmations a session may be asked for.
        proposals_max: How many proposals of a user may wait at once.
        proposal_ttl_ms: How long a proposal waits.
        records_max: Live records per user and scope; 0: no cap.
        chars_max: Characters of live records per user and scope; 0: no cap.
        is_shadow: No number of observations makes a record.
    """

    promote_after: int = 3
    promote_sessions: int = 2
    promote_window_ms: int = 90 * 86_400_000
    proposals_per_session: int = 1
    proposals_max: int = 20
    proposal_ttl_ms: int = 7 * 86_400_000
    records_max: int = 0
    chars_max: int = 0
    is_shadow: bool = False


class FoundBy(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What found a fact, and what ruled on it: kept with the turn, so that a repeat of it is told the same.

    Attributes:
        generator: Whose reading stands.
        rule: Which rule, model or calibration record of it.
        decided_by: Which rule of the policy decided.
        also: What else found it, as in `judge:judge.v1`.
    """

    generator: Generator
    rule: str
    decided_by: str = ""
    also: tuple[str, ...] = ()


class FactWrite(msgspec.Struct, frozen=True, kw_only=True):
    """One fact to be written, as the policy ruled.

    Attributes:
        memory: The record it is, or would become.
        memory_id: A fresh id for the record, should it become one now.
        note_id: A fresh id for the observation or the proposal, should it become one.
        disposition: `record`, `propose` or `observe`. The store may lower it (a tombstone, a cap, a ration) and raises
            it only where enough observations agree.
        slot: What it states a value of; empty: none.
        subject: Whose slot; empty: the user's.
        value: The slot's value as said.
        is_single_valued: The slot holds one value at a time, so that a newer one closes the older. Languages, allergies
            and likes hold several: they are added to one another.
        is_ending: It closes the slot's record and opens none.
        neighbours: Ids of live records whose embedding lies near: they are looked at for being the same fact in other
            words. None of them is touched unless numbers, dates, names and negation agree.
        evidence: The turn behind it; its `decision_id` is filled in by the store.
        found: What found it, to be told with what became of it; None: nobody asks.
        embedder_key: Identifies model and prefix of `vectors`; empty when there are none.
        vectors: Of text, cues and asks; may be empty, then the record is pending.
    """

    memory: NewMemory
    memory_id: str
    note_id: str
    disposition: Disposition
    slot: str = ""
    subject: str = ""
    value: str = ""
    is_single_valued: bool = True
    is_ending: bool = False
    neighbours: tuple[str, ...] = ()
    evidence: Evidence
    found: FoundBy | None = None
    embedder_key: str = ""
    vectors: tuple[TextVector, ...] = ()


class DroppedFact(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A candidate that led to nothing, for the ledger and the reply: never its text.

    Attributes:
        reason: Why.
        rule: Which rule of the policy decided.
        generator: Whose reading of it stands; None: nothing was found.
        source_rule: Which rule, model or calibration record of it.
        also: What else found it, as in `model:netclaw`.
    """

    reason: AdmissionReason
    rule: str = ""
    generator: Generator | None = None
    source_rule: str = ""
    also: tuple[str, ...] = ()


class SlotValue(msgspec.Struct, frozen=True, kw_only=True):
    """What a record states a value of.

    Attributes:
        slot: Such as `employer`.
        subject: Whose slot; empty: the user's.
        value: As said; empty where it is not known apart from the text.
        is_single_valued: See `FactWrite`.
    """

    slot: str
    subject: str = ""
    value: str = ""
    is_single_valued: bool = True


class SlotHolder(msgspec.Struct, frozen=True, kw_only=True):
    """A live record that holds a slot, and the value it states of it."""

    memory: Memory
    value: SlotValue


class FactOutcome(enum.StrEnum):
    """What became of one fact."""

    CREATED = "created"
    """A record; where a later statement of another value was delivered before it, it is history at once."""
    DUPLICATE = "duplicate"
    """The same fact is stored; this turn was added to its evidence."""
    UPDATED = "updated"
    """The same fact is stored; what this one brought beside the words was added."""
    SUPERSEDED = "superseded"
    """A newer value of the same slot: the older record is kept as history, this one is live."""
    CLOSED = "closed"
    """It ended a slot's record and opened none. Where no live record had that value, it is dropped."""
    PROMOTED = "promoted"
    """With this observation there was enough evidence: it is a record now."""
    OBSERVED = "observed"
    PROPOSED = "proposed"
    REFUSED = "refused"
    """A tombstone or a cap stood against it; the reason says which."""


class Observation(msgspec.Struct, frozen=True, kw_only=True):
    """A fact with weak evidence, on its way to a record."""

    id: str
    user: str
    text: str
    kind: MemoryKind
    scope: str = ""
    slot: str = ""
    turns: int = 1
    """Distinct turns that speak for it within the window."""
    sessions: int = 1
    first_at_ms: int
    last_at_ms: int
    promoted_to: str = ""
    """Id of the record it became; empty: none yet."""


class ProposalState(enum.StrEnum):
    """Where a proposal stands."""

    PENDING = "pending"
    ACCEPTED = "accepted"
    REJECTED = "rejected"
    EXPIRED = "expired"


class Proposal(msgspec.Struct, frozen=True, kw_only=True):
    """A fact that waits for the user's yes."""

    id: str
    user: str
    session: str
    text: str
    kind: MemoryKind
    scope: str = ""
    slot: str = ""
    reason: AdmissionReason
    state: ProposalState = ProposalState.PENDING
    created_at_ms: int
    expires_at_ms: int
    proposer: str = ""
    """The client that brought the candidate; it may not approve it. Empty: the daemon's own rules."""
    memory_id: str = ""
    """Of the record, once accepted."""
    accepted_text: str = ""
    """What was accepted, where it was edited."""


class FactResult(msgspec.Struct, frozen=True, kw_only=True):
    """What became of one fact.

    Attributes:
        outcome: See `FactOutcome`.
        disposition: Where it ended.
        reason: Why.
        memory: The record, as it is now.
        superseded: Ids of records that this one closed.
        observation: Where it is one.
        proposal: Where it is one.
        usage: Where a cap refused it, or is nearly reached.
        found: As its write said, now or when the turn was first seen.
    """

    outcome: FactOutcome
    disposition: Disposition
    reason: AdmissionReason
    memory: Memory | None = None
    superseded: tuple[str, ...] = ()
    observation: Observation | None = None
    proposal: Proposal | None = None
    usage: Usage | None = None
    found: FoundBy | None = None


class ObservationPage(msgspec.Struct, frozen=True, kw_only=True):
    """One page of observations, the one made last first. `cursor` is None at the end; otherwise it resumes exactly."""

    observations: tuple[Observation, ...]
    cursor: str | None
    total: int


class ProposalPage(msgspec.Struct, frozen=True, kw_only=True):
    """One page of proposals, newest first. `cursor` is None at the end; otherwise it resumes exactly."""

    proposals: tuple[Proposal, ...]
    cursor: str | None
    total: int


# --- commands: each one is one transaction ---------------------------------------------------------------------------


class AdmitTurn(msgspec.Struct, frozen=True, kw_only=True):
    """Write all facts of one turn, or find that the turn was seen before.

    Attributes:
        user: Whose turn.
        session: Of the turn.
        turn_key: `session` and `turn_id` joined by U+001F; empty for what was no turn. A turn seen before is not
            applied again: the recorded result is returned.
        now_ms: Unix epoch milliseconds.
        writes: What the policy let through, in text order.
        dropped: What it did not.
        limits: See `AdmissionLimits`.
        proposer: The client that brought the candidates; see `Proposal.proposer`.
        ration_since_ms: Proposals that the session was given before then do not count against its ration: when it was
            started anew, Unix epoch milliseconds; 0: all count.
        decision: Ledger row of the whole turn; the store fills in decision, reason and body where they are empty.
        spent: Time that deciding took, for the ledger.
    """

    user: str
    session: str
    turn_key: str = ""
    now_ms: int
    writes: tuple[FactWrite, ...] = ()
    dropped: tuple[DroppedFact, ...] = ()
    limits: AdmissionLimits = AdmissionLimits()
    proposer: str = ""
    ration_since_ms: int = 0
    decision: DecisionRow
    spent: GateSpent = UNSPENT


class TurnAdmitted(msgspec.Struct, frozen=True, kw_only=True):
    """What became of a turn: one result for each write, and what was dropped."""

    decision_id: str
    results: tuple[FactResult, ...] = ()
    dropped: tuple[DroppedFact, ...] = ()
    is_repeat: bool = False
    """The turn had been seen before, and this is what was recorded then."""


class Confirm(msgspec.Struct, frozen=True, kw_only=True):
    """Answer a proposal.

    Attributes:
        proposal_id: Which; empty: the latest live one of the session.
        is_accepted: Yes or no.
        edited_text: What to store instead; empty: as proposed.
        approver: The client that answers; see `Proposal.proposer`.
        memory_id: A fresh id for the record.
        embedder_key: As for `FactWrite`.
        vectors: As for `FactWrite`.
    """

    user: str
    session: str = ""
    proposal_id: str = ""
    is_accepted: bool
    edited_text: str = ""
    approver: str = ""
    now_ms: int
    memory_id: str
    limits: AdmissionLimits = AdmissionLimits()
    embedder_key: str = ""
    vectors: tuple[TextVector, ...] = ()
    decision: DecisionRow


class Confirmed(msgspec.Struct, frozen=True, kw_only=True):
    """What became of an answer.

    Attributes:
        proposal: As it stands now.
        result: Of the record, where one was accepted.
        is_repeat: The same answer had been given before; nothing changed.
    """

    proposal: Proposal
    result: FactResult | None = None
    is_repeat: bool = False


class SettleObservation(msgspec.Struct, frozen=True, kw_only=True):
    """A person's word on an observation: it is a record now, or it is to be noted no more.

    Attributes:
        is_accepted: Yes or no. What was turned down comes back by an explicit save only.
        edited_text: What to store instead; empty: as observed.
        approver: The client that answers; one whose model found the fact may not accept it.
        memory_id: A fresh id for the record.
    """

    user: str
    observation_id: str
    is_accepted: bool
    edited_text: str = ""
    approver: str = ""
    now_ms: int
    memory_id: str
    limits: AdmissionLimits = AdmissionLimits()
    decision: DecisionRow


class ObservationSettled(msgspec.Struct, frozen=True, kw_only=True):
    """What became of a word on an observation.

    Attributes:
        observation: As it was, with the record it became.
        result: Of the record, where it was accepted.
        is_repeat: It was a record already; nothing changed.
    """

    observation: Observation
    result: FactResult | None = None
    is_repeat: bool = False


class Lineage(msgspec.Struct, frozen=True, kw_only=True):
    """Everything behind a record.

    Attributes:
        memory: The record, in any status but forgotten.
        evidence: Every turn behind it, oldest first.
        observation: The observation it was promoted from.
        proposal: The proposal it was confirmed from.
        supersedes: Records it replaced, newest first.
        superseded_by: The record that replaced it; None: none did.
        slot: What it states a value of.
        subject: Whose slot.
    """

    memory: Memory
    evidence: tuple[Evidence, ...] = ()
    observation: Observation | None = None
    proposal: Proposal | None = None
    supersedes: tuple[Memory, ...] = ()
    superseded_by: Memory | None = None
    slot: str = ""
    subject: str = ""
