"""The daemon without socket and files, in virtual time: the real composition over fakes that can be broken."""

from __future__ import annotations

import random
import re
import zlib
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypedDict, Unpack

import anyio
import anyio.abc
import numpy as np
from fake_models import FakeEmbedder, FakeScorer
from faulty_store import FaultyReader, FaultyWriter, Trouble
from numpy.typing import NDArray
from scripted_actor import Watched
from virtual_thread import ThreadScript, VirtualThread
from virtual_time import LoopClock

from recalld.actors.admission.judging import NoJudge, SentenceJudge
from recalld.actors.events import EventBus, EventLevel
from recalld.actors.inference_thread.call import Delivery
from recalld.actors.inference_thread.factory import ThreadFactory
from recalld.actors.kernel import Supervisor
from recalld.actors.ports import RuntimeModel
from recalld.actors.recall import GateCalibration
from recalld.actors.runtime_model import NoRuntimeModel
from recalld.actors.store import InMemoryStore
from recalld.actors.text_work import ImmediateTextWork, TextWork
from recalld.daemon.app import FailureRelay
from recalld.daemon.composition import DRAIN_ORDER, ModelParts, Parts, Running, start_actors
from recalld.daemon.config import Settings
from recalld.daemon.config.settings import (
    ActorsSettings,
    AdmissionSettings,
    AuditSettings,
    DriftSettings,
    EventsSettings,
    ModelsSettings,
    RecallSettings,
    ServerSettings,
    StandingSettings,
    StorageSettings,
    WriteSettings,
)
from recalld.daemon.service import LocalMemoryService
from recalld.models.domain.admission import (
    ConfirmReply,
    ConfirmRequest,
    ForgetReply,
    ForgetRequest,
    ObservedTurn,
    ObserveReply,
    OfferedFact,
    RememberReply,
    RememberRequest,
    Speaker,
)
from recalld.models.domain.errors import ErrorCode, RecalldError
from recalld.models.domain.events import Event, EventName
from recalld.models.domain.outcomes import OutcomeReport, OutcomeResult
from recalld.models.domain.recall import RecallOutcome, RecallQuery, TimeUse
from recalld.models.domain.records import MemoryKind, NewMemory
from recalld.models.domain.standing import StandingAction, StandingBlock, StandingRequest, StandingSet
from recalld.models.domain.turn_parts import MessagePart
from recalld.models.policy.floor import FloorValues
from recalld.models.policy.relevance import uncalibrated

DIMS = 64
EMBEDDER_KEY = "fake-embedder"
FLOOR = 0.3
THRESHOLD = 0.02
SETTLE_S = 0.1
"""Long enough for both fake models to load."""
WRITE_S = 5.0
ENVELOPE_S = 0.3

_WORD = re.compile(r"[a-z0-9]+")
_COMMON = frozenset({"the", "a", "an", "is", "are", "we", "i", "do", "does", "what", "which", "how", "my", "our", "in"})


def words(text: str) -> set[str]:
    """The words of a text that say something."""
    return set(_WORD.findall(text.lower())) - _COMMON


def word_vector(text: str, _is_query: bool = False) -> NDArray[np.float32]:  # noqa: FBT001, FBT002 - the fake's signature
    """A unit vector of the words in a text: texts that share words are near, others are not."""
    vector = np.zeros(DIMS, dtype=np.float32)
    for word in words(text):
        vector[zlib.crc32(word.encode()) % DIMS] += 1.0
    norm = float(np.linalg.norm(vector))
    if norm == 0.0:
        vector[0] = norm = 1.0
    return (vector / norm).astype(np.float32)


def shared_words(query: str, memory: str) -> float:
    """A logit: clearly relevant with two shared words, clearly not with fewer."""
    return 6.0 if len(words(query) & words(memory)) >= 2 else -9.0


def rejecting(_query: str, _memory: str) -> float:
    """A logit that no threshold lets through."""
    return -11.0


class CountingIds:
    """Ids in sequence."""

    def __init__(self) -> None:
        self._last = 0

    def new_id(self, prefix: str) -> str:
        self._last += 1
        return f"{prefix}_{self._last:06}"


class SystemOptions(TypedDict, total=False):
    """What a test may set."""

    recall: RecallSettings
    standing: StandingSettings
    write: WriteSettings
    admission: AdmissionSettings
    actors: ActorsSettings
    events: EventsSettings
    drift: DriftSettings
    audit: AuditSettings
    calibration: GateCalibration
    lanes: int
    when_prepared: Callable[[], None]


class QueryOptions(TypedDict, total=False):
    """Fields of a recall that a test may set."""

    session: str
    turn_id: str
    scope: str | None
    exclude: tuple[str, ...]
    max_items: int | None
    max_chars: int | None
    is_search: bool
    parts: tuple[MessagePart, ...]
    turns: tuple[str, ...] | None
    now_ms: int | None
    time_zone: str
    time: TimeUse


class TurnOptions(TypedDict, total=False):
    """Fields of an observed turn that a test may set."""

    session: str
    speaker: Speaker
    scope: str
    time_zone: str
    offered: tuple[OfferedFact, ...]
    unreadable: tuple[str, ...]
    injected: tuple[str, ...]
    answers: str
    client: str


class MemoryOptions(TypedDict, total=False):
    """Fields of a new memory that a test may set."""

    kind: MemoryKind
    scope: str
    cues: tuple[str, ...]
    asks: tuple[str, ...]
    expires_at_ms: int | None


@dataclass
class System:
    """A running daemon without a socket."""

    watched: Watched = field(default_factory=Watched)
    store: InMemoryStore = field(default_factory=lambda: InMemoryStore(fold_key=b"0123456789abcdef"))
    reading: Trouble = field(default_factory=Trouble)
    writing: Trouble = field(default_factory=Trouble)
    scorer: FakeScorer = field(default_factory=lambda: FakeScorer(logit=shared_words))
    embedder: FakeEmbedder = field(
        default_factory=lambda: FakeEmbedder(vector=word_vector, embedder_key=EMBEDDER_KEY, dims=DIMS)
    )
    scorer_thread: ThreadScript = field(default_factory=ThreadScript)
    embedder_thread: ThreadScript = field(default_factory=lambda: ThreadScript(call_s=lambda: 0.004))
    missing: set[str] = field(default_factory=set)
    """Models that cannot be loaded: `scorer`, `embedder`."""
    published: list[tuple[Event, EventLevel]] = field(default_factory=list)
    published_s: list[float] = field(default_factory=list)
    """When each of them was, on the monotonic clock."""
    ids: CountingIds = field(default_factory=CountingIds)
    calibration: GateCalibration = field(
        default_factory=lambda: GateCalibration(
            floors=FloorValues(record=FLOOR, cue=FLOOR, ask=FLOOR), model=uncalibrated(THRESHOLD)
        )
    )
    text_work: TextWork = field(default_factory=ImmediateTextWork)
    runtime_model: RuntimeModel = field(default_factory=NoRuntimeModel)
    judge: SentenceJudge = field(default_factory=NoJudge)
    bus: EventBus | None = None
    _running: Running | None = None
    _supervisor: Supervisor | None = None

    @property
    def clock(self) -> LoopClock:
        return self.watched.clock

    @property
    def running(self) -> Running:
        assert self._running is not None
        return self._running

    @property
    def supervisor(self) -> Supervisor:
        assert self._supervisor is not None
        return self._supervisor

    @property
    def service(self) -> LocalMemoryService:
        return self.running.service

    def now_s(self) -> float:
        return self.clock.monotonic_s()

    def load_scorer(self) -> FakeScorer:
        self._check("scorer")
        return self.scorer

    def load_embedder(self) -> FakeEmbedder:
        self._check("embedder")
        return self.embedder

    def _check(self, model: str) -> None:
        if model in self.missing:
            raise RecalldError(ErrorCode.NOT_FOUND, f"the {model}'s file is missing")

    def publish(self, event: Event, level: EventLevel) -> None:
        self.published.append((event, level))
        self.published_s.append(self.now_s())

    def events(self, name: EventName) -> list[Event]:
        return [event for event, _ in self.published if event.name is name]

    def query(
        self, user: str, text: str, *, envelope_s: float = ENVELOPE_S, **options: Unpack[QueryOptions]
    ) -> RecallQuery:
        fields: QueryOptions = {"session": "", **options}
        return RecallQuery(user=user, text=text, deadline_s=self.now_s() + envelope_s, **fields)

    async def recall(
        self, user: str, text: str, *, envelope_s: float = ENVELOPE_S, **options: Unpack[QueryOptions]
    ) -> RecallOutcome:
        return await self.service.recall(self.query(user, text, envelope_s=envelope_s, **options))

    async def remember(self, user: str, text: str, **options: Unpack[MemoryOptions]) -> RememberReply:
        memory = NewMemory(user=user, text=text, **options)
        return await self.service.remember(RememberRequest(memory=memory, deadline_s=self.now_s() + WRITE_S))

    async def store_text(self, user: str, text: str, **options: Unpack[MemoryOptions]) -> str:
        """Remember a text; its id is returned."""
        return (await self.remember(user, text, **options)).memory.id

    async def observe(
        self,
        user: str,
        text: str,
        *,
        turn_id: str,
        within_s: float = WRITE_S,
        at_ms: int | None = None,
        **options: Unpack[TurnOptions],
    ) -> ObserveReply:
        fields: TurnOptions = {"session": "s", "speaker": Speaker.USER, **options}
        turn = ObservedTurn(
            user=user,
            turn_id=turn_id,
            text=text,
            at_ms=self.clock.now_ms() if at_ms is None else at_ms,
            deadline_s=self.now_s() + within_s,
            **fields,
        )
        return await self.service.observe(turn)

    async def confirm(
        self,
        user: str,
        proposal_id: str = "",
        *,
        session: str = "",
        is_accepted: bool = True,
        edited_text: str = "",
        approver: str = "recalld-cli",
    ) -> ConfirmReply:
        return await self.service.confirm(
            ConfirmRequest(
                user=user,
                session=session,
                proposal_id=proposal_id,
                is_accepted=is_accepted,
                edited_text=edited_text,
                approver=approver,
                deadline_s=self.now_s() + WRITE_S,
            )
        )

    async def standing(
        self, user: str, session: str = "", scope: str = "", *, max_chars: int | None = None, is_again: bool = False
    ) -> StandingBlock:
        return await self.service.standing(
            StandingRequest(
                user=user,
                session=session,
                scope=scope,
                max_chars=max_chars,
                is_again=is_again,
                deadline_s=self.now_s() + ENVELOPE_S,
            )
        )

    async def report(self, user: str, decision_id: str, result: OutcomeResult, memory_id: str = "") -> None:
        await self.service.record_outcome(
            OutcomeReport(
                user=user,
                decision_id=decision_id,
                memory_id=memory_id,
                result=result,
                at_ms=self.clock.now_ms(),
                deadline_s=self.now_s() + WRITE_S,
            )
        )

    async def set_standing(self, user: str, memory_id: str, action: StandingAction) -> StandingSet:
        return await self.service.set_standing(user, memory_id, action, deadline_s=self.now_s() + WRITE_S)

    async def forget(
        self,
        user: str,
        *ids: str,
        query: str = "",
        is_dry_run: bool = False,
        is_hard: bool = False,
        is_purge: bool = False,
    ) -> ForgetReply:
        return await self.service.forget(
            ForgetRequest(
                user=user,
                ids=ids,
                query=query,
                is_dry_run=is_dry_run,
                is_hard=is_hard,
                is_purge=is_purge,
                deadline_s=self.now_s() + WRITE_S,
            )
        )


@asynccontextmanager
async def running_system(
    system: System, *, settle_s: float = SETTLE_S, **options: Unpack[SystemOptions]
) -> AsyncIterator[System]:
    """Run a system; by default until its models are loaded. Leaving kills what a test did not drain."""
    system.bus = EventBus(sink=system.publish)
    system.calibration = options.get("calibration", system.calibration)
    relay = FailureRelay()
    supervisor = Supervisor(
        clock=system.clock,
        rng=random.Random(1),
        on_restart=lambda name, error_type: _both(
            lambda: system.watched.restarts.append((name, error_type)), lambda: relay.restarted(name, error_type)
        ),
        on_trouble=lambda trouble: _both(
            lambda: system.watched.troubles.append(trouble), lambda: relay.trouble(trouble)
        ),
    )
    system._supervisor = supervisor
    try:
        async with supervisor, anyio.create_task_group() as tasks:
            system._running = start_actors(_parts(system, system.bus, tasks, options), supervisor, tasks)
            relay.attach(system.running.root)
            await anyio.sleep(settle_s)
            yield system
            tasks.cancel_scope.cancel()
    except BaseExceptionGroup as group:
        error: BaseException = group
        while isinstance(error, BaseExceptionGroup):
            error = error.exceptions[0]
        raise error from error.__cause__  # a failed assertion as itself, so that its test says what failed


async def drain(system: System, within_s: float = 8.0) -> None:
    """Stop as the daemon does after its gateway has drained."""
    system.service.is_draining = True
    await system.supervisor.drain_all(DRAIN_ORDER, system.now_s() + within_s)


def _both(first: Callable[[], None], second: Callable[[], None]) -> None:
    first()
    second()


def _parts(system: System, bus: EventBus, tasks: anyio.abc.TaskGroup, options: SystemOptions) -> Parts:
    nowhere = Path("/nonexistent")
    settings = Settings(
        server=ServerSettings(socket_path=nowhere / "s"),
        storage=StorageSettings(data_dir=nowhere),
        models=ModelsSettings(dir=nowhere),
        recall=options.get("recall", RecallSettings()),
        standing=options.get("standing", StandingSettings()),
        write=options.get("write", WriteSettings()),
        admission=options.get("admission", AdmissionSettings()),
        actors=options.get("actors", ActorsSettings()),
        events=options.get("events", EventsSettings()),
        drift=options.get("drift", DriftSettings()),
        audit=options.get("audit", AuditSettings()),
    )
    return Parts(
        settings=settings,
        reader=FaultyReader(system.store.reader, system.reading),
        writer=FaultyWriter(system.store.writer, system.writing),
        models=ModelParts(
            load_scorer=system.load_scorer,
            load_embedder=system.load_embedder,
            make_threads=lambda name, lanes: _virtual_threads(system, name, lanes, tasks),
            lanes=options.get("lanes", 2),
        ),
        clock=system.clock,
        ids=system.ids,
        rng=random.Random(2),
        events=bus,
        calibration=system.calibration,
        embedder_key=EMBEDDER_KEY,
        version="0",
        text_work=system.text_work,
        runtime_model=system.runtime_model,
        judge=system.judge,
        when_prepared=options.get("when_prepared", lambda: None),
    )


def _virtual_threads(system: System, name: str, lanes: int, tasks: anyio.abc.TaskGroup) -> ThreadFactory:
    script = system.scorer_thread if "scorer" in name else system.embedder_thread

    def make(*, take: Callable[[Delivery], None], on_lost: Callable[[str], None]) -> VirtualThread:
        return VirtualThread(tasks=tasks, clock=system.clock, lanes=lanes, script=script, take=take, on_lost=on_lost)

    return make
