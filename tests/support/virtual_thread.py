"""A worker thread without threads: the real books of lanes and queue, run by tasks in virtual time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import anyio
import anyio.abc

from recalld.actors.inference_thread.call import AnyCall, Delivery
from recalld.actors.inference_thread.dispatch import Dispatch
from recalld.actors.inference_thread.stop import StopSignal
from recalld.actors.inference_thread.work_queue import Job
from recalld.actors.ports import Clock


@dataclass
class ThreadScript:
    """How the lanes of all threads of a test behave.

    Attributes:
        call_s: How long the next call takes; None: it hangs and does not even heed its stop flag.
        running: Calls that run now.
        is_silent: The dispatcher does not answer pings.
        is_dead: The threads have died.
    """

    call_s: Callable[[], float | None] = lambda: 0.01
    running: int = 0
    running_most: int = 0
    is_silent: bool = False
    is_dead: bool = False
    made: list[VirtualThread] = field(default_factory=list)


class _RunClock:
    """Tells a call when it started and when it ended."""

    def __init__(self, start_s: float, end_s: float) -> None:
        self._times_s: Iterator[float] = iter((start_s, end_s))

    def monotonic_s(self) -> float:
        return next(self._times_s)

    def now_ms(self) -> int:
        raise NotImplementedError


class VirtualThread:
    """A `WorkerThread` whose lanes are tasks of a task group."""

    def __init__(
        self,
        *,
        tasks: anyio.abc.TaskGroup,
        clock: Clock,
        lanes: int,
        script: ThreadScript,
        take: Callable[[Delivery], None],
        on_lost: Callable[[str], None],
        grace_s: float = 0.02,
        stuck_after_s: float = 2.0,
    ) -> None:
        self.is_closed = False
        self._tasks = tasks
        self._clock = clock
        self._script = script
        self._take = take
        self._on_lost = on_lost
        self._dispatch = Dispatch(lanes=lanes, grace_s=grace_s, stuck_after_s=stuck_after_s)
        self._stops: list[StopSignal | None] = [None] * lanes
        self._changed = anyio.Event()
        self._scope = anyio.CancelScope()
        script.made.append(self)

    def start(self) -> None:
        self._tasks.start_soon(self._run)

    def submit(self, job: Job) -> None:
        self._dispatch.submit(job)
        self._changed.set()

    def cancel(self, job_id: int) -> None:
        self._dispatch.cancel(job_id)
        self._changed.set()

    def ping(self, on_pong: Delivery) -> None:
        if not self._script.is_silent:
            self._take(on_pong)

    def is_alive(self) -> bool:
        return not self._script.is_dead

    def close(self, on_ended: Delivery | None = None) -> None:
        self.is_closed = True
        self._scope.cancel()
        if on_ended is not None and not self._script.is_silent:
            self._take(on_ended)

    async def _run(self) -> None:
        with self._scope:
            async with anyio.create_task_group() as lanes:
                while True:
                    now_s = self._clock.monotonic_s()
                    for lane in self._dispatch.overdue(now_s):
                        stop = self._stops[lane]
                        assert stop is not None
                        stop.set()
                    if self._dispatch.is_stuck(now_s):
                        self._take(lambda: self._on_lost("lane_stuck"))
                        return
                    for assignment in self._dispatch.assign(now_s):
                        stop = StopSignal()
                        self._stops[assignment.lane] = stop
                        lanes.start_soon(self._run_call, assignment.lane, assignment.call, stop)
                    check_s = self._dispatch.next_check_s()
                    with anyio.move_on_after(None if check_s is None else max(check_s - now_s, 0.0001)):
                        await self._changed.wait()
                    self._changed = anyio.Event()

    async def _run_call(self, lane: int, call: AnyCall, stop: StopSignal) -> None:
        script = self._script
        start_s = self._clock.monotonic_s()
        call_s = script.call_s()
        script.running += 1
        script.running_most = max(script.running_most, script.running)
        try:
            if call_s is None:
                await anyio.sleep_forever()
            else:
                stopped = anyio.Event()
                stop.on_set(stopped.set)
                with anyio.move_on_after(call_s):
                    await stopped.wait()
        finally:
            script.running -= 1
        self._take(call.run(stop, _RunClock(start_s, self._clock.monotonic_s())))
        self._dispatch.finished(lane)
        self._changed.set()
