"""What the scorer and the embedder have in common: a model kept loaded and warm on a thread of its own.

States: `LOADING` until the first load has ended, then `READY`, or `UNAVAILABLE` and tried again with back-off, never
once per request. A thread that is lost (a lane stuck or dead, the dispatcher silent) fails the actor, whose restart
brings a fresh one.
"""

from __future__ import annotations

import enum
import random
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, NoReturn, TypeVar

import anyio

from recalld.actors.inference_thread.call import AnyCall, Call, Delivery, Outcome, Raised, Returned, Stopped
from recalld.actors.inference_thread.factory import ThreadFactory
from recalld.actors.inference_thread.thread import WorkerThread
from recalld.actors.inference_thread.work_queue import Job
from recalld.actors.kernel import ActorContext
from recalld.actors.ports import Clock, StopFlag
from recalld.models.domain.errors import InvariantError, RecalldError
from recalld.models.domain.health import ModelState
from recalld.models.policy.restart_window import backoff_s

E = TypeVar("E")
M = TypeVar("M")
T = TypeVar("T")


@dataclass(frozen=True, kw_only=True, slots=True)
class HostTimes:
    """The times of a model host, in seconds.

    Attributes:
        retry_initial_s: Longest wait before the first retry of a failed load; doubles with each.
        retry_max_s: Longest wait before any retry.
        load_s_max: How long a load may take; beyond, the thread counts as stuck.
        idle_s: After how long without work a tiny ping keeps model and caches warm.
        ping_s_max: How long a ping may take.
        heartbeat_s: How often the threads are checked.
        silence_s_max: How long the dispatching thread may stay silent before it counts as lost.
    """

    retry_initial_s: float = 1.0
    retry_max_s: float = 60.0
    load_s_max: float = 120.0
    idle_s: float = 60.0
    ping_s_max: float = 5.0
    heartbeat_s: float = 5.0
    silence_s_max: float = 5.0


CLOSE_S_MAX = 3.0
"""How long closing waits for the lanes. An interpreter that exits while a lane is inside the model runtime aborts, so
it is worth waiting; for a lane that is stuck it is not, and the `stopped` hook of an actor has five seconds."""

PING_FAILURES_MAX = 3
"""Failed pings in a row that raise an alert: one may meet a busy machine, three mean that the model does not run."""


class NoticeKind(enum.StrEnum):
    """What happened to a hosted model."""

    READY = "ready"
    UNAVAILABLE = "unavailable"
    PING_FAILING = "ping_failing"
    PING_RECOVERED = "ping_recovered"


@dataclass(frozen=True, kw_only=True, slots=True)
class ModelNotice:
    """News of a hosted model. `detail` says what stands in the way, and never holds query or memory text."""

    actor: str
    kind: NoticeKind
    detail: str = ""


class ThreadLostError(Exception):
    """The thread can no longer be used; the actor starts over with a new one."""


class ModelHost(Generic[E]):
    """Owns the thread and the model of one incarnation of an actor; used on the event loop alone.

    Attributes:
        state: Where the model stands.
        detail: What stands in the way; empty when nothing does.
    """

    def __init__(
        self,
        *,
        load: Callable[[], E],
        ping: Callable[[E, StopFlag], None],
        make_thread: ThreadFactory,
        rng: random.Random,
        on_notice: Callable[[ModelNotice], None],
        times: HostTimes,
    ) -> None:
        """Make a host; nothing runs before `start`.

        Args:
            load: Loads the model, in the thread; raises when it is not there or not usable.
            ping: Runs the smallest input through the model, in the thread; raises when that fails.
            make_thread: Makes the thread.
            rng: Chance, for the jitter of retries.
            on_notice: Told of everything that happens to the model.
            times: The bounds.
        """
        self.state = ModelState.LOADING
        self.detail = ""
        self._load = load
        self._ping = ping
        self._rng = rng
        self._on_notice = on_notice
        self._times = times
        self._deliveries: deque[Delivery] = deque()
        self._delivered = anyio.Event()
        self._is_lost = False
        self._models_changed = anyio.Event()
        self._thread: WorkerThread = make_thread(take=self._take, on_lost=self._lose)
        self._clock: Clock | None = None
        self._name = ""
        self._model: E | None = None
        self._last_job_id = 0
        self._last_used_s = 0.0

    @property
    def model(self) -> E | None:
        """The loaded model; None while there is none."""
        return self._model

    def start(self, ctx: ActorContext[M]) -> None:
        """Start the thread and everything that watches over it."""
        self._name = ctx.name
        self._clock = ctx.clock
        self._last_used_s = ctx.clock.monotonic_s()
        self._thread.start()
        ctx.spawn(self._deliver, name="deliver", is_background=True)
        ctx.spawn(self._keep_model, name="keep_model", is_background=True)
        ctx.spawn(self._watch_thread, name="watch_thread", is_background=True)

    async def close(self) -> None:
        """Let go of the thread: what runs in it is abandoned, and waited for unless the thread is lost."""
        ended = anyio.Event()
        self._thread.close(ended.set)
        if self._is_lost:
            return
        with anyio.move_on_after(CLOSE_S_MAX):
            while not ended.is_set():
                await self._next_deliveries()

    def models_changed(self) -> None:
        """Try a failed load again at once. Does nothing while a model is loaded or being loaded."""
        self._models_changed.set()

    def submit(self, calls: Sequence[AnyCall], *, deadline_s: float, owner: str = "", is_bulk: bool = False) -> int:
        """Queue calls as one job; returns its id for `cancel`."""
        self._last_job_id += 1
        self._last_used_s = self._now_s()
        self._thread.submit(
            Job(job_id=self._last_job_id, calls=tuple(calls), deadline_s=deadline_s, owner=owner, is_bulk=is_bulk)
        )
        return self._last_job_id

    def cancel(self, job_id: int) -> None:
        """Drop what has not started of a job and abandon what runs of it."""
        self._thread.cancel(job_id)

    async def run(self, fn: Callable[[StopFlag], T], *, deadline_s: float) -> Outcome[T]:
        """Run one function in the thread. `Stopped` when it did not come back by the deadline."""
        outcomes: list[Outcome[T]] = []
        came_back = anyio.Event()

        def take(outcome: Outcome[T]) -> None:
            outcomes.append(outcome)
            came_back.set()

        job_id = self.submit((Call(fn, take),), deadline_s=deadline_s)
        with anyio.move_on_after(deadline_s - self._now_s()):
            await came_back.wait()
        if outcomes:
            return outcomes[0]
        self.cancel(job_id)
        return Stopped()

    def _now_s(self) -> float:
        if self._clock is None:
            msg = "the model host was used before it was started"
            raise InvariantError(msg)
        return self._clock.monotonic_s()

    def _take(self, delivery: Delivery) -> None:
        # Deliveries are made in a task of the actor rather than here, so that an error in one fails the actor instead
        # of ending in the event loop's log.
        self._deliveries.append(delivery)
        self._delivered.set()

    def _lose(self, reason: str) -> NoReturn:
        self._is_lost = True
        raise ThreadLostError(reason)

    async def _deliver(self) -> None:
        while True:
            await self._next_deliveries()

    async def _next_deliveries(self) -> None:
        await self._delivered.wait()
        self._delivered = anyio.Event()
        while self._deliveries:
            self._deliveries.popleft()()

    async def _keep_model(self) -> None:
        await self._keep_warm(await self._load_until_ready())

    async def _load_until_ready(self) -> E:
        attempt = 0
        while True:
            self._models_changed = anyio.Event()
            outcome = await self.run(lambda _stop: self._load(), deadline_s=self._now_s() + self._times.load_s_max)
            match outcome:
                case Returned(value=model):
                    self._model = model
                    self._become(ModelState.READY, NoticeKind.READY, "")
                    return model
                case Raised(error=error):
                    # The message of our own errors names the remedy; those of others may hold anything.
                    detail = error.message if isinstance(error, RecalldError) else type(error).__name__
                case Stopped():
                    detail = f"loading took longer than {self._times.load_s_max:g} s"
            self._become(ModelState.UNAVAILABLE, NoticeKind.UNAVAILABLE, detail)
            attempt += 1
            wait_s = backoff_s(
                attempt,
                initial_s=self._times.retry_initial_s,
                max_s=self._times.retry_max_s,
                jitter=self._rng.random(),
            )
            with anyio.move_on_after(wait_s):
                await self._models_changed.wait()

    def _become(self, state: ModelState, kind: NoticeKind, detail: str) -> None:
        is_news = (state, detail) != (self.state, self.detail)
        self.state = state
        self.detail = detail
        if is_news:
            self._notify(kind, detail)

    def _notify(self, kind: NoticeKind, detail: str) -> None:
        self._on_notice(ModelNotice(actor=self._name, kind=kind, detail=detail))

    async def _keep_warm(self, model: E) -> None:
        failures = 0
        while True:
            idle_left_s = self._last_used_s + self._times.idle_s - self._now_s()
            if idle_left_s > 0:
                # Never less than a millisecond, so that rounding cannot turn the rest of a wait into a busy loop.
                await anyio.sleep(max(idle_left_s, 0.001))
            else:
                failures = await self._ping_once(model, failures)

    async def _ping_once(self, model: E, failures: int) -> int:
        """Ping, and return the number of failures in a row."""
        outcome = await self.run(
            lambda stop: self._ping(model, stop), deadline_s=self._now_s() + self._times.ping_s_max
        )
        if isinstance(outcome, Returned):
            if failures >= PING_FAILURES_MAX:
                self.detail = ""
                self._notify(NoticeKind.PING_RECOVERED, "")
            return 0
        failures += 1
        if failures == PING_FAILURES_MAX:
            cause = outcome.error_type if isinstance(outcome, Raised) else "no answer in time"
            self.detail = f"{failures} keep-warm pings failed: {cause}"
            self._notify(NoticeKind.PING_FAILING, self.detail)
        return failures

    async def _watch_thread(self) -> None:
        while True:
            await anyio.sleep(self._times.heartbeat_s)
            if not self._thread.is_alive():
                self._lose("a thread has died")
            pong = anyio.Event()
            self._thread.ping(pong.set)
            # Two waits: after the event loop itself has stood still, the first one ends before the answer that has long
            # arrived could be taken.
            for _ in range(2):
                with anyio.move_on_after(self._times.silence_s_max):
                    await pong.wait()
            if not pong.is_set():
                self._lose("the dispatching thread is silent")
