"""A gateway on a real socket, in front of a service made of dictionaries and events; and peers that can misbehave."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path

import anyio

from recalld.daemon.gateway.counters import GatewayCounters
from recalld.daemon.gateway.lending import LentModels
from recalld.daemon.gateway.limits import GatewayLimits
from recalld.daemon.gateway.listener import bind_listener
from recalld.daemon.gateway.peer import AccessPolicy
from recalld.daemon.gateway.server import Gateway
from recalld.models.domain import (
    admission,
    admission_store,
    audit_samples,
    cues,
    decide,
    decision,
    health,
    outcomes,
    recall,
    records,
    standing,
    store,
    user_data,
)
from recalld.models.domain.errors import ErrorCode, RecalldError
from recalld.models.domain.events import Event, EventName
from recalld.models.domain.facts import Generator
from recalld.models.domain.reasons import (
    AdmissionReason,
    Op,
    RecallDecision,
    RecallMode,
    RecallReason,
    RememberOutcome,
)
from recalld.protocol import requests
from recalld.protocol.codec import decode_reply, encode_message
from recalld.protocol.framing import Frame, FrameReader
from recalld.protocol.messages import Reply, Request
from recalld.protocol.unix_stream import UnixStream

WAIT_S = 10.0
"""Bound of every wait in these tests; none of them takes it."""


class WallClock:
    def monotonic_s(self) -> float:
        return time.monotonic()

    def now_ms(self) -> int:
        return 1_800_000_000_000


class FakeStream:
    """Events are put in by the test; the oldest is dropped at two."""

    def __init__(self, names: frozenset[EventName], user: str | None) -> None:
        self.names, self.user = names, user
        self.is_closed = False
        self._send, self._receive = anyio.create_memory_object_stream[tuple[Event, int]](100)

    def put(self, event: Event, dropped: int = 0) -> None:
        self._send.send_nowait((event, dropped))

    async def next_event(self) -> tuple[Event, int]:
        return await self._receive.receive()

    def close(self) -> None:
        self.is_closed = True
        self._send.close()

    def __del__(self) -> None:
        self._send.close()
        self._receive.close()


class FakeService:
    """Remembers at once; a recall of the text "wait" waits for `go`, "crash" raises what no service should raise."""

    def __init__(self) -> None:
        self.stored: dict[str, list[records.Memory]] = {}
        self.queries: list[recall.RecallQuery] = []
        self.stats_queries: list[health.StatsQuery] = []
        self.turns: list[admission.ObservedTurn] = []
        self.answers: list[admission.ConfirmRequest] = []
        self.pages: list[tuple[str, admission_store.ProposalState | None, int, str | None]] = []
        self.saves: list[admission.RememberRequest] = []
        self.settled: list[admission.SettleRequest] = []
        self.exports: list[tuple[str, int, str | None, bool]] = []
        self.imports: list[user_data.ImportRequest] = []
        self.purges: list[user_data.PurgeRequest] = []
        self.forgets: list[admission.ForgetRequest] = []
        self.updates: list[cues.UpdateRequest] = []
        self.backfills: list[cues.BackfillRequest] = []
        self.sessions: list[tuple[str, str, admission.SessionEvent]] = []
        self.streams: list[FakeStream] = []
        self.blocks: list[standing.StandingRequest] = []
        self.choices: list[tuple[str, str, standing.StandingAction]] = []
        self.audits = 0
        self.kept_samples: list[audit_samples.Sample] = []
        self.marks: list[audit_samples.MarkSample] = []
        self.reports: list[outcomes.OutcomeReport] = []
        self.decides: list[decide.DecideRequest] = []
        self.waiting = 0
        self.has_waiting = anyio.Event()
        self.go = anyio.Event()
        self.padding = ""

    async def recall(self, query: recall.RecallQuery) -> recall.RecallOutcome:
        self.queries.append(query)
        if query.text == "wait":
            self.waiting += 1
            self.has_waiting.set()
            self.has_waiting = anyio.Event()
            await self.go.wait()
        if query.text == "crash":
            raise ZeroDivisionError
        if query.text == "refuse":
            message = "the store cannot be read"
            raise RecalldError(ErrorCode.STORAGE_UNAVAILABLE, message)
        found = [memory for memory in self.stored.get(query.user, []) if query.text in memory.text]
        evidence = recall.Evidence(cosine=0.5, logit=2.0)
        items = tuple(recall.RecalledItem(memory=memory, evidence=evidence, relevance=0.9) for memory in found)
        return recall.RecallOutcome(
            recall_id="rec_1",
            decision=RecallDecision.INJECT if items else RecallDecision.SILENT,
            mode=RecallMode.GATED,
            reason=RecallReason.RELEVANT if items else RecallReason.NO_CANDIDATES,
            items=items,
            coverage=recall.Coverage(discovered=len(found), searched=len(found)),
            gate=recall.GateReport(threshold=0.02),
            timings=recall.RecallTimings(),
            degraded_detail=self.padding,
        )

    async def remember(self, request: admission.RememberRequest) -> admission.RememberReply:
        self.saves.append(request)
        await anyio.lowlevel.checkpoint()
        memory = make_memory(f"mem_{len(self.saves)}", request.memory)
        self.stored.setdefault(memory.user, []).append(memory)
        return admission.RememberReply(
            memory=memory, outcome=RememberOutcome.CREATED, decision_id="dec_1", is_embedded=True
        )

    async def observe(self, turn: admission.ObservedTurn) -> admission.ObserveReply:
        self.turns.append(turn)
        return admission.ObserveReply(decision_id="dec_2")

    async def confirm(self, request: admission.ConfirmRequest) -> admission.ConfirmReply:
        self.answers.append(request)
        if request.proposal_id == "obs_2":
            raise RecalldError(ErrorCode.FORBIDDEN, "proposal_id: 'obs_2' is its proposer's")
        return admission.ConfirmReply(proposal=make_proposal(1, request.user), decision_id="cfm_1")

    async def proposals(
        self, user: str, state: admission_store.ProposalState | None, *, limit: int, cursor: str | None
    ) -> admission_store.ProposalPage:
        self.pages.append((user, state, limit, cursor))
        found = tuple(make_proposal(number, user, self.padding) for number in range(limit))
        return admission_store.ProposalPage(proposals=found, cursor="next", total=1_000)

    async def observations(self, user: str, *, limit: int, cursor: str | None) -> admission_store.ObservationPage:
        self.pages.append((user, None, limit, cursor))
        found = tuple(make_observation(number, user, self.padding) for number in range(limit))
        return admission_store.ObservationPage(observations=found, cursor=None, total=limit)

    async def lineage(self, user: str, memory_id: str) -> admission_store.Lineage:
        memory = await self.get(user, memory_id)
        evidence = tuple(
            admission_store.Evidence(
                turn_id=f"t{number}",
                at_ms=number,
                generator=Generator.RULE,
                rule="employer/works-at",
                reason=AdmissionReason.STATED,
                quote="I work at Initech",
            )
            for number in range(300)
        )
        return admission_store.Lineage(memory=memory, evidence=evidence, supersedes=(memory,) * 30, slot="employer")

    async def settle(self, request: admission.SettleRequest) -> admission.SettleReply:
        self.settled.append(request)
        return admission.SettleReply(observation=make_observation(1, request.user), decision_id="cfm_2")

    async def export(self, user: str, *, limit: int, cursor: str | None, is_waiting_only: bool) -> user_data.ExportPage:
        self.exports.append((user, limit, cursor, is_waiting_only))
        observations = tuple(make_observation(number, user, self.padding) for number in range(limit))
        return user_data.ExportPage(
            observations=tuple(
                user_data.PortableObservation(
                    observation=each,
                    fact=user_data.PortableFact(memory=records.NewMemory(user=user, text=each.text)),
                )
                for each in observations
            ),
            cursor="next",
        )

    async def import_records(self, request: user_data.ImportRequest) -> user_data.ImportReply:
        self.imports.append(request)
        outcome = user_data.ImportOutcome.IMPORTED
        lines = user_data.MemoriesImported(
            lines=tuple(
                user_data.ImportLine(memory_id=each.memory.id or "mem_new", outcome=outcome)
                for each in request.memories
            ),
            observations=tuple(
                user_data.ImportLine(memory_id=each.observation.id, outcome=outcome) for each in request.observations
            ),
            proposals=tuple(
                user_data.ImportLine(memory_id=each.proposal.id, outcome=outcome) for each in request.proposals
            ),
        )
        return user_data.ImportReply(imported=lines, decision_id="adm_2")

    async def purge_user(self, request: user_data.PurgeRequest) -> user_data.UserPurged:
        self.purges.append(request)
        return user_data.UserPurged(memories=3, observations=2, proposals=1)

    async def forget(self, request: admission.ForgetRequest) -> admission.ForgetReply:
        self.forgets.append(request)
        gone = tuple(memory for memory in self.stored.get(request.user, []) if memory.id in request.ids)
        return admission.ForgetReply(memories=gone, tombstones=len(gone), is_dry_run=request.is_dry_run)

    async def get(self, user: str, memory_id: str) -> records.Memory:
        for memory in self.stored.get(user, []):
            if memory.id == memory_id:
                return memory
        message = f"no memory {memory_id}"
        raise RecalldError(ErrorCode.NOT_FOUND, message)

    async def list_memories(
        self, user: str, what: store.ListFilter, *, limit: int, cursor: str | None
    ) -> store.MemoryPage:
        memories = self.stored.get(user, [])
        start = int(cursor or 0)
        end = start + limit
        return store.MemoryPage(
            memories=tuple(memories[start:end]),
            cursor=str(end) if end < len(memories) else None,
            total=len(memories),
        )

    async def update(self, request: cues.UpdateRequest) -> cues.UpdateReply:
        self.updates.append(request)
        memory = await self.get(request.user, request.memory_id)
        return cues.UpdateReply(memory=memory, decision_id="upd_1", is_embedded=False)

    async def backfill(self, request: cues.BackfillRequest) -> cues.BackfillReply:
        self.backfills.append(request)
        return cues.BackfillReply(
            updated=2,
            refusals={"no_asks": 1},
            failures={"timeout": 2},
            remaining=7,
            end=cues.BackfillEnd.LIMIT,
            cursor="next",
        )

    async def decide(self, request: decide.DecideRequest) -> decision.Decision:
        self.decides.append(request)
        return decision.Decision(
            decision=decision.GateDecision.SKIP,
            op=request.op,
            profile=request.profile or "default",
            policy_version="v",
            reason_code=decision.DecideReason.NO_CLAIMS,
            reason="Nothing.",
            decided_by="claims",
            decision_id="dec_9",
            evidence=decision.DecideEvidence(
                candidates=(decision.JudgedCandidate(id="a", reason=decision.CandidateReason.TOO_OLD),)
            ),
        )

    async def explain(self, user: str, decision_id: str) -> store.DecisionRow:
        return store.DecisionRow(
            id=decision_id, user=user, session="s", op=Op.RECALL, at_ms=1, decision="silent", reason="gated"
        )

    async def session(self, user: str, session: str, event: admission.SessionEvent) -> None:
        self.sessions.append((user, session, event))

    async def standing(self, request: standing.StandingRequest) -> standing.StandingBlock:
        self.blocks.append(request)
        memories = tuple(self.stored.get(request.user, []))
        reason = standing.StandingReason.GIVEN if memories else standing.StandingReason.NOTHING_STANDING
        rows = tuple(
            standing.StandingRow(
                candidate=standing.StandingCandidate(memory=memory),
                usefulness=0.5,
                value=2.0,
                words=4,
                verdict=standing.StandingVerdict.SHOWN,
            )
            for memory in memories
        )
        return standing.StandingBlock(decision_id="std_1", reason=reason, memories=memories, rows=rows)

    async def note_audit(self, *, deadline_s: float) -> None:
        self.audits += 1

    async def samples(
        self, user: str, kinds: tuple[audit_samples.SampleKind, ...], *, is_marked: bool, limit: int
    ) -> audit_samples.ShownSamples:
        found = [each for each in self.kept_samples if (not kinds or each.kind in kinds)]
        found = [each for each in found if (each.answer is not None) == is_marked]
        page = audit_samples.SamplePage(samples=tuple(found[:limit]), left=len(found[limit:]))
        return audit_samples.ShownSamples(
            page=page, memories={memory.id: memory for memory in self.stored.get(user, [])}
        )

    async def mark_sample(self, command: audit_samples.MarkSample, *, deadline_s: float) -> None:
        self.marks.append(command)

    async def set_standing(
        self, user: str, memory_id: str, action: standing.StandingAction, *, deadline_s: float
    ) -> standing.StandingSet:
        self.choices.append((user, memory_id, action))
        return standing.StandingSet(
            choice=standing.StandingChoice.PINNED,
            is_standing=True,
            is_changed=True,
            decision_id=f"sts_{len(self.choices)}",
        )

    async def record_outcome(self, report: outcomes.OutcomeReport) -> None:
        self.reports.append(report)

    async def outcomes_of_memory(self, user: str, memory_id: str, *, limit: int) -> standing.MemoryOutcomes:
        return standing.MemoryOutcomes(tally=outcomes.OutcomeTally(used=1), choice=standing.StandingChoice.DEMOTED)

    async def outcomes_of_decision(self, user: str, decision_id: str, *, limit: int) -> standing.MemoryOutcomes:
        report = outcomes.ReportedOutcome(
            decision_id=decision_id, memory_id="mem_1", result=outcomes.OutcomeResult.IGNORED, at_ms=5
        )
        return standing.MemoryOutcomes(tally=outcomes.OutcomeTally(ignored=1), newest=(report,))

    async def health(self, *, is_deep: bool) -> health.HealthReport:
        return make_health(is_deep=is_deep)

    async def stats(self, query: health.StatsQuery) -> health.Stats:
        self.stats_queries.append(query)
        return health.Stats(uptime_s=1.0, counters={"recalls": len(self.queries)}, latencies_ms={"total_p50": 1.5})

    def subscribe(self, names: frozenset[EventName], user: str | None) -> FakeStream:
        stream = FakeStream(names, user)
        self.streams.append(stream)
        return stream


def make_memory(memory_id: str, new: records.NewMemory) -> records.Memory:
    return records.Memory(
        id=memory_id,
        user=new.user,
        text=new.text,
        kind=new.kind,
        scope=new.scope,
        cues=new.cues,
        asks=new.asks,
        source=new.source,
        status=records.MemoryStatus.ACTIVE,
        created_at_ms=1_799_999_999_000,
        updated_at_ms=1_799_999_999_000,
        expires_at_ms=new.expires_at_ms,
        revision=1,
    )


def make_proposal(number: int, user: str, padding: str = "") -> admission_store.Proposal:
    return admission_store.Proposal(
        id=f"obs_{number}",
        user=user,
        session="s",
        text=f"The user wants metric units.{padding}",
        kind=records.MemoryKind.PREFERENCE,
        slot="units",
        reason=AdmissionReason.NEEDS_CONFIRMATION,
        created_at_ms=1,
        expires_at_ms=2,
        proposer="example",
        accepted_text="Metric.",
    )


def make_observation(number: int, user: str, padding: str = "") -> admission_store.Observation:
    return admission_store.Observation(
        id=f"obs_{number}",
        user=user,
        text=f"The user cycles to work.{padding}",
        kind=records.MemoryKind.FACT,
        turns=2,
        sessions=2,
        first_at_ms=1,
        last_at_ms=2,
    )


def make_health(*, is_deep: bool) -> health.HealthReport:
    model = health.ModelHealth(state=health.ModelState.READY, model_id="m")
    return health.HealthReport(
        version="9",
        pid=1,
        uptime_s=1.0,
        is_draining=False,
        store=store.StoreHealth(
            is_readable=True,
            is_writable=True,
            schema_version=1,
            users=1,
            live=1,
            blank=0,
            fts_rows=1,
            fts_matches=True,
            pending_embedding=0,
            other_embedder=0,
            db_bytes=1,
            wal_bytes=0,
        ),
        scorer=model,
        embedder=model,
        breaker=health.BreakerState.CLOSED,
        gate_mode="on",
        calibration_id="c",
        calibration_matches=True,
        calibration_detail="",
        probe=health.GateProbe(is_ok=True, relevant=0.9, irrelevant=0.01) if is_deep else None,
        window_s=60.0,
        window_recalls=0,
        window_degraded={},
        actors_active=0,
        actor_restarts=0,
        queue_depth=0,
        ledger_rows_dropped=0,
        rss_bytes=1,
        open_fds=1,
    )


class RawClient:
    """A peer that can misbehave: bytes out, replies in."""

    def __init__(self, stream: UnixStream) -> None:
        self.stream = stream
        self._frames = FrameReader()

    async def send(self, request: Request) -> None:
        await self.stream.send(encode_message(request))

    async def receive(self) -> Reply:
        """The next reply; raises `EndOfStream` when the server closes."""
        with anyio.fail_after(WAIT_S):
            while True:
                event = self._frames.next_event()
                if isinstance(event, Frame):
                    return decode_reply(event.body)
                data = await self._receive_bytes()
                if not data:
                    raise anyio.EndOfStream
                self._frames.receive(data)

    async def _receive_bytes(self) -> bytes:
        try:
            return await self.stream.receive()
        except ConnectionResetError:  # the server closed with bytes of ours unread
            return b""

    async def receive_end(self) -> None:
        """Read until the server closes."""
        with contextlib.suppress(anyio.EndOfStream):
            while True:
                await self.receive()


class Running:
    """A running gateway and ways to reach it."""

    def __init__(
        self, path: Path, gateway: Gateway, service: FakeService, counters: GatewayCounters, lent: LentModels
    ) -> None:
        self.path, self.gateway, self.service, self.counters, self.lent = path, gateway, service, counters, lent

    @contextlib.asynccontextmanager
    async def raw(self) -> AsyncIterator[RawClient]:
        with await UnixStream.connect(str(self.path)) as stream:
            yield RawClient(stream)

    @contextlib.asynccontextmanager
    async def greeted(self) -> AsyncIterator[RawClient]:
        async with self.raw() as client:
            await client.send(requests.Hello(id=1))
            await client.receive()
            yield client

    async def until(self, condition: Callable[[], bool]) -> None:
        """Let the loop turn until something holds."""
        with anyio.fail_after(WAIT_S):
            while not condition():
                await anyio.lowlevel.checkpoint()


StartGateway = Callable[..., AbstractAsyncContextManager[Running]]


@contextlib.asynccontextmanager
async def run_gateway(
    path: Path, *, policy: AccessPolicy | None = None, limits: GatewayLimits | None = None
) -> AsyncIterator[Running]:
    """Serve a fake service on a socket at `path`."""
    service, counters = FakeService(), GatewayCounters()
    policy = policy if policy is not None else AccessPolicy(own_uid=os.geteuid())
    lent = LentModels(policy=policy, clock=WallClock(), counters=counters, limits=limits)
    gateway = Gateway(
        listener=bind_listener(path),
        service=service,
        policy=policy,
        lent_models=lent,
        clock=WallClock(),
        counters=counters,
        version="9.9",
        limits=limits,
    )
    async with anyio.create_task_group() as tasks:
        await tasks.start(gateway.serve)
        try:
            yield Running(path, gateway, service, counters, lent)
        finally:
            tasks.cancel_scope.cancel()
