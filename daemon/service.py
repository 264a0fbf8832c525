"""The memory service of this process: finds the right actor, asks it, and turns every way to fail into an answer."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import msgspec

from recalld.actors.admission import (
    AdmissionMessage,
    AnswerProposal,
    BackfillCues,
    EraseEverything,
    ForgetMemories,
    NoteSession,
    ObserveTurn,
    RememberMemory,
    SettleFact,
    TakeOverRecords,
    UpdateMemory,
)
from recalld.actors.asking import as_operating_error
from recalld.actors.decide import Decider
from recalld.actors.directory import Directory
from recalld.actors.drift.desk import DriftDesk
from recalld.actors.embedder import EmbedderMessage, GetEmbedderHealth
from recalld.actors.events import BoundedEventStream, EventBus, EventLevel
from recalld.actors.extraction.messages import ExtractionMessage, ExtractNow
from recalld.actors.kernel import Address, AskError, AskFailure, Reply, Supervisor
from recalld.actors.ports import Clock, IdSource, MemoryReader
from recalld.actors.recall import ChangeSession, GateCalibration, GiveStanding, NoTurnError, Recall, RecallTurns
from recalld.actors.recall.report import final_event, ledger_row
from recalld.actors.sampling.sampler import Sampler
from recalld.actors.scorer import GetScorerHealth, ProbeScorer, ScorerMessage
from recalld.actors.store import Ledger, StoreMessage
from recalld.actors.store.export_pages import BEHIND_MEMORIES
from recalld.actors.supervisor import Conditions, GateGuard
from recalld.daemon.auditing import AuditDesk
from recalld.daemon.feedback import Feedback
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
from recalld.models.domain.errors import ErrorCode, RecalldError
from recalld.models.domain.events import EventName
from recalld.models.domain.health import (
    SINCE_START,
    GateProbe,
    HealthReport,
    ModelHealth,
    ModelState,
    Stats,
    StatsQuery,
)
from recalld.models.domain.ledger_report import LedgerReport
from recalld.models.domain.outcomes import OutcomeReport
from recalld.models.domain.reasons import RecallDecision, RecallMode, RecallReason
from recalld.models.domain.recall import Coverage, GateReport, RecallOutcome, RecallQuery, RecallTimings
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
from recalld.models.lab.ledger.report import ledger_report
from recalld.models.policy.silence import why_empty

R = TypeVar("R")

DAY_MS = 86_400_000
HEALTH_DEADLINE_S = 1.0
"""Seconds an actor may take to say how it is."""
PROBE_DEADLINE_S = 5.0
"""Seconds a real pair may take to be scored for a deep health check, behind whatever is queued."""
SESSION_DEADLINE_S = 2.0
LEDGER_DEADLINE_S = 2.0


@dataclass(frozen=True, kw_only=True, slots=True)
class ServiceParts:
    """What the service stands on."""

    clock: Clock
    ids: IdSource
    reader: MemoryReader
    store: Address[StoreMessage]
    scorer: Address[ScorerMessage]
    embedder: Address[EmbedderMessage]
    directory: Directory
    supervisor: Supervisor
    guard: GateGuard
    turns: RecallTurns
    conditions: Conditions
    events: EventBus
    ledger: Ledger
    decider: Decider
    calibration: GateCalibration
    drift: DriftDesk
    sampler: Sampler
    audits: AuditDesk
    embedder_key: str
    scorer_model_id: str
    embedder_model_id: str
    is_gate_on: bool
    extraction: Address[ExtractionMessage] | None = None
    """Has turns read by a model; None: no model gate is configured."""
    promote_window_ms: int
    """How far back the turns behind an observation count."""
    version: str
    started_s: float


class LocalMemoryService:
    """The actors of this process behind the `MemoryService` protocol."""

    def __init__(self, parts: ServiceParts) -> None:
        self._parts = parts
        self._feedback = Feedback(
            clock=parts.clock, ids=parts.ids, store=parts.store, events=parts.events, conditions=parts.conditions
        )
        self.is_draining = False

    async def recall(self, query: RecallQuery) -> RecallOutcome:
        """Answer by the query's deadline, whatever happens; at once when the deadline cannot be met."""
        try:
            async with self._parts.turns.turn(query.user, deadline_s=query.deadline_s):
                outcome = await self._recall(query)
        except NoTurnError:
            return self._unanswered(query, RecallReason.BUSY)
        self._parts.sampler.recalled(query, outcome)
        return outcome

    async def _recall(self, query: RecallQuery) -> RecallOutcome:
        # The user's actor may die of somebody else's request; a second try then meets a fresh one.
        for _ in range(2):
            try:
                with self._parts.directory.actors_of(query.user) as actors:
                    return await actors.recall.ask(
                        lambda reply: Recall(query=query, reply=reply), deadline_s=query.deadline_s
                    )
            except AskError as error:
                if error.failure is AskFailure.BUSY:
                    return self._unanswered(query, RecallReason.BUSY)
                if error.failure is AskFailure.TIMEOUT:
                    return self._unanswered(query, RecallReason.ENVELOPE_EXCEEDED)
            except RecalldError:
                return self._unanswered(query, RecallReason.DRAINING)
        return self._unanswered(query, RecallReason.RECALL_FAILED)

    def _unanswered(self, query: RecallQuery, reason: RecallReason) -> RecallOutcome:
        """An outcome in the actor's stead, with the ledger row and the canonical line that it would have left."""
        outcome = RecallOutcome(
            recall_id=self._parts.ids.new_id("rec"),
            decision=RecallDecision.ERROR,
            mode=RecallMode.EMPTY,
            reason=reason,
            degraded_reason=why_empty(reason),
            coverage=Coverage(discovered=0, searched=0),
            gate=GateReport(),
            timings=RecallTimings(),
        )
        at_ms = self._parts.clock.now_ms()
        self._parts.ledger.append(ledger_row(query, outcome, at_ms=at_ms))
        self._parts.conditions.counters[f"recalls_unanswered_{reason}"] += 1
        self._parts.events.publish(final_event(query, outcome, floors="", at_ms=at_ms), EventLevel.ERROR)
        return outcome

    async def _admission(self, user: str, build: Callable[[Reply[R]], AdmissionMessage], deadline_s: float) -> R:
        """What a user's admission actor answers."""
        with self._parts.directory.actors_of(user) as actors:
            return await _answered(actors.admission.ask(build, deadline_s=deadline_s))

    async def remember(self, request: RememberRequest) -> RememberReply:
        """Store explicitly."""
        return await self._admission(
            request.memory.user, lambda reply: RememberMemory(request=request, reply=reply), request.deadline_s
        )

    async def observe(self, turn: ObservedTurn) -> ObserveReply:
        """Decide about a turn."""
        observed: ObserveReply = await self._admission(
            turn.user, lambda reply: ObserveTurn(turn=turn, reply=reply), turn.deadline_s
        )
        self._parts.sampler.observed(turn, observed)
        return observed

    async def confirm(self, request: ConfirmRequest) -> ConfirmReply:
        """Answer a proposal."""
        return await self._admission(
            request.user, lambda reply: AnswerProposal(request=request, reply=reply), request.deadline_s
        )

    async def proposals(
        self, user: str, state: ProposalState | None, *, limit: int, cursor: str | None
    ) -> ProposalPage:
        """A page of proposals, newest first."""
        states = tuple(ProposalState) if state is None else (state,)
        return await self._parts.reader.proposals(
            user, states, now_ms=self._parts.clock.now_ms(), limit=limit, cursor=cursor
        )

    async def observations(self, user: str, *, limit: int, cursor: str | None) -> ObservationPage:
        """A page of observations, the one made last first."""
        since_ms = self._parts.clock.now_ms() - self._parts.promote_window_ms
        return await self._parts.reader.observations(user, since_ms=since_ms, limit=limit, cursor=cursor)

    async def lineage(self, user: str, memory_id: str) -> Lineage:
        """Everything behind a memory of this user."""
        found = await self._parts.reader.lineage(user, memory_id, now_ms=self._parts.clock.now_ms())
        if found is None:
            raise RecalldError(ErrorCode.NOT_FOUND, f"memory_id: there is no memory {memory_id!r} of this user")
        return found

    async def settle(self, request: SettleRequest) -> SettleReply:
        """Take a person's word on an observation."""
        return await self._admission(
            request.user, lambda reply: SettleFact(request=request, reply=reply), request.deadline_s
        )

    async def export(self, user: str, *, limit: int, cursor: str | None, is_waiting_only: bool) -> ExportPage:
        """A page of everything that is kept of a user, or of its observations and proposals alone."""
        if is_waiting_only and cursor is None:
            cursor = BEHIND_MEMORIES
        return await self._parts.reader.exported(user, now_ms=self._parts.clock.now_ms(), limit=limit, cursor=cursor)

    async def import_records(self, request: ImportRequest) -> ImportReply:
        """Take over what was exported."""
        return await self._admission(
            request.user, lambda reply: TakeOverRecords(request=request, reply=reply), request.deadline_s
        )

    async def purge_user(self, request: PurgeRequest) -> UserPurged:
        """Leave nothing of a user behind."""
        return await self._admission(
            request.user, lambda reply: EraseEverything(request=request, reply=reply), request.deadline_s
        )

    async def forget(self, request: ForgetRequest) -> ForgetReply:
        """Forget, or preview forgetting."""
        return await self._admission(
            request.user, lambda reply: ForgetMemories(request=request, reply=reply), request.deadline_s
        )

    async def update(self, request: UpdateRequest) -> UpdateReply:
        """Change what is known about a memory beside its text."""
        return await self._admission(
            request.user, lambda reply: UpdateMemory(request=request, reply=reply), request.deadline_s
        )

    async def backfill(self, request: BackfillRequest) -> BackfillReply:
        """Have a lent model write cues and asks for memories that have no asks."""
        return await self._admission(
            request.user, lambda reply: BackfillCues(request=request, reply=reply), request.deadline_s
        )

    async def session(self, user: str, session: str, event: SessionEvent) -> None:
        """Reset what is visible in a session."""
        self._parts.decider.session_changed(user, session, event)
        deadline_s = self._parts.clock.monotonic_s() + SESSION_DEADLINE_S
        with self._parts.directory.actors_of(user) as actors:
            await _answered(
                actors.recall.ask(
                    lambda reply: ChangeSession(session=session, event=event, reply=reply), deadline_s=deadline_s
                )
            )
            actors.admission.post(NoteSession(session=session, event=event, at_ms=self._parts.clock.now_ms()))
        if event is SessionEvent.ENDED and self._parts.extraction is not None:
            self._parts.extraction.post(ExtractNow(user=user))

    async def get(self, user: str, memory_id: str) -> Memory:
        """A memory of this user."""
        memory = await self._parts.reader.memory(user, memory_id)
        if memory is None:
            raise RecalldError(ErrorCode.NOT_FOUND, f"memory_id: there is no memory {memory_id!r} of this user")
        return memory

    async def list_memories(self, user: str, what: ListFilter, *, limit: int, cursor: str | None) -> MemoryPage:
        """A page of live memories, newest first."""
        return await self._parts.reader.list_memories(
            user, what, now_ms=self._parts.clock.now_ms(), limit=limit, cursor=cursor
        )

    async def decide(self, request: DecideRequest) -> Decision:
        """What a gate says of a request."""
        return await self._parts.decider.decide(request)

    async def explain(self, user: str, decision_id: str) -> DecisionRow:
        """A ledger row of this user; one that was made but not yet written is written first."""
        await self._parts.ledger.settle(deadline_s=self._parts.clock.monotonic_s() + LEDGER_DEADLINE_S)
        row = await self._parts.reader.decision(decision_id)
        if row is None or row.user != user:
            raise RecalldError(ErrorCode.NOT_FOUND, f"decision_id: there is no decision {decision_id!r} of this user")
        return row

    async def standing(self, request: StandingRequest) -> StandingBlock:
        """The standing block of a session, given once."""
        with self._parts.directory.actors_of(request.user) as actors:
            return await _answered(
                actors.recall.ask(
                    lambda reply: GiveStanding(request=request, reply=reply), deadline_s=request.deadline_s
                )
            )

    async def samples(self, user: str, kinds: tuple[SampleKind, ...], *, is_marked: bool, limit: int) -> ShownSamples:
        """The newest decisions that were kept for an audit."""
        return await self._parts.audits.samples(user, kinds, is_marked=is_marked, limit=limit)

    async def mark_sample(self, command: MarkSample, *, deadline_s: float) -> None:
        """Note what somebody says of a sample."""
        await self._parts.audits.mark(command, deadline_s=deadline_s)

    async def set_standing(
        self, user: str, memory_id: str, action: StandingAction, *, deadline_s: float
    ) -> StandingSet:
        """Note what a person decided about a memory and the standing block."""
        return await self._feedback.set_standing(user, memory_id, action, deadline_s=deadline_s)

    async def note_audit(self, *, deadline_s: float) -> None:
        """Note that somebody has just gone through the newest memories."""
        await self._feedback.note_audit(deadline_s=deadline_s)

    async def record_outcome(self, report: OutcomeReport) -> None:
        """Keep a report on a decision, once."""
        await self._feedback.record_outcome(report)

    async def outcomes_of_memory(self, user: str, memory_id: str, *, limit: int) -> MemoryOutcomes:
        """What was reported on a memory of this user."""
        await self.get(user, memory_id)
        return await self._parts.reader.reported(user, memory_id=memory_id, limit=limit)

    async def outcomes_of_decision(self, user: str, decision_id: str, *, limit: int) -> MemoryOutcomes:
        """What was reported on a decision of this user."""
        await self.explain(user, decision_id)
        return await self._parts.reader.reported(user, decision_id=decision_id, limit=limit)

    async def health(self, *, is_deep: bool) -> HealthReport:
        """The live state; deep also scores a real pair."""
        parts = self._parts
        store = await parts.reader.health(parts.embedder_key, now_ms=parts.clock.now_ms())
        now_s = parts.clock.monotonic_s()
        counts = parts.conditions.counts(now_s)
        return HealthReport(
            version=parts.version,
            pid=os.getpid(),
            uptime_s=now_s - parts.started_s,
            is_draining=self.is_draining,
            store=store,
            scorer=await self._model_health(
                parts.scorer.name,
                parts.scorer_model_id,
                lambda deadline_s: parts.scorer.ask(lambda reply: GetScorerHealth(reply=reply), deadline_s=deadline_s),
            ),
            embedder=await self._model_health(
                parts.embedder.name,
                parts.embedder_model_id,
                lambda deadline_s: parts.embedder.ask(
                    lambda reply: GetEmbedderHealth(reply=reply), deadline_s=deadline_s
                ),
            ),
            breaker=parts.guard.state,
            gate_mode="on" if parts.is_gate_on else "off",
            calibration_id=parts.calibration.model.calibration_id,
            calibration_matches=not parts.calibration.mismatches,
            calibration_detail="; ".join(parts.calibration.mismatches),
            probe=await self._probe() if is_deep else None,
            window_s=parts.conditions.fallbacks.window_s,
            window_recalls=counts.recalls,
            window_degraded=counts.degraded,
            actors_active=parts.directory.active,
            actor_restarts=parts.supervisor.restarts,
            queue_depth=parts.store.depth + parts.scorer.depth + parts.embedder.depth + parts.directory.depth,
            ledger_rows_dropped=parts.ledger.rows_dropped,
            rss_bytes=_rss_bytes(),
            open_fds=_open_fds(),
        )

    async def _model_health(
        self, name: str, model_id: str, ask: Callable[[float], Awaitable[ModelHealth]]
    ) -> ModelHealth:
        try:
            # A deadline of its own: that another actor was silent says nothing about this one.
            health = await ask(self._parts.clock.monotonic_s() + HEALTH_DEADLINE_S)
        except AskError as error:
            restarts = self._parts.supervisor.restarts_of(name)
            detail = f"the {name} does not answer ({error.failure}); see the log for actor_restarted events"
            health = ModelHealth(state=ModelState.UNAVAILABLE, detail=detail, restarts=restarts)
        # The actor knows its model by hash; people know it by the name they configured.
        return msgspec.structs.replace(health, model_id=model_id)

    async def _probe(self) -> GateProbe:
        if not self._parts.is_gate_on:
            return GateProbe(is_ok=False, detail="not probed: the gate is switched off by configuration")
        try:
            return await self._parts.scorer.ask(
                lambda reply: ProbeScorer(reply=reply), deadline_s=self._parts.clock.monotonic_s() + PROBE_DEADLINE_S
            )
        except AskError as error:
            return GateProbe(is_ok=False, detail=f"no pair could be scored: {error.failure}")

    async def stats(self, query: StatsQuery = SINCE_START) -> Stats:
        """Counters and latencies since start; over a window also what the ledger counted."""
        parts = self._parts
        return Stats(
            uptime_s=parts.clock.monotonic_s() - parts.started_s,
            counters=dict(parts.conditions.counters),
            latencies_ms=parts.conditions.latencies.percentiles(),
            ledger=await self._ledger_report(query) if query.has_window else None,
            drift=await parts.drift.reports(query.user) if query.days is not None else None,
            audit=await parts.audits.report(query.user, since_ms=self._since_ms(query)) if query.has_window else None,
        )

    def _since_ms(self, query: StatsQuery) -> int:
        return 0 if query.is_ever or query.days is None else self._parts.clock.now_ms() - query.days * DAY_MS

    async def _ledger_report(self, query: StatsQuery) -> LedgerReport:
        """What the ledger counted over the window, this moment's decisions included."""
        parts = self._parts
        await parts.ledger.settle(deadline_s=parts.clock.monotonic_s() + LEDGER_DEADLINE_S)
        now_ms = parts.clock.now_ms()
        since_ms = None if query.is_ever or query.days is None else now_ms - query.days * DAY_MS
        return ledger_report(await parts.reader.ledger_tallies(query.user, since_ms=since_ms, now_ms=now_ms))

    def subscribe(self, names: frozenset[EventName], user: str | None) -> BoundedEventStream:
        """Events from now on."""
        return self._parts.events.subscribe(names, user)


async def _answered(asked: Awaitable[R]) -> R:
    """The answer, or the operating error that says why there is none."""
    try:
        return await asked
    except AskError as error:
        raise as_operating_error(error, "the user's actor") from error


def _rss_bytes() -> int:
    """Resident memory of this process; 0 where /proc does not tell."""
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    except (OSError, ValueError, IndexError):
        return 0
    return pages * os.sysconf("SC_PAGE_SIZE")


def _open_fds() -> int:
    """Open file descriptors of this process; 0 where /proc does not tell."""
    try:
        return sum(1 for _ in Path("/proc/self/fd").iterdir())
    except OSError:
        return 0
