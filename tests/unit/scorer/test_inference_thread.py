"""The real threads; time stands still unless a test moves it, and every wait is for an event, with a bound."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Iterator

import pytest
from virtual_time import ManualClock

from recalld.actors.inference_thread.call import Call, Delivery, Outcome, Raised, Returned, Stopped
from recalld.actors.inference_thread.thread import InferenceThread
from recalld.actors.inference_thread.work_queue import Job
from recalld.actors.ports import StopFlag

BOUND_S = 20.0


class Rig:
    """A thread whose deliveries are made by the test's own thread, which stands for the event loop."""

    def __init__(self, lanes: int) -> None:
        self.clock = ManualClock()
        self.deliveries: queue.SimpleQueue[Delivery] = queue.SimpleQueue()
        self.lost: list[str] = []
        self.outcomes: list[tuple[int, Outcome[str]]] = []
        self.gate = threading.Event()
        self.thread = InferenceThread(
            name="test-inference",
            lanes=lanes,
            clock=self.clock,
            handoff=self.deliveries.put,
            on_lost=self.lost.append,
            grace_s=0.5,
            stuck_after_s=2.0,
        )
        self.thread.start()

    def submit(self, job_id: int, *fns: Callable[[StopFlag], str], deadline_s: float = 10.0) -> None:
        def take(outcome: Outcome[str]) -> None:
            self.outcomes.append((job_id, outcome))

        self.thread.submit(Job(job_id=job_id, calls=tuple(Call(fn, take) for fn in fns), deadline_s=deadline_s))

    def deliver(self, count: int = 1) -> None:
        for _ in range(count):
            self.deliveries.get(timeout=BOUND_S)()

    def nudge(self) -> None:
        """Have the dispatcher look at its books, and wait until it has."""
        for _ in range(2):
            self.thread.ping(lambda: None)
            self.deliver()

    def values(self) -> list[str]:
        return [outcome.value for _, outcome in self.outcomes if isinstance(outcome, Returned)]


@pytest.fixture
def rigs() -> Iterator[Callable[[int], Rig]]:
    made: list[Rig] = []

    def make(lanes: int) -> Rig:
        made.append(Rig(lanes))
        return made[-1]

    yield make
    for rig in made:
        rig.gate.set()
        rig.thread.close()
        assert rig.thread.join(BOUND_S), "no thread outlives its test"


def test_calls_run_in_the_named_lanes_and_nowhere_else(rigs: Callable[[int], Rig]) -> None:
    rig = rigs(2)
    both = threading.Barrier(2, timeout=BOUND_S)

    def where(_stop: StopFlag) -> str:
        both.wait()
        return threading.current_thread().name

    rig.submit(1, where, where)
    rig.deliver(2)
    assert sorted(rig.values()) == ["test-inference-lane-0", "test-inference-lane-1"]
    names = {thread.name: thread.daemon for thread in threading.enumerate() if "test-inference" in thread.name}
    assert names == {"test-inference": True, "test-inference-lane-0": True, "test-inference-lane-1": True}


def test_an_error_of_a_call_is_its_outcome_and_the_lane_goes_on(rigs: Callable[[int], Rig]) -> None:
    rig = rigs(1)

    def fail(_stop: StopFlag) -> str:
        raise OSError

    rig.submit(1, fail, lambda _stop: "good")
    rig.deliver(2)
    (_, failed), (_, good) = rig.outcomes
    assert isinstance(failed, Raised)
    assert failed.error_type == "OSError"
    assert isinstance(good, Returned)


def test_a_cancelled_call_sees_its_stop_flag_and_is_not_reported_as_a_failure(rigs: Callable[[int], Rig]) -> None:
    rig = rigs(1)
    running = threading.Event()

    def run(stop: StopFlag) -> str:
        stopped = threading.Event()
        stop.on_set(stopped.set)
        running.set()
        assert stopped.wait(BOUND_S)
        raise OSError

    rig.submit(1, run, lambda _stop: "never")
    assert running.wait(BOUND_S)
    rig.thread.cancel(1)
    rig.deliver()
    rig.submit(2, lambda _stop: "next")
    rig.deliver()
    assert [(job_id, type(outcome)) for job_id, outcome in rig.outcomes] == [(1, Stopped), (2, Returned)]


def test_a_running_call_is_stopped_a_grace_after_its_deadline(rigs: Callable[[int], Rig]) -> None:
    rig = rigs(1)
    flags: queue.SimpleQueue[StopFlag] = queue.SimpleQueue()

    def run(stop: StopFlag) -> str:
        flags.put(stop)
        assert rig.gate.wait(BOUND_S)
        return "late"

    rig.submit(1, run, deadline_s=1.0)
    stop = flags.get(timeout=BOUND_S)
    rig.clock.advance(1.4)
    rig.nudge()
    assert not stop.is_set()
    rig.clock.advance(0.1)
    rig.nudge()
    assert stop.is_set()


def test_a_call_that_does_not_heed_its_flag_makes_the_threads_lost_and_frees_the_other_lanes(
    rigs: Callable[[int], Rig],
) -> None:
    rig = rigs(2)
    running = threading.Event()

    def hang(_stop: StopFlag) -> str:
        running.set()
        assert rig.gate.wait(BOUND_S)
        return "much too late"

    rig.submit(1, hang)
    assert running.wait(BOUND_S)
    rig.thread.cancel(1)
    rig.nudge()
    rig.clock.advance(1.9)
    rig.nudge()
    assert rig.lost == []
    rig.clock.advance(0.2)
    rig.thread.ping(lambda: None)
    while not rig.lost:
        rig.deliver()
    assert rig.lost == ["lane_stuck"]
    rig.gate.set()
    assert rig.thread.join(BOUND_S), "the stuck lane ends too, once its call comes back"
    assert not rig.thread.is_alive()


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_lane_that_dies_makes_the_threads_lost(rigs: Callable[[int], Rig]) -> None:
    rig = rigs(2)

    def die(_stop: StopFlag) -> str:
        raise SystemExit

    rig.submit(1, die)
    rig.deliver()
    assert rig.lost == ["lane_died"]
    assert rig.thread.join(BOUND_S)


def test_a_job_past_its_deadline_does_not_start(rigs: Callable[[int], Rig]) -> None:
    rig = rigs(1)
    rig.clock.advance(5.0)
    rig.submit(1, lambda _stop: "never", deadline_s=5.0)
    rig.submit(2, lambda _stop: "runs", deadline_s=5.1)
    rig.deliver()
    assert rig.values() == ["runs"]


def test_the_time_of_a_call_is_its_own_and_not_that_of_its_wait(rigs: Callable[[int], Rig]) -> None:
    rig = rigs(1)

    def work(_stop: StopFlag) -> str:
        rig.clock.advance(0.25)
        return "done"

    rig.submit(1, work, work)
    rig.deliver(2)
    times = [(outcome.started_s, outcome.elapsed_ms) for _, outcome in rig.outcomes if isinstance(outcome, Returned)]
    assert times == [(0.0, 250.0), (0.25, 250.0)]


def test_closing_abandons_what_runs_and_ends_every_thread(rigs: Callable[[int], Rig]) -> None:
    rig = rigs(2)
    running = threading.Event()
    heeded: list[bool] = []

    def run(stop: StopFlag) -> str:
        stopped = threading.Event()
        stop.on_set(stopped.set)
        running.set()
        heeded.append(stopped.wait(BOUND_S))
        return "abandoned"

    rig.submit(1, run, deadline_s=1e9)
    assert running.wait(BOUND_S)
    assert rig.thread.is_alive()
    ended: list[bool] = []
    rig.thread.close(lambda: ended.append(True))
    while not ended:
        rig.deliver()
    assert heeded == [True], "the end is told after the last lane has come back"
    assert rig.thread.join(BOUND_S)
    assert rig.lost == []


def test_very_far_deadlines_do_not_overflow_the_wait(rigs: Callable[[int], Rig]) -> None:
    rig = rigs(1)
    running = threading.Event()

    def run(_stop: StopFlag) -> str:
        running.set()
        assert rig.gate.wait(BOUND_S)
        return "done"

    rig.submit(1, run, deadline_s=float("inf"))
    assert running.wait(BOUND_S)
    rig.nudge()
    rig.gate.set()
    rig.deliver()
    assert rig.values() == ["done"]
