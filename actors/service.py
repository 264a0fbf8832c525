"""The service the daemon offers, as one protocol: what the gateway calls and tests can fake.

Every method may raise `RecalldError`; nothing else reaches the gateway in normal running.
"""

from __future__ import annotations

from typing import Protocol

from recalld.models.domain.admission import (
    ConfirmReply,
    ConfirmRequest,
    ForgetReply,
    ForgetRequest,
    ObservedTurn,
    ObserveReply,
    RememberReply,
    RememberRequest,
    SessionEvent,
    SettleReply,
    SettleRequest,
)
from recalld.models.domain.admission_store import Lineage, ObservationPage, ProposalPage, ProposalState
from recalld.models.domain.audit_samples import MarkSample, SampleKind, ShownSamples
from recalld.models.domain.cues import BackfillReply, BackfillRequest, UpdateReply, UpdateRequest
from recalld.models.domain.decide import DecideRequest
from recalld.models.domain.decision import Decision
from recalld.models.domain.events import Event, EventName
from recalld.models.domain.health import SINCE_START, HealthReport, Stats, StatsQuery
from recalld.models.domain.outcomes import OutcomeReport
from recalld.models.domain.recall import RecallOutcome, RecallQuery
from recalld.models.domain.records import Memory
from recalld.models.domain.standing import (
    MemoryOutcomes,
    StandingAction,
    StandingBlock,
    StandingRequest,
    StandingSet,
)
from recalld.models.domain.store import DecisionRow, ListFilter, MemoryPage
from recalld.models.domain.user_data import ExportPage, ImportReply, ImportRequest, PurgeRequest, UserPurged


class EventStream(Protocol):
    """A bounded stream of events; the oldest is dropped when its reader is slow."""

    async def next_event(self) -> tuple[Event, int]:
        """The next event, and how many were dropped before it since the last call."""
        ...

    def close(self) -> None:
        """Stop receiving; a pending `next_event` raises `anyio.EndOfStream`."""
        ...


class MemoryService(Protocol):
    """Everything a client can ask for."""

    async def recall(self, query: RecallQuery) -> RecallOutcome:
        """Answer by `query.deadline_s`, whatever happens: a failure is an outcome of mode `empty`."""
        ...

    async def remember(self, request: RememberRequest) -> RememberReply:
        """Store explicitly. Raises `BUSY`, `STORAGE_FULL`, `STORAGE_UNAVAILABLE`, `DRAINING`."""
        ...

    async def observe(self, turn: ObservedTurn) -> ObserveReply:
        """Decide about a turn; a repeated (user, session, turn_id) gets the first answer again."""
        ...

    async def confirm(self, request: ConfirmRequest) -> ConfirmReply:
        """Answer a proposal. Raises `NOT_FOUND`, `CONFLICT` (answered otherwise), `FORBIDDEN` (to its proposer)."""
        ...

    async def proposals(
        self, user: str, state: ProposalState | None, *, limit: int, cursor: str | None
    ) -> ProposalPage:
        """A page of proposals, newest first; of one state, or of all."""
        ...

    async def observations(self, user: str, *, limit: int, cursor: str | None) -> ObservationPage:
        """A page of observations, the one made last first."""
        ...

    async def lineage(self, user: str, memory_id: str) -> Lineage:
        """Everything behind a memory. Raises `NOT_FOUND`."""
        ...

    async def settle(self, request: SettleRequest) -> SettleReply:
        """Take a person's word on an observation. Raises `NOT_FOUND`, `CONFLICT`, `FORBIDDEN` (its own finder's)."""
        ...

    async def export(self, user: str, *, limit: int, cursor: str | None, is_waiting_only: bool) -> ExportPage:
        """A page of everything that is kept of a user, or of its observations and proposals alone."""
        ...

    async def import_records(self, request: ImportRequest) -> ImportReply:
        """Take over what was exported. Raises what `remember` raises."""
        ...

    async def purge_user(self, request: PurgeRequest) -> UserPurged:
        """Leave nothing of a user behind. Raises `BUSY`, `STORAGE_FULL`, `STORAGE_UNAVAILABLE`, `DRAINING`."""
        ...

    async def forget(self, request: ForgetRequest) -> ForgetReply:
        """Forget, or preview forgetting."""
        ...

    async def update(self, request: UpdateRequest) -> UpdateReply:
        """Change a memory. Raises `BAD_REQUEST`, `NOT_FOUND`, `CONFLICT`, and what `remember` raises."""
        ...

    async def backfill(self, request: BackfillRequest) -> BackfillReply:
        """Have a lent model write cues and asks. Raises `BUSY` while another backfill of the user is under way."""
        ...

    async def get(self, user: str, memory_id: str) -> Memory:
        """A memory. Raises `NOT_FOUND`."""
        ...

    async def list_memories(self, user: str, what: ListFilter, *, limit: int, cursor: str | None) -> MemoryPage:
        """A page of live memories, newest first."""
        ...

    async def decide(self, request: DecideRequest) -> Decision:
        """What a gate says of a request. Raises `BAD_REQUEST` for a profile that there is not."""
        ...

    async def explain(self, user: str, decision_id: str) -> DecisionRow:
        """A ledger row of this user. Raises `NOT_FOUND`."""
        ...

    async def session(self, user: str, session: str, event: SessionEvent) -> None:
        """Reset what is remembered about a session (its exclusions)."""
        ...

    async def standing(self, request: StandingRequest) -> StandingBlock:
        """The standing block of a session, given once. Raises `BUSY`, `STORAGE_UNAVAILABLE`, `DRAINING`."""
        ...

    async def set_standing(
        self, user: str, memory_id: str, action: StandingAction, *, deadline_s: float
    ) -> StandingSet:
        """Note what a person decided about a memory and the standing block. Raises `NOT_FOUND` unless it is live."""
        ...

    async def samples(self, user: str, kinds: tuple[SampleKind, ...], *, is_marked: bool, limit: int) -> ShownSamples:
        """The newest decisions kept for an audit, of some kinds or (without any) of all: the marked or the others.

        Raises:
            RecalldError: `STORAGE_UNAVAILABLE`.
        """
        ...

    async def mark_sample(self, command: MarkSample, *, deadline_s: float) -> None:
        """Note what somebody says of a sample; said again, it takes the place of what was said before.

        Raises:
            RecalldError: `NOT_FOUND`, `BUSY`, `STORAGE_FULL`, `STORAGE_UNAVAILABLE`, `DRAINING`.
        """
        ...

    async def note_audit(self, *, deadline_s: float) -> None:
        """Note that somebody has just gone through the newest memories."""
        ...

    async def record_outcome(self, report: OutcomeReport) -> None:
        """Keep a report on a decision, once. Raises `NOT_FOUND`, or `BAD_REQUEST` for a memory it cannot be about."""
        ...

    async def outcomes_of_memory(self, user: str, memory_id: str, *, limit: int) -> MemoryOutcomes:
        """What was reported on a memory. Raises `NOT_FOUND`."""
        ...

    async def outcomes_of_decision(self, user: str, decision_id: str, *, limit: int) -> MemoryOutcomes:
        """What was reported on a decision. Raises `NOT_FOUND`."""
        ...

    async def health(self, *, is_deep: bool) -> HealthReport:
        """The live state; deep also scores a real pair."""
        ...

    async def stats(self, query: StatsQuery = SINCE_START) -> Stats:
        """Counters and latencies; over a window also what the ledger counted.

        Raises `RecalldError(STORAGE_UNAVAILABLE)` when a window was asked for and the store cannot be read.
        """
        ...

    def subscribe(self, names: frozenset[EventName], user: str | None) -> EventStream:
        """Events from now on; an empty set means all names. With a user: that user's events and those of no user."""
        ...
