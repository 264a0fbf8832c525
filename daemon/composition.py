"""The composition root: which real parts the actors are made of, and who is started in which order."""

from __future__ import annotations

import random
import secrets
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial

import anyio.abc

from recalld.actors.admission import AdmissionActor, AdmissionDependencies, AdmissionOptions, AdmitCandidates
from recalld.actors.admission.embedding_judge import EmbeddingJudge
from recalld.actors.admission.intake import NoIntake, StoreIntake, TurnIntake
from recalld.actors.admission.judging import NoJudge, SentenceJudge
from recalld.actors.asking import as_operating_error
from recalld.actors.decide import DecideDependencies, Decider
from recalld.actors.directory import Directory, ResidencyLimits
from recalld.actors.embedder import EmbedderActor, EmbedderLimits, EmbedderMessage
from recalld.actors.events import EventBus, EventLevel
from recalld.actors.extraction.actor import ExtractionActor
from recalld.actors.extraction.dependencies import Admit, ExtractionDependencies
from recalld.actors.extraction.messages import ExtractionMessage
from recalld.actors.inference_thread.factory import ThreadFactory, inference_threads
from recalld.actors.inference_thread.model_host import ModelNotice, NoticeKind
from recalld.actors.inference_thread.spec import model_actor_spec
from recalld.actors.kernel import ActorSpec, Address, AskError, Supervisor
from recalld.actors.kernel.bounds import (
    EMBEDDER_MAILBOX_MAX,
    EXTRACTION_MAILBOX_MAX,
    MAINTENANCE_MAILBOX_MAX,
    SCORER_MAILBOX_MAX,
    SUPERVISOR_MAILBOX_MAX,
)
from recalld.actors.maintenance import EmbedPending, MaintenanceActor, MaintenanceMessage, Upkeep
from recalld.actors.ports import (
    Clock,
    IdSource,
    MemoryReader,
    MemoryWriter,
    PairScorer,
    RuntimeModel,
    TextEmbedder,
    WorldProbe,
)
from recalld.actors.recall import (
    GateCalibration,
    HostTextWatch,
    RecallActor,
    RecallDependencies,
    RecallLimits,
    RecallState,
    RecallTurns,
    StandingLimits,
    TurnGateOptions,
)
from recalld.actors.runtime_model import NoRuntimeModel
from recalld.actors.sampling.sampler import Sampler
from recalld.actors.scorer import ScorerActor, ScorerLimits, ScorerMessage
from recalld.actors.store import Ledger, StoreMessage, store_spec
from recalld.actors.supervisor import Conditions, GateGuard, SupervisorActor, SupervisorMessage
from recalld.actors.text_work import TextWork, ThreadedTextWork
from recalld.daemon.admission_judge import JudgeInForce
from recalld.daemon.auditing import AuditDesk, sampling_spec
from recalld.daemon.clock import SystemClock
from recalld.daemon.config import Settings
from recalld.daemon.config.settings import AdmissionSettings, TurnGateSection
from recalld.daemon.drift import drift_desk, drift_spec
from recalld.daemon.extraction.configuring import debounce_rules, extraction_source
from recalld.daemon.faults import BreakableScorer
from recalld.daemon.probes.local import LocalProbe
from recalld.daemon.service import LocalMemoryService, ServiceParts
from recalld.models.domain.admission import ObservedTurn, ObserveReply
from recalld.models.domain.admission_store import AdmissionLimits
from recalld.models.domain.events import Event, EventName
from recalld.models.domain.position import Position
from recalld.models.domain.shadow import WriteMode
from recalld.models.inference.cores import usable_cores
from recalld.models.policy.breaker import BreakerPolicy
from recalld.models.policy.cost_model import CostModel
from recalld.models.policy.drift.watch import DriftContext
from recalld.models.policy.enrichment import prepare_enrichment
from recalld.models.policy.gazetteer import gazetteer
from recalld.models.policy.query_reading import prepare_reading
from recalld.models.policy.turn.directions import Directions, GateAnswer
from recalld.models.policy.turn_gate import TurnGateSettings
from recalld.models.policy.turn_warmup import prepare_turns

DRAIN_ORDER = (
    "drift",
    "extraction",
    "recall",
    "admission",
    "sampling",
    "maintenance",
    "scorer",
    "embedder",
    "supervisor",
    "store",
)
"""What only looks on first; then extraction, which hands turns to users' actors; then those, so that what they still
hold finds everything below them; the store last."""
DAY_MS = 86_400_000
EMBEDDER_LANES_MAX = 2
"""A query is embedded twice, with and without its prefix: at the same time where there are two cores."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ModelParts:
    """The models and the threads they run on.

    Attributes:
        load_scorer: Loads the cross-encoder, in the scorer's thread.
        load_embedder: Loads the bi-encoder, in the embedder's thread.
        make_threads: From a thread's name and its number of lanes to a factory of such threads.
        lanes: Pairs scored at the same time.
    """

    load_scorer: Callable[[], PairScorer]
    load_embedder: Callable[[], TextEmbedder]
    make_threads: Callable[[str, int], ThreadFactory]
    lanes: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Parts:
    """What is made outside: the store's two sides, the models, time, chance, events and calibration."""

    settings: Settings
    reader: MemoryReader
    writer: MemoryWriter
    models: ModelParts
    clock: Clock
    ids: IdSource
    rng: random.Random
    events: EventBus
    calibration: GateCalibration
    embedder_key: str
    version: str
    drift: DriftContext = field(default_factory=DriftContext)
    """What scores are compared with."""
    text_work: TextWork = field(default_factory=ThreadedTextWork)
    runtime_model: RuntimeModel = field(default_factory=NoRuntimeModel)
    judge: SentenceJudge = field(default_factory=NoJudge)
    """Finds facts in sentences of observed turns that no rule reads; used where `judging` brings none."""
    judging: JudgeInForce = field(default_factory=JudgeInForce)
    probe: WorldProbe = field(default_factory=lambda: LocalProbe(SystemClock()))
    """Looks at files in threads, which no clock but the system's can hurry."""
    cursor_key: bytes = field(default_factory=partial(secrets.token_bytes, 32), repr=False)
    """Keys the cursors of sweeps; one that is kept with the database outlives a restart."""
    when_prepared: Callable[[], None] = lambda: None
    """Called on the event loop once all that is loaded for good is there, but for the models."""


def real_models(settings: Settings, clock: Clock) -> ModelParts:
    """The configured models, on threads of their own: a lane a usable core, and no more than two for the embedder."""

    def load_embedder() -> TextEmbedder:
        from recalld.models.inference.loading import load_bi_encoder  # noqa: PLC0415 - the runtime's library is large

        return load_bi_encoder(settings.models.dir, settings.models.embedder)

    def load_scorer() -> PairScorer:
        from recalld.models.inference.loading import load_cross_encoder  # noqa: PLC0415 - as above

        scorer = load_cross_encoder(settings.models.dir, settings.models.cross_encoder)
        if settings.debug.fault_injection:
            return BreakableScorer(scorer, settings.storage.data_dir)
        return scorer

    return ModelParts(
        load_scorer=load_scorer,
        load_embedder=load_embedder,
        make_threads=lambda name, lanes: inference_threads(name=name, lanes=lanes, clock=clock),
        lanes=settings.models.lanes or usable_cores(),
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class Running:
    """The started actors, and the service in front of them."""

    service: LocalMemoryService
    directory: Directory
    store: Address[StoreMessage]
    scorer: Address[ScorerMessage]
    embedder: Address[EmbedderMessage]
    maintenance: Address[MaintenanceMessage]
    root: Address[SupervisorMessage]
    ledger: Ledger


def start_actors(parts: Parts, supervisor: Supervisor, tasks: anyio.abc.TaskGroup) -> Running:
    """Start every shared actor; users' actors follow on demand.

    Args:
        parts: What they are made of.
        supervisor: Runs them.
        tasks: For what must not hold up a request: putting users to rest.
    """
    settings, clock, events = parts.settings, parts.clock, parts.events
    # Now, because the first recall would hold up all others meanwhile.
    prepare_reading()
    gazetteer()
    cost = CostModel()
    guard = GateGuard(
        BreakerPolicy(failures_max=settings.events.breaker_failures, open_s=settings.events.breaker_open_s), clock
    )
    conditions = Conditions()
    turns = RecallTurns(clock)
    ledger = Ledger(events, clock)
    store = supervisor.start(store_spec(parts.writer, ledger.note_dropped))
    ledger.attach(store)
    root: Address[SupervisorMessage] = supervisor.start(_supervisor_spec(parts, guard, conditions))
    announce = _Announcer(events, clock)
    embedder: Address[EmbedderMessage] = supervisor.start(_embedder_spec(parts, announce))
    scorer: Address[ScorerMessage] = supervisor.start(_scorer_spec(parts, announce, cost))
    extraction = _extraction(parts, supervisor, store, conditions, lambda turn: _admit_extracted(directory, turn))
    admission = AdmissionDependencies(
        clock=clock,
        ids=parts.ids,
        reader=parts.reader,
        store=store,
        embedder=embedder,
        events=events,
        text_work=parts.text_work,
        runtime_model=parts.runtime_model,
        is_enriching=settings.write.enrich,
        options=admission_options(settings.admission, parts.judging),
        intake=_intake(parts, store, extraction),
        judge=_judge(parts, embedder) if settings.admission.judge else NoJudge(),
    )
    # Nobody has to wait for these to connect; by the time that the models are there, they are done.
    tasks.start_soon(_prepare_writing, parts)
    maintenance: Address[MaintenanceMessage] = supervisor.start(_maintenance_spec(parts, admission))
    announce.on_embedder_ready = lambda: maintenance.post(EmbedPending())
    recall = RecallDependencies(
        clock=clock,
        ids=parts.ids,
        reader=parts.reader,
        embedder=embedder,
        scorer=scorer,
        cost=cost,
        guard=guard,
        text_work=parts.text_work,
        turns=turns,
        supervisor=root,
        events=events,
        ledger=ledger.append,
        calibration=parts.calibration,
        limits=recall_limits(settings, parts.models.lanes, parts.calibration),
        host_text=HostTextWatch(
            events=events,
            clock=clock,
            cooldown_s=settings.events.degraded_cooldown_s,
            counters=conditions.counters,
        ),
        turn_gate=turn_gate_options(settings.recall.turn_gate),
        standing=_standing_limits(settings),
        runtime_model=parts.runtime_model,
    )
    directory = Directory(
        supervisor=supervisor,
        tasks=tasks,
        clock=clock,
        limits=_residency_limits(settings),
        build_recall=partial(_build_recall, recall),
        build_admission=lambda _user, recall_actor: AdmissionActor(admission, recall_actor),
    )
    drift = drift_desk(settings, parts.drift, reader=parts.reader, clock=clock, text_work=parts.text_work)
    if settings.drift.enabled:
        supervisor.start(drift_spec(settings, drift, events=events, counters=conditions.counters))
    sampling = None
    if settings.audit.sample_rate > 0.0:
        sampling = supervisor.start(
            sampling_spec(
                settings,
                store,
                clock=clock,
                text_work=parts.text_work,
                counters=conditions.counters,
                key=parts.cursor_key,
            )
        )
    service = LocalMemoryService(
        ServiceParts(
            clock=clock,
            ids=parts.ids,
            reader=parts.reader,
            store=store,
            scorer=scorer,
            embedder=embedder,
            directory=directory,
            supervisor=supervisor,
            guard=guard,
            turns=turns,
            conditions=conditions,
            events=events,
            ledger=ledger,
            extraction=extraction,
            decider=_decider(parts, ledger, conditions, recall.turn_gate),
            calibration=parts.calibration,
            drift=drift,
            sampler=Sampler(sampling, clock=clock, counters=conditions.counters),
            audits=AuditDesk(reader=parts.reader, store=store, clock=clock),
            embedder_key=parts.embedder_key,
            scorer_model_id=settings.models.cross_encoder,
            embedder_model_id=settings.models.embedder,
            is_gate_on=settings.recall.gate == "on",
            promote_window_ms=admission.options.limits.promote_window_ms,
            version=parts.version,
            started_s=clock.monotonic_s(),
        )
    )
    return Running(
        service=service,
        directory=directory,
        store=store,
        scorer=scorer,
        embedder=embedder,
        maintenance=maintenance,
        root=root,
        ledger=ledger,
    )


async def _prepare_writing(parts: Parts) -> None:
    """Load what the first save would wait for, and then what the first observed turn would."""
    await parts.text_work.run_apart(prepare_enrichment)
    await parts.text_work.run_apart(prepare_turns)
    parts.when_prepared()


def _supervisor_spec(parts: Parts, guard: GateGuard, conditions: Conditions) -> ActorSpec[SupervisorMessage]:
    return ActorSpec(
        name="supervisor",
        build=lambda: SupervisorActor(
            events=parts.events,
            clock=parts.clock,
            guard=guard,
            conditions=conditions,
            cooldown_s=parts.settings.events.degraded_cooldown_s,
        ),
        mailbox_max=SUPERVISOR_MAILBOX_MAX,
    )


def _embedder_spec(parts: Parts, announce: _Announcer) -> ActorSpec[EmbedderMessage]:
    lanes = min(EMBEDDER_LANES_MAX, parts.models.lanes)
    return model_actor_spec(
        name="embedder",
        build=lambda: EmbedderActor(
            load=parts.models.load_embedder,
            make_thread=parts.models.make_threads("recalld-embedder", lanes),
            rng=parts.rng,
            on_notice=announce,
            limits=EmbedderLimits(lanes=lanes),
        ),
        mailbox_max=EMBEDDER_MAILBOX_MAX,
    )


def _scorer_spec(parts: Parts, announce: _Announcer, cost: CostModel) -> ActorSpec[ScorerMessage]:
    lanes = parts.models.lanes
    return model_actor_spec(
        name="scorer",
        build=lambda: ScorerActor(
            load=parts.models.load_scorer,
            make_thread=parts.models.make_threads("recalld-scorer", lanes),
            cost=cost,
            rng=parts.rng,
            on_notice=announce,
            limits=ScorerLimits(lanes=lanes),
        ),
        mailbox_max=SCORER_MAILBOX_MAX,
    )


def _maintenance_spec(parts: Parts, admission: AdmissionDependencies) -> ActorSpec[MaintenanceMessage]:
    # Supervised like a model: what users do not see must never end the daemon, however often it fails.
    return model_actor_spec(
        name="maintenance",
        build=lambda: MaintenanceActor(
            admission,
            embedder_key=parts.embedder_key,
            upkeep=Upkeep(
                ledger_keep_ms=round(parts.settings.storage.ledger_days * DAY_MS),
                samples_keep_ms=round(parts.settings.audit.retention_days * DAY_MS),
            ),
        ),
        mailbox_max=MAINTENANCE_MAILBOX_MAX,
    )


def _extraction(
    parts: Parts, supervisor: Supervisor, store: Address[StoreMessage], conditions: Conditions, admit: Admit
) -> Address[ExtractionMessage] | None:
    """The extraction actor; None unless a model gate is configured: then nothing waits and nothing is sent."""
    configured = parts.settings.admission
    if configured.model_gate == "off" or not configured.enabled:
        return None
    deps = ExtractionDependencies(
        clock=parts.clock,
        reader=parts.reader,
        store=store,
        source=extraction_source(configured, parts.runtime_model, parts.clock),
        admit=admit,
        counters=conditions.counters,
        rules=debounce_rules(configured.extraction),
        is_clients_model=configured.model_gate == "runtime",
    )
    # Supervised like a model: what users do not see must never end the daemon, however often it fails.
    spec = model_actor_spec(name="extraction", build=lambda: ExtractionActor(deps), mailbox_max=EXTRACTION_MAILBOX_MAX)
    return supervisor.start(spec)


def _intake(parts: Parts, store: Address[StoreMessage], extraction: Address[ExtractionMessage] | None) -> TurnIntake:
    if extraction is None:
        return NoIntake()
    pending_max = parts.settings.admission.extraction.pending_max
    return StoreIntake(store, extraction, parts.clock, pending_max=pending_max)


async def _admit_extracted(directory: Directory, turn: ObservedTurn) -> ObserveReply:
    """Have the admission actor of a turn's user decide about what a model found in it."""
    with directory.actors_of(turn.user) as actors:
        try:
            return await actors.admission.ask(
                lambda reply: AdmitCandidates(turn=turn, reply=reply), deadline_s=turn.deadline_s
            )
        except AskError as error:
            raise as_operating_error(error, "the user's admission actor") from error


def _decider(parts: Parts, ledger: Ledger, conditions: Conditions, turn_gate: TurnGateOptions) -> Decider:
    return Decider(
        DecideDependencies(
            clock=parts.clock,
            ids=parts.ids,
            reader=parts.reader,
            text_work=parts.text_work,
            runtime_model=parts.runtime_model,
            probe=parts.probe,
            events=parts.events,
            ledger=ledger.append,
            counters=conditions.counters,
            turn_settings=turn_gate.settings,
            cursor_key=parts.cursor_key,
            cooldown_s=parts.settings.events.degraded_cooldown_s,
        )
    )


def _residency_limits(settings: Settings) -> ResidencyLimits:
    return ResidencyLimits(
        residents_max=settings.actors.users_active_max,
        index_bytes_max=settings.actors.index_bytes_max,
        idle_s=settings.actors.passivate_after_s,
    )


def _build_recall(deps: RecallDependencies, user: str, state: RecallState) -> RecallActor:
    return RecallActor(user, state, deps)


def _judge(parts: Parts, embedder: Address[EmbedderMessage]) -> SentenceJudge:
    """The judge in force over the running embedder, or the one that was given."""
    record, judge = parts.judging.record, parts.judging.judge
    if record is None or judge is None:
        return parts.judge
    return EmbeddingJudge(
        embedder=embedder,
        text_work=parts.text_work,
        judge=judge,
        thresholds=record.thresholds,
        embedder_key=record.embedder_key,
        record_id=record.id,
    )


def _judge_records_from(position: Position, judging: JudgeInForce) -> float | None:
    """The log-odds from which the judge's find is a record: where few may be wrong, only what it is sure of."""
    if judging.record is None:
        return None
    thresholds = judging.record.thresholds
    return thresholds.strict if position is Position.STRICT else thresholds.balanced


def admission_options(configured: AdmissionSettings, judging: JudgeInForce) -> AdmissionOptions:
    """The write path as configured, with the judge that is in force."""
    is_shadow = configured.mode is WriteMode.SHADOW
    return AdmissionOptions(
        judge_strict=_judge_records_from(configured.position, judging),
        position=configured.position,
        is_on=configured.enabled,
        has_rules=configured.rules,
        is_shadow=is_shadow,
        limits=AdmissionLimits(
            is_shadow=is_shadow,
            promote_after=configured.promote_after,
            promote_sessions=configured.promote_sessions,
            promote_window_ms=round(configured.promote_window_days * DAY_MS),
            proposals_per_session=configured.proposals_per_session,
            proposals_max=configured.proposals_max,
            proposal_ttl_ms=round(configured.proposal_ttl_days * DAY_MS),
            records_max=configured.records_max,
            chars_max=configured.chars_max,
        ),
    )


def recall_limits(settings: Settings, lanes: int, calibration: GateCalibration) -> RecallLimits:
    """The bounds of a recall, as configured, and as few candidates as the calibration was fitted to judge.

    Args:
        settings: In force.
        lanes: Pairs scored at the same time.
        calibration: In force.
    """
    recall = settings.recall
    fitted_max = calibration.model.candidates_max
    return RecallLimits(
        gate_ms=recall.gate_ms,
        max_items=recall.max_items,
        max_chars=recall.max_chars,
        degraded_max_items=recall.degraded_max_items,
        candidates_max=min(recall.candidates_max, fitted_max or recall.candidates_max),
        lexical_limit=recall.lexical_limit,
        vector_limit=recall.vector_limit,
        is_gate_on=recall.gate == "on",
        lanes=lanes,
        reserve_ms=recall.reserve_ms,
        mode=recall.mode,
    )


def _standing_limits(settings: Settings) -> StandingLimits:
    standing = settings.standing
    return StandingLimits(
        is_on=standing.enabled,
        max_chars=standing.max_chars,
        max_lines=standing.max_lines,
        value_min=standing.value_min,
        error_cost_words=standing.error_cost_words,
    )


def turn_gate_options(configured: TurnGateSection) -> TurnGateOptions:
    """The turn gate, as configured."""
    return TurnGateOptions(
        is_enabled=configured.enabled,
        settings=TurnGateSettings(
            line_markers=configured.line_markers,
            cues_off=frozenset(configured.cues_off),
            directions=Directions(
                on_weak=GateAnswer(configured.on_weak),
                on_error=GateAnswer(configured.on_error),
                on_timeout=GateAnswer(configured.on_timeout),
                on_missing_input=GateAnswer(configured.on_missing_input),
                on_budget=GateAnswer(configured.on_budget),
            ),
        ),
        is_model_on=configured.model == "on",
        model_ms=configured.model_ms,
    )


class _Announcer:
    """Turns news of hosted models into events, and tells maintenance when the embedder is there."""

    def __init__(self, events: EventBus, clock: Clock) -> None:
        self._events = events
        self._clock = clock
        self.on_embedder_ready: Callable[[], object] = lambda: None

    def __call__(self, notice: ModelNotice) -> None:
        is_good = notice.kind in {NoticeKind.READY, NoticeKind.PING_RECOVERED}
        self._events.publish(
            Event(
                name=EventName.MODEL_READY if is_good else EventName.MODEL_UNAVAILABLE,
                at_ms=self._clock.now_ms(),
                fields={"actor": notice.actor, "kind": notice.kind, "detail": notice.detail},
            ),
            EventLevel.INFO if is_good else EventLevel.WARNING,
        )
        if notice.kind is NoticeKind.READY and notice.actor == "embedder":
            self.on_embedder_ready()
