"""What every worker thread does, so that tests on virtual threads say something about the real ones."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager

import anyio
import pytest
from virtual_thread import ThreadScript, VirtualThread

from recalld.actors.inference_thread.call import Call, Outcome, Raised, Returned
from recalld.actors.inference_thread.factory import inference_threads
from recalld.actors.inference_thread.thread import WorkerThread
from recalld.actors.inference_thread.work_queue import Job
from recalld.actors.ports import StopFlag

pytestmark = pytest.mark.anyio

BOUND_S = 20.0


class RealClock:
    def monotonic_s(self) -> float:
        return time.monotonic()

    def now_ms(self) -> int:
        return int(time.time() * 1000)


class Bench:
    """A worker thread with one lane. What is submitted before its start does not depend on timing."""

    def __init__(self) -> None:
        self.outcomes: list[tuple[str, Outcome[str]]] = []
        self._came = anyio.Event()
        self._worker: WorkerThread | None = None

    @property
    def worker(self) -> WorkerThread:
        assert self._worker is not None
        return self._worker

    @worker.setter
    def worker(self, worker: WorkerThread) -> None:
        self._worker = worker

    def call(self, name: str) -> Call[str]:
        def run(_stop: StopFlag) -> str:
            if name.startswith("bad"):
                raise OSError
            return name

        def take(outcome: Outcome[str]) -> None:
            self.outcomes.append((name, outcome))
            self._came.set()

        return Call(run, take)

    def submit(
        self, job_id: int, *names: str, owner: str = "", is_bulk: bool = False, deadline_s: float = float("inf")
    ) -> None:
        calls = tuple(self.call(name) for name in names)
        self.worker.submit(Job(job_id=job_id, calls=calls, deadline_s=deadline_s, owner=owner, is_bulk=is_bulk))

    async def names_of(self, count: int) -> list[str]:
        with anyio.fail_after(BOUND_S):
            while len(self.outcomes) < count:
                self._came = anyio.Event()
                await self._came.wait()
        return [name for name, _ in self.outcomes]


MakeBench = Callable[[], AbstractAsyncContextManager[Bench]]


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"  # real threads need real time


def fail_if_lost(reason: str) -> None:
    raise AssertionError(reason)


@pytest.fixture(params=["real", "virtual"])
def make_bench(request: pytest.FixtureRequest) -> MakeBench:
    @asynccontextmanager
    async def make() -> AsyncIterator[Bench]:
        bench = Bench()
        async with anyio.create_task_group() as tasks:
            if request.param == "real":
                make_thread = inference_threads(name="contract", lanes=1, clock=RealClock())
                bench.worker = make_thread(take=lambda delivery: delivery(), on_lost=fail_if_lost)
            else:
                bench.worker = VirtualThread(
                    tasks=tasks,
                    clock=RealClock(),
                    lanes=1,
                    script=ThreadScript(call_s=lambda: 0.0),
                    take=lambda delivery: delivery(),
                    on_lost=fail_if_lost,
                )
            yield bench
            bench.worker.close()

    return make


async def test_owners_take_turns_and_bulk_work_comes_last(make_bench: MakeBench) -> None:
    async with make_bench() as bench:
        bench.submit(1, "bulk", is_bulk=True)
        bench.submit(2, "a1", "a2", "a3", owner="ann")
        bench.submit(3, "b1", owner="ben")
        bench.worker.start()
        assert await bench.names_of(5) == ["a1", "b1", "a2", "a3", "bulk"]


async def test_each_call_that_starts_has_one_outcome(make_bench: MakeBench) -> None:
    async with make_bench() as bench:
        bench.submit(1, "good", "bad", "fine")
        bench.worker.start()
        await bench.names_of(3)
        kinds = [type(outcome) for _, outcome in bench.outcomes]
        assert kinds == [Returned, Raised, Returned]


async def test_cancelled_and_expired_jobs_do_not_start(make_bench: MakeBench) -> None:
    async with make_bench() as bench:
        bench.submit(1, "expired", deadline_s=time.monotonic() - 1.0)
        bench.submit(2, "cancelled")
        bench.submit(3, "wanted")
        bench.worker.cancel(2)
        bench.worker.start()
        assert await bench.names_of(1) == ["wanted"]


async def test_a_ping_is_answered_and_life_is_told(make_bench: MakeBench) -> None:
    async with make_bench() as bench:
        bench.worker.start()
        pong = anyio.Event()
        bench.worker.ping(pong.set)
        with anyio.fail_after(BOUND_S):
            await pong.wait()
        assert bench.worker.is_alive()


async def test_the_end_of_all_lanes_is_told(make_bench: MakeBench) -> None:
    async with make_bench() as bench:
        bench.worker.start()
        ended = anyio.Event()
        bench.worker.close(ended.set)
        with anyio.fail_after(BOUND_S):
            await ended.wait()


async def test_closing_twice_or_submitting_afterwards_does_no_harm(make_bench: MakeBench) -> None:
    async with make_bench() as bench:
        bench.worker.start()
        bench.worker.close()
        bench.worker.close()
        bench.submit(1, "too late")
        bench.worker.cancel(1)
