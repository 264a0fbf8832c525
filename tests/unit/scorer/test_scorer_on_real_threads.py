"""The scorer actor on its real threads, in real time: what virtual time cannot show."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio
import anyio.lowlevel
import pytest
from fake_models import FakeScorer

from recalld.actors.inference_thread.factory import inference_threads
from recalld.actors.inference_thread.model_host import ModelNotice, NoticeKind
from recalld.actors.kernel import ActorSpec, Address, Reply, Supervisor
from recalld.actors.ports import StopFlag
from recalld.actors.scorer import Pair, PairsScored, ScorePairs, ScorerActor, ScorerLimits, ScorerMessage
from recalld.models.domain.errors import ScoreStopped
from recalld.models.policy.cost_model import CostModel

pytestmark = pytest.mark.anyio

BOUND_S = 20.0


class LoopTimeClock:
    def monotonic_s(self) -> float:
        return time.monotonic()

    def now_ms(self) -> int:
        return int(time.time() * 1000)


@pytest.fixture(params=["asyncio", "uvloop"])
def anyio_backend(request: pytest.FixtureRequest) -> tuple[str, dict[str, bool]]:
    return ("asyncio", {"use_uvloop": request.param == "uvloop"})


@asynccontextmanager
async def running(scorer: FakeScorer, lanes: int) -> AsyncIterator[Address[ScorerMessage]]:
    ready = anyio.Event()

    def note(notice: ModelNotice) -> None:
        assert notice.kind is NoticeKind.READY
        ready.set()

    def build() -> ScorerActor:
        return ScorerActor(
            load=lambda: scorer,
            make_thread=inference_threads(name="recalld-scorer", lanes=lanes, clock=LoopTimeClock()),
            cost=CostModel(),
            rng=random.Random(1),
            on_notice=note,
            limits=ScorerLimits(lanes=lanes),
        )

    async with Supervisor(
        clock=LoopTimeClock(), rng=random.Random(1), on_restart=lambda _name, _error: None
    ) as supervisor:
        address = supervisor.start(ActorSpec(name="scorer", build=build, mailbox_max=64))
        with anyio.fail_after(BOUND_S):
            await ready.wait()
        yield address


async def score(address: Address[ScorerMessage], *memories: str, within_s: float = BOUND_S) -> PairsScored:
    pairs = tuple(Pair(query="q", memory_text=memory, key=memory) for memory in memories)
    deadline_s = time.monotonic() + within_s
    return await address.ask(
        lambda reply: ScorePairs(pairs=pairs, deadline_s=deadline_s, reply=reply), deadline_s=deadline_s + BOUND_S
    )


async def test_many_users_at_once_each_get_their_own_logits_in_order() -> None:
    async with running(FakeScorer(), lanes=2) as address:
        answers: dict[int, PairsScored] = {}

        async def ask(user: int) -> None:
            answers[user] = await score(address, *("x" * (user * 10 + place) for place in range(1, 6)))

        async with anyio.create_task_group() as tasks:
            for user in range(30):
                tasks.start_soon(ask, user)
        for user, scored in answers.items():
            assert scored.logits == tuple(float(user * 10 + place) for place in range(1, 6))
    assert len(answers) == 30


async def test_the_event_loop_keeps_running_while_every_lane_is_busy() -> None:
    gate = threading.Event()
    entered: list[str] = []

    def wait(_query: str, _memory: str) -> float:
        entered.append(threading.current_thread().name)
        assert gate.wait(BOUND_S)
        return 1.0

    async with running(FakeScorer(logit=wait), lanes=2) as address:
        answers: list[PairsScored] = []

        async def ask() -> None:
            answers.append(await score(address, "a", "b"))

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(ask)
            with anyio.fail_after(BOUND_S):
                while len(entered) < 2:
                    await anyio.lowlevel.checkpoint()
            assert sorted(entered) == ["recalld-scorer-lane-0", "recalld-scorer-lane-1"]
            assert "recalld-scorer" in {thread.name for thread in threading.enumerate()}
            assert answers == []
            gate.set()
    assert answers[0].logits == (1.0, 1.0)


async def test_an_answer_comes_at_the_deadline_although_the_model_is_still_running() -> None:
    gate = threading.Event()

    def wait(_query: str, _memory: str) -> float:
        assert gate.wait(BOUND_S)
        return 1.0

    async with running(FakeScorer(logit=wait), lanes=1) as address:
        scored = await score(address, "a", within_s=0.05)
        gate.set()
    assert scored.logits == (None,)
    assert 50.0 <= scored.elapsed_ms < BOUND_S * 1000


async def test_a_stopped_scorer_has_left_the_model_runtime_when_its_supervisor_ends() -> None:
    started = threading.Event()
    left: list[str] = []

    class Slow(FakeScorer):
        def score(self, query: str, memory: str, stop: StopFlag) -> float:
            stopped = threading.Event()
            stop.on_set(stopped.set)
            started.set()
            assert stopped.wait(BOUND_S)
            left.append(memory)
            raise ScoreStopped

    async with running(Slow(), lanes=1) as address:
        address.post(
            ScorePairs(
                pairs=(Pair(query="q", memory_text="running", key="k"),),
                deadline_s=time.monotonic() + BOUND_S,
                reply=Reply(actor="test", deadline_s=time.monotonic() + BOUND_S, clock=LoopTimeClock()),
            )
        )
        with anyio.fail_after(BOUND_S):
            while not started.is_set():
                await anyio.lowlevel.checkpoint()
    assert left == ["running"]
    assert not [thread.name for thread in threading.enumerate() if "recalld-scorer-lane" in thread.name]
