from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recalld.models.policy.backlog import FILLED_SHARE, QueuedJob, fits, wait_ms

DEADLINE_S = 10.0


def job(owner: str, *costs_ms: float, deadline_s: float = DEADLINE_S, is_bulk: bool = False) -> QueuedJob:
    return QueuedJob(owner=owner, deadline_s=deadline_s, costs_ms=costs_ms, is_bulk=is_bulk)


def waiting(*queued: QueuedJob, calls: int = 1, lanes: int = 1) -> float:
    return wait_ms(queued, owner="ines", deadline_s=DEADLINE_S, calls=calls, lanes=lanes)


def test_behind_an_empty_queue_nobody_waits() -> None:
    assert waiting() == 0.0
    assert waiting(job("ben")) == 0.0


def test_another_owner_is_in_the_way_for_as_many_calls_as_are_asked_for() -> None:
    assert waiting(job("ben", 10, 20, 30)) == 10
    assert waiting(job("ben", 10, 20, 30), calls=2) == 30
    assert waiting(job("ben", 10), job("ben", 20), job("mia", 5), calls=2) == 35


def test_ones_own_jobs_are_in_the_way_as_a_whole_unless_their_deadline_is_later() -> None:
    assert waiting(job("ines", 10, 20, 30)) == 60
    assert waiting(job("ines", 10, 20, deadline_s=DEADLINE_S + 1)) == 0


def test_of_bulk_work_one_call_is_in_the_way_whoever_owns_it() -> None:
    assert waiting(job("ben", 10, 20, is_bulk=True), job("ines", 7, 8, is_bulk=True), calls=5) == 17


def test_lanes_share_the_work() -> None:
    assert waiting(job("ben", 10), job("mia", 30), lanes=2) == 20


def test_alone_everything_is_tried_and_behind_others_only_what_fits() -> None:
    assert fits(0.0, 1_000.0, left_ms=1.0)
    assert fits(60.0, 10.0, left_ms=100.0)
    assert not fits(60.0, 11.0, left_ms=100.0)
    assert not fits(1.0, 0.0, left_ms=0.0)
    assert FILLED_SHARE < 1


@given(
    costs=st.lists(st.floats(0.1, 100), max_size=6),
    calls=st.integers(1, 5),
    more=st.floats(0.1, 100),
)
def test_more_queued_work_never_shortens_the_wait(costs: list[float], calls: int, more: float) -> None:
    before = waiting(job("ben", *costs), calls=calls)
    assert waiting(job("ben", *costs, more), calls=calls) >= before
    assert waiting(job("ben", *costs), job("mia", more), calls=calls) == pytest.approx(before + more)
