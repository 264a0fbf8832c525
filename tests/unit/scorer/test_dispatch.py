from __future__ import annotations

import pytest

from recalld.actors.inference_thread.call import Call
from recalld.actors.inference_thread.dispatch import Dispatch
from recalld.actors.inference_thread.work_queue import Job
from recalld.models.domain.errors import InvariantError


def job(job_id: int, calls: int = 1, *, deadline_s: float = 10.0) -> Job:
    return Job(
        job_id=job_id,
        calls=tuple(Call(lambda _stop: None, lambda _outcome: None) for _ in range(calls)),
        deadline_s=deadline_s,
    )


def dispatch(lanes: int = 2) -> Dispatch:
    return Dispatch(lanes=lanes, grace_s=0.5, stuck_after_s=2.0)


def lanes_of(books: Dispatch, now_s: float = 0.0) -> list[int]:
    return [assignment.lane for assignment in books.assign(now_s)]


def test_idle_lanes_get_work_and_busy_ones_do_not() -> None:
    books = dispatch()
    books.submit(job(1, 3))
    assert lanes_of(books) == [0, 1]
    assert lanes_of(books) == []
    assert books.queued_calls == 1
    books.finished(1)
    assert lanes_of(books) == [1]


def test_a_running_call_is_abandoned_a_grace_after_its_deadline_and_only_once() -> None:
    books = dispatch()
    books.submit(job(1, deadline_s=10.0))
    lanes_of(books)
    assert books.next_check_s() == 10.5
    assert books.overdue(10.4) == []
    assert books.overdue(10.5) == [0]
    assert books.overdue(11.0) == []


def test_a_cancelled_job_is_abandoned_at_once_where_it_runs_and_dropped_where_it_waits() -> None:
    books = dispatch(lanes=1)
    books.submit(job(1, 2))
    books.submit(job(2))
    lanes_of(books)
    books.cancel(1)
    assert books.overdue(0.1) == [0]
    books.finished(0)
    books.assign(0.2)
    assert books.queued_calls == 0, "only the other job was left to start"


def test_a_lane_that_does_not_come_back_after_it_was_stopped_is_stuck() -> None:
    books = dispatch()
    books.submit(job(1))
    lanes_of(books)
    books.cancel(1)
    assert books.overdue(3.0) == [0]
    assert books.next_check_s() == 5.0
    assert not books.is_stuck(4.9)
    assert books.is_stuck(5.0)


def test_a_lane_that_comes_back_late_but_in_time_is_not_stuck() -> None:
    books = dispatch()
    books.submit(job(1))
    lanes_of(books)
    books.cancel(1)
    books.overdue(3.0)
    books.finished(0)
    assert not books.is_stuck(100.0)
    assert books.next_check_s() is None


def test_a_lane_that_comes_back_twice_is_a_broken_invariant() -> None:
    with pytest.raises(InvariantError):
        dispatch().finished(0)


def test_no_lanes_are_refused() -> None:
    with pytest.raises(ValueError, match="lanes"):
        dispatch(lanes=0)
