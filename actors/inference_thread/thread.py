"""The real thing: one dispatching thread that owns the queue, and a fixed set of lanes that run the calls.

Not anyio's worker pool: its idle threads are culled and it is shared with whoever else needs a thread, while inference
wants its own few threads, warm, and never more than the cores it was given. All threads are daemons, so a call that
never comes back cannot keep the process alive; it is reported as lost, and its owner starts over with a new thread.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Protocol

from recalld.actors.inference_thread.call import AnyCall, Delivery, Handoff
from recalld.actors.inference_thread.dispatch import Dispatch
from recalld.actors.inference_thread.stop import StopSignal
from recalld.actors.inference_thread.work_queue import Job
from recalld.actors.ports import Clock

GRACE_S: Final = 0.02
"""About two pairs: a call that ends just after its deadline still feeds the cache, a longer one is abandoned."""

STUCK_AFTER_S: Final = 2.0
"""A run stops between two nodes of the graph, within milliseconds; after two seconds it is not going to."""

LANE_ENDS_S_MAX: Final = 1.0
"""How long the dispatching thread waits for each lane to end; as for `STUCK_AFTER_S`, but somebody waits for it."""


class WorkerThread(Protocol):
    """Runs jobs somewhere off the event loop. All methods return at once and may be called from any thread."""

    def start(self) -> None:
        """Begin to run jobs."""
        ...

    def submit(self, job: Job) -> None:
        """Queue a job; each of its calls that starts has its outcome delivered once."""
        ...

    def cancel(self, job_id: int) -> None:
        """Drop what has not started of a job and abandon what runs of it."""
        ...

    def ping(self, on_pong: Delivery) -> None:
        """Have a delivery made by the dispatching thread, to show that it lives."""
        ...

    def is_alive(self) -> bool:
        """Whether all threads run."""
        ...

    def close(self, on_ended: Delivery | None = None) -> None:
        """Abandon everything and end. Outcomes of abandoned calls may still be delivered.

        Args:
            on_ended: A delivery to be made once no lane runs any more; never made when a lane does not come back, or
                when the threads were lost or closed before.
        """
        ...


@dataclass(frozen=True, slots=True)
class _Submit:
    job: Job


@dataclass(frozen=True, slots=True)
class _Cancel:
    job_id: int


@dataclass(frozen=True, slots=True)
class _Ping:
    on_pong: Delivery


@dataclass(frozen=True, slots=True)
class _Finished:
    lane: int


@dataclass(frozen=True, slots=True)
class _LaneDied:
    lane: int


@dataclass(frozen=True, slots=True)
class _Close:
    on_ended: Delivery | None


_Command = _Submit | _Cancel | _Ping | _Finished | _LaneDied | _Close


@dataclass(frozen=True, slots=True)
class _Work:
    call: AnyCall
    stop: StopSignal


class InferenceThread:
    """A `WorkerThread` of real threads: `<name>` dispatches, `<name>-lane-0`, `<name>-lane-1` and so on run calls."""

    def __init__(
        self,
        *,
        name: str,
        lanes: int,
        clock: Clock,
        handoff: Handoff,
        on_lost: Callable[[str], None],
        grace_s: float = GRACE_S,
        stuck_after_s: float = STUCK_AFTER_S,
    ) -> None:
        """Make the threads without starting them.

        Args:
            name: Name of the dispatching thread.
            lanes: How many calls may run at once; one per core that inference may use.
            clock: Time; must be readable from any thread.
            handoff: How outcomes reach the event loop.
            on_lost: Called on the event loop, once, with a word for why when the threads can no longer be used.
            grace_s: See `Dispatch`.
            stuck_after_s: See `Dispatch`.
        """
        self._clock = clock
        self._handoff = handoff
        self._on_lost = on_lost
        self._dispatch = Dispatch(lanes=lanes, grace_s=grace_s, stuck_after_s=stuck_after_s)
        self._commands: queue.SimpleQueue[_Command] = queue.SimpleQueue()
        self._work: list[queue.SimpleQueue[_Work | None]] = [queue.SimpleQueue() for _ in range(lanes)]
        self._stops: list[StopSignal | None] = [None] * lanes
        self._closing: _Close | None = None
        self._threads = [
            threading.Thread(target=self._run, name=name, daemon=True),
            *(
                threading.Thread(target=self._run_lane, args=(lane,), name=f"{name}-lane-{lane}", daemon=True)
                for lane in range(lanes)
            ),
        ]

    def start(self) -> None:
        """Start all threads."""
        for thread in self._threads:
            thread.start()

    def submit(self, job: Job) -> None:
        """Queue a job."""
        self._commands.put(_Submit(job))

    def cancel(self, job_id: int) -> None:
        """Drop what has not started of a job and abandon what runs of it."""
        self._commands.put(_Cancel(job_id))

    def ping(self, on_pong: Delivery) -> None:
        """Have a delivery made by the dispatching thread."""
        self._commands.put(_Ping(on_pong))

    def is_alive(self) -> bool:
        """Whether all threads run."""
        return all(thread.is_alive() for thread in self._threads)

    def close(self, on_ended: Delivery | None = None) -> None:
        """Abandon everything and end."""
        self._commands.put(_Close(on_ended))

    def join(self, timeout_s: float) -> bool:
        """Wait for every thread to end, each for at most `timeout_s`; whether all did. Blocks."""
        for thread in self._threads:
            thread.join(timeout_s)
        return not any(thread.is_alive() for thread in self._threads)

    def _run(self) -> None:
        lost = "dispatcher_died"
        try:
            lost = self._dispatch_until_closed()
        finally:
            for stop in self._stops:
                if stop is not None:
                    stop.set()
            for work in self._work:
                work.put(None)
            if lost:
                self._handoff(lambda: self._on_lost(lost))
            self._report_end()

    def _report_end(self) -> None:
        on_ended = self._closing.on_ended if self._closing is not None else None
        if on_ended is None:
            return
        lanes = self._threads[1:]
        for lane in lanes:
            lane.join(LANE_ENDS_S_MAX)
        if not any(lane.is_alive() for lane in lanes):
            self._handoff(on_ended)

    def _dispatch_until_closed(self) -> str:
        """Run until closed; returns why the threads are lost, or nothing when they were closed."""
        while self._closing is None:
            for command in self._next_commands():
                if isinstance(command, _LaneDied):
                    return "lane_died"
                self._obey(command)
            now_s = self._clock.monotonic_s()
            for lane in self._dispatch.overdue(now_s):
                stop = self._stops[lane]
                if stop is not None:
                    stop.set()
            if self._dispatch.is_stuck(now_s):
                return "lane_stuck"
            for assignment in self._dispatch.assign(now_s):
                stop = StopSignal()
                self._stops[assignment.lane] = stop
                self._work[assignment.lane].put(_Work(assignment.call, stop))
        return ""

    def _next_commands(self) -> list[_Command]:
        """Everything that has come in; waits for the first until the books must be looked at again."""
        check_s = self._dispatch.next_check_s()
        wait_s = None
        if check_s is not None:
            wait_s = min(max(0.0, check_s - self._clock.monotonic_s()), threading.TIMEOUT_MAX)
        commands: list[_Command] = []
        try:
            commands.append(self._commands.get(timeout=wait_s))
            while True:
                commands.append(self._commands.get_nowait())
        except queue.Empty:
            return commands

    def _obey(self, command: _Submit | _Cancel | _Ping | _Finished | _Close) -> None:
        match command:
            case _Submit(job):
                self._dispatch.submit(job)
            case _Cancel(job_id):
                self._dispatch.cancel(job_id)
            case _Ping(on_pong):
                self._handoff(on_pong)
            case _Finished(lane):
                self._dispatch.finished(lane)
                self._stops[lane] = None
            case _Close():
                self._closing = command

    def _run_lane(self, lane: int) -> None:
        is_done = False
        try:
            while (work := self._work[lane].get()) is not None:
                self._handoff(work.call.run(work.stop, self._clock))
                self._commands.put(_Finished(lane))
            is_done = True
        finally:
            if not is_done:
                self._commands.put(_LaneDied(lane))
