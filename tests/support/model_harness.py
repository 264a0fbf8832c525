"""Runs the scorer or the embedder under a supervisor, on virtual threads."""

from __future__ import annotations

import random
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Generic, TypeVar

import anyio
import anyio.abc
from fake_models import FakeEmbedder, FakeScorer
from scripted_actor import Watched
from virtual_thread import ThreadScript, VirtualThread

from recalld.actors.embedder import (
    EmbedderActor,
    EmbedderLimits,
    EmbedderMessage,
    EmbedText,
    EmbedTexts,
    GetEmbedderHealth,
    TextsEmbedded,
)
from recalld.actors.inference_thread.call import Delivery
from recalld.actors.inference_thread.factory import ThreadFactory
from recalld.actors.inference_thread.model_host import HostTimes, ModelNotice, NoticeKind
from recalld.actors.kernel import Actor, ActorSpec, Address, Supervisor
from recalld.actors.scorer import (
    GetScorerHealth,
    Pair,
    PairsScored,
    ProbeScorer,
    ScorePairs,
    ScorerActor,
    ScorerLimits,
    ScorerMessage,
)
from recalld.models.domain.health import GateProbe, ModelHealth
from recalld.models.policy.cost_model import CostModel

M = TypeVar("M")

REPLY_S = 0.01
"""How much longer the harness waits for an answer than the job may take."""

TIMES = HostTimes(retry_initial_s=1.0, retry_max_s=60.0, idle_s=60.0, heartbeat_s=5.0, silence_s_max=2.0)


@dataclass
class ModelHarness(Generic[M]):
    """A running model actor and everything around it."""

    watched: Watched = field(default_factory=Watched)
    script: ThreadScript = field(default_factory=ThreadScript)
    notices: list[ModelNotice] = field(default_factory=list)
    lanes: int = 2
    loads: int = 0
    load_error: Exception | None = None
    _address: Address[M] | None = None
    _supervisor: Supervisor | None = None

    @property
    def address(self) -> Address[M]:
        assert self._address is not None
        return self._address

    @property
    def supervisor(self) -> Supervisor:
        assert self._supervisor is not None
        return self._supervisor

    @property
    def kinds(self) -> list[NoticeKind]:
        return [notice.kind for notice in self.notices]

    def now_s(self) -> float:
        return self.watched.clock.monotonic_s()

    def make_thread(self, tasks: anyio.abc.TaskGroup) -> ThreadFactory:
        def make(*, take: Callable[[Delivery], None], on_lost: Callable[[str], None]) -> VirtualThread:
            return VirtualThread(
                tasks=tasks,
                clock=self.watched.clock,
                lanes=self.lanes,
                script=self.script,
                take=take,
                on_lost=on_lost,
            )

        return make

    def build(self, make_thread: ThreadFactory) -> Actor[M]:
        raise NotImplementedError

    @asynccontextmanager
    async def running(self, *, settle_s: float = 0.1) -> AsyncIterator[None]:
        """Run the actor; by default until its model has had the time to load."""
        async with anyio.create_task_group() as tasks:
            make_thread = self.make_thread(tasks)
            async with self.watched.supervisor() as supervisor:
                self._supervisor = supervisor
                spec = ActorSpec(
                    name="model", build=lambda: self.build(make_thread), mailbox_max=256, backoff_initial_s=0.5
                )
                self._address = supervisor.start(spec)
                await anyio.sleep(settle_s)
                yield
            tasks.cancel_scope.cancel()


@dataclass
class ScorerHarness(ModelHarness[ScorerMessage]):
    scorer: FakeScorer = field(default_factory=FakeScorer)
    cost: CostModel = field(default_factory=CostModel)
    jobs_max: int = 256
    cache_entries_max: int = 100

    def load(self) -> FakeScorer:
        self.loads += 1
        if self.load_error is not None:
            raise self.load_error
        return self.scorer

    def build(self, make_thread: ThreadFactory) -> ScorerActor:
        return ScorerActor(
            load=self.load,
            make_thread=make_thread,
            cost=self.cost,
            rng=random.Random(7),
            on_notice=self.notices.append,
            limits=ScorerLimits(lanes=self.lanes, jobs_max=self.jobs_max, cache_entries_max=self.cache_entries_max),
            times=TIMES,
        )

    async def score(self, *memories: str, within_s: float = 1.0, owner: str = "", query: str = "q") -> PairsScored:
        pairs = tuple(Pair(query=query, memory_text=memory, key=f"{memory}:1:as_given") for memory in memories)
        deadline_s = self.now_s() + within_s
        return await self.address.ask(
            lambda reply: ScorePairs(pairs=pairs, deadline_s=deadline_s, owner=owner, reply=reply),
            deadline_s=deadline_s + REPLY_S,
        )

    async def probe(self, within_s: float = 1.0) -> GateProbe:
        return await self.address.ask(lambda reply: ProbeScorer(reply=reply), deadline_s=self.now_s() + within_s)

    async def health(self) -> ModelHealth:
        return await self.address.ask(lambda reply: GetScorerHealth(reply=reply), deadline_s=self.now_s() + REPLY_S)


@dataclass
class EmbedderHarness(ModelHarness[EmbedderMessage]):
    embedder: FakeEmbedder = field(default_factory=FakeEmbedder)
    lanes: int = 1
    limits: EmbedderLimits = field(default_factory=EmbedderLimits)

    def load(self) -> FakeEmbedder:
        self.loads += 1
        if self.load_error is not None:
            raise self.load_error
        return self.embedder

    def build(self, make_thread: ThreadFactory) -> EmbedderActor:
        return EmbedderActor(
            load=self.load,
            make_thread=make_thread,
            rng=random.Random(7),
            on_notice=self.notices.append,
            limits=self.limits,
            times=TIMES,
        )

    async def embed(
        self, *texts: str, within_s: float = 1.0, is_query: bool = True, is_bulk: bool = False
    ) -> TextsEmbedded:
        deadline_s = self.now_s() + within_s
        wanted = tuple(EmbedText(text=text, is_query=is_query, is_kept=is_query) for text in texts)
        return await self.address.ask(
            lambda reply: EmbedTexts(texts=wanted, deadline_s=deadline_s, is_bulk=is_bulk, reply=reply),
            deadline_s=deadline_s + REPLY_S,
        )

    async def health(self) -> ModelHealth:
        return await self.address.ask(lambda reply: GetEmbedderHealth(reply=reply), deadline_s=self.now_s() + REPLY_S)
