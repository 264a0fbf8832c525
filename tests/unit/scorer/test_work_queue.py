from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recalld.actors.inference_thread.call import Call
from recalld.actors.inference_thread.work_queue import Job, WorkQueue
from recalld.models.domain.errors import InvariantError


def job(job_id: int, calls: int = 1, *, deadline_s: float = 10.0, owner: str = "", is_bulk: bool = False) -> Job:
    return Job(
        job_id=job_id,
        calls=tuple(Call(lambda _stop: None, lambda _outcome: None) for _ in range(calls)),
        deadline_s=deadline_s,
        owner=owner,
        is_bulk=is_bulk,
    )


def drain(work: WorkQueue, now_s: float = 0.0) -> list[int]:
    order = []
    while (taken := work.take(now_s)) is not None:
        order.append(taken[0].job_id)
    return order


def queued(*jobs: Job) -> WorkQueue:
    work = WorkQueue()
    for each in jobs:
        work.add(each)
    return work


def test_jobs_take_turns_call_by_call() -> None:
    assert drain(queued(job(1, 3), job(2, 2), job(3, 1))) == [1, 2, 3, 1, 2, 1]


def test_the_calls_of_a_job_start_in_their_order() -> None:
    one = job(1, 3)
    work = queued(one)
    taken = [work.take(0.0) for _ in range(3)]
    assert [each[1] for each in taken if each is not None] == list(one.calls)


def test_a_burst_of_one_owner_delays_another_owner_by_one_call() -> None:
    burst = [job(number, 4, owner="ann") for number in range(1, 21)]
    work = queued(*burst, job(99, 2, owner="ben"))
    order = drain(work)
    assert order.index(99) == 1
    assert [place for place, job_id in enumerate(order) if job_id == 99] == [1, 3]


def test_jobs_of_one_owner_run_earliest_deadline_first_and_then_in_the_order_of_arrival() -> None:
    work = queued(
        job(1, 2, owner="ann", deadline_s=9.0),
        job(2, owner="ann", deadline_s=5.0),
        job(3, owner="ann", deadline_s=5.0),
    )
    assert drain(work) == [2, 3, 1, 1]


def test_bulk_work_waits_while_anything_else_waits() -> None:
    work = queued(job(1, 3, is_bulk=True), job(2, 2))
    order = [2, 2, 1]
    assert [taken[0].job_id for _ in order if (taken := work.take(0.0)) is not None] == order
    work.add(job(3))
    assert drain(work) == [3, 1, 1]


def test_a_job_whose_deadline_has_passed_is_dropped_unstarted() -> None:
    work = queued(job(1, 2, deadline_s=5.0), job(2, deadline_s=6.0))
    assert len(work) == 3
    assert drain(work, now_s=5.0) == [2]
    assert len(work) == 0


def test_a_cancelled_job_does_not_start_any_more() -> None:
    work = queued(job(1, 3), job(2))
    work.take(0.0)
    work.cancel(1)
    work.cancel(77)
    assert drain(work) == [2]


def test_an_empty_job_is_a_broken_invariant() -> None:
    with pytest.raises(InvariantError):
        WorkQueue().add(job(1, 0))


@given(st.lists(st.tuples(st.integers(1, 5), st.sampled_from(["", "a", "b"]), st.booleans()), max_size=12))
def test_every_call_is_handed_out_exactly_once(kinds: list[tuple[int, str, bool]]) -> None:
    jobs = [job(number, calls, owner=owner, is_bulk=is_bulk) for number, (calls, owner, is_bulk) in enumerate(kinds)]
    work = queued(*jobs)
    assert len(work) == sum(calls for calls, _, _ in kinds)
    order = drain(work)
    assert sorted(order) == sorted(each.job_id for each in jobs for _ in each.calls)
    bulk = {each.job_id for each in jobs if each.is_bulk}
    assert [job_id in bulk for job_id in order] == sorted(job_id in bulk for job_id in order)
