from __future__ import annotations

import anyio
import pytest

from recalld.actors.inference_thread.pending_job import PendingJob

pytestmark = pytest.mark.anyio


async def is_done(job: PendingJob[float]) -> bool:
    with anyio.move_on_after(0.01):
        await job.wait_done()
        return True
    return False


async def test_results_come_to_their_own_places_in_any_order() -> None:
    job: PendingJob[float] = PendingJob([None, 5.0, None], arrived_s=1.0)
    assert job.missing == (0, 2)
    job.put(2, 7.0, started_s=1.5)
    assert list(job.values) == [None, 5.0, 7.0]
    assert not await is_done(job)
    job.put(0, 3.0, started_s=1.25)
    assert list(job.values) == [3.0, 5.0, 7.0]
    assert await is_done(job)
    assert (job.cached, job.computed, job.queue_ms) == (1, 2, 250.0)


async def test_a_result_that_comes_twice_changes_nothing() -> None:
    job: PendingJob[float] = PendingJob([None, None], arrived_s=0.0)
    job.put(0, 1.0, started_s=0.0)
    job.put(0, 2.0, started_s=0.0)
    assert (job.values, job.computed) == ((1.0, None), 1)
    assert not await is_done(job)


async def test_the_first_failure_gives_its_name_and_leaves_its_place_empty() -> None:
    job: PendingJob[float] = PendingJob([None, None, None], arrived_s=0.0)
    job.fail(1, "OSError", started_s=0.0)
    job.fail(0, "ValueError", started_s=0.0)
    assert not await is_done(job)
    job.put(2, 4.0, started_s=0.0)
    assert await is_done(job)
    assert (job.values, job.error_type) == ((None, None, 4.0), "OSError")


async def test_a_job_with_nothing_missing_is_done_from_the_start() -> None:
    assert await is_done(PendingJob([1.0, 2.0], arrived_s=0.0))
    assert await is_done(PendingJob([], arrived_s=0.0))


async def test_an_ended_job_is_done_with_what_is_there() -> None:
    job: PendingJob[float] = PendingJob([None, 2.0], arrived_s=0.0)
    job.end()
    assert await is_done(job)
    assert (job.values, job.queue_ms) == ((None, 2.0), 0.0)
