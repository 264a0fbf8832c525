"""What a store keeps of facts that are no records yet, and of turns, in either of its implementations."""

from __future__ import annotations

import msgspec

from recalld.models.domain.admission_store import (
    DroppedFact,
    Evidence,
    FactOutcome,
    FoundBy,
    Observation,
    Proposal,
    ProposalState,
    SlotValue,
)
from recalld.models.domain.facts import Disposition
from recalld.models.domain.reasons import AdmissionReason, RememberOutcome
from recalld.models.domain.records import NewMemory
from recalld.models.domain.usage import Usage
from recalld.models.domain.user_data import PortableFact
from recalld.models.policy.promotion import counted
from recalld.models.policy.proposals import as_of


class NotedFact(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The fact of an observation or a proposal: what it would store.

    Attributes:
        memory: The record it would become.
        value: What it states a value of; None: nothing.
        is_ending: It would close the slot's record and open none.
        proposer: The client that brought it first, which may not approve it later either; empty: the daemon's rules.
    """

    memory: NewMemory
    value: SlotValue | None = None
    is_ending: bool = False
    proposer: str = ""

    @classmethod
    def taken_over(cls, fact: PortableFact, user: str) -> NotedFact:
        """What was exported, as a fact of this user."""
        memory = msgspec.structs.replace(fact.memory, user=user)
        return cls(memory=memory, value=fact.value, is_ending=fact.is_ending)

    def portable(self) -> PortableFact:
        """As it is exported."""
        return PortableFact(memory=self.memory, value=self.value, is_ending=self.is_ending)


class ObservationRow(msgspec.Struct, frozen=True, kw_only=True):
    """An observation as it is kept; how many turns speak for it is counted from its evidence."""

    id: str
    fact: NotedFact
    first_at_ms: int
    last_at_ms: int
    promoted_to: str = ""

    def view(self, evidence: tuple[Evidence, ...], *, since_ms: int) -> Observation:
        """As it is handed out, with the turns counted that were made since then."""
        turns, sessions = counted(evidence, since_ms=since_ms)
        memory = self.fact.memory
        return Observation(
            id=self.id,
            user=memory.user,
            text=memory.text,
            kind=memory.kind,
            scope=memory.scope,
            slot="" if self.fact.value is None else self.fact.value.slot,
            turns=turns,
            sessions=sessions,
            first_at_ms=self.first_at_ms,
            last_at_ms=self.last_at_ms,
            promoted_to=self.promoted_to,
        )


class ProposalRow(msgspec.Struct, frozen=True, kw_only=True):
    """A proposal as it is kept. That it has expired is said when it is read, and needs no write."""

    id: str
    session: str
    fact: NotedFact
    reason: AdmissionReason
    state: ProposalState = ProposalState.PENDING
    created_at_ms: int
    expires_at_ms: int
    proposer: str = ""
    memory_id: str = ""
    accepted_text: str = ""

    def view(self, now_ms: int) -> Proposal:
        """As it is handed out now."""
        memory = self.fact.memory
        kept = Proposal(
            id=self.id,
            user=memory.user,
            session=self.session,
            text=memory.text,
            kind=memory.kind,
            scope=memory.scope,
            slot="" if self.fact.value is None else self.fact.value.slot,
            reason=self.reason,
            state=self.state,
            created_at_ms=self.created_at_ms,
            expires_at_ms=self.expires_at_ms,
            proposer=self.proposer,
            memory_id=self.memory_id,
            accepted_text=self.accepted_text,
        )
        return as_of(kept, now_ms)


class RecordedFact(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What became of one fact of a turn, by ids: texts are looked up again, so that what was forgotten stays so."""

    outcome: FactOutcome
    disposition: Disposition
    reason: AdmissionReason
    memory_id: str = ""
    superseded: tuple[str, ...] = ()
    observation_id: str = ""
    proposal_id: str = ""
    usage: Usage | None = None
    found: FoundBy | None = None


class RecordedFacts(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What became of all facts of a turn."""

    facts: tuple[RecordedFact, ...] = ()
    dropped: tuple[DroppedFact, ...] = ()


class RecordedTurn(msgspec.Struct, frozen=True, kw_only=True):
    """A turn that was seen before.

    Attributes:
        reason: Of the turn as a whole.
        outcome: Of its first record, in the words of a save; None: it led to no record.
        memory_id: Of its first record; None: there is none.
        facts: What became of each fact; None for a turn that was written by a save.
    """

    decision_id: str
    reason: AdmissionReason
    outcome: RememberOutcome | None = None
    memory_id: str | None = None
    facts: RecordedFacts | None = None
