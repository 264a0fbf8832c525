from __future__ import annotations

import anyio
import anyio.lowlevel
import pytest
from virtual_time import LoopClock

from recalld.actors.recall import NoTurnError, RecallTurns
from recalld.models.policy.recall_load import WORKING_MAX

pytestmark = pytest.mark.anyio

LONG_S = 60.0


async def work(
    turns: RecallTurns, log: list[str], name: str, *, work_s: float, within_s: float = LONG_S, user: str = "ines"
) -> None:
    try:
        async with turns.turn(user, deadline_s=LoopClock().monotonic_s() + within_s):
            log.append(f"{name} begins")
            await anyio.sleep(work_s)
    except NoTurnError:
        log.append(f"{name} has no turn")


async def test_recalls_beyond_the_bound_begin_in_the_order_of_their_arrival() -> None:
    turns, log = RecallTurns(LoopClock()), list[str]()
    async with anyio.create_task_group() as tasks:
        for number in range(WORKING_MAX + 3):
            work_s = 0.001 + number / 10_000  # one after another, so that trio cannot mix their ends
            tasks.start_soon(lambda number=number, work_s=work_s: work(turns, log, f"{number:02}", work_s=work_s))
            await anyio.lowlevel.checkpoint()
        await anyio.sleep(0.0005)
        assert len(log) == WORKING_MAX
    assert log == sorted(log)
    assert len(log) == WORKING_MAX + 3


async def test_while_a_recall_waits_for_a_model_another_one_has_its_turn() -> None:
    turns, log = RecallTurns(LoopClock()), list[str]()

    async def waits_for_a_model() -> None:
        async with turns.turn("ines", deadline_s=LoopClock().monotonic_s() + LONG_S):
            await anyio.sleep(0.01)
            with turns.waiting():
                await anyio.sleep(10.0)
            log.append("answered")

    async with anyio.create_task_group() as tasks:
        for _ in range(WORKING_MAX):
            tasks.start_soon(waits_for_a_model)
        await anyio.sleep(0.001)
        tasks.start_soon(lambda: work(turns, log, "late", work_s=0.1))
        await anyio.sleep(0.001)
        assert log == []
        await anyio.sleep(0.1)
        assert log == ["late begins"]
    assert log[1:] == ["answered"] * WORKING_MAX


async def test_a_turn_that_does_not_come_in_time_is_not_waited_for() -> None:
    turns, log = RecallTurns(LoopClock()), list[str]()
    async with anyio.create_task_group() as tasks:
        for number in range(WORKING_MAX):
            tasks.start_soon(lambda number=number: work(turns, log, str(number), work_s=5.0))
        await anyio.sleep(0.001)
        started_s = LoopClock().monotonic_s()
        await work(turns, log, "late", work_s=0.1, within_s=0.3)
        assert LoopClock().monotonic_s() - started_s < 0.3
    assert log[-1] == "late has no turn"


async def test_a_recall_that_cannot_be_answered_in_time_is_told_so_at_once() -> None:
    turns, log = RecallTurns(LoopClock()), list[str]()
    async with anyio.create_task_group() as tasks:
        for number in range(300):
            tasks.start_soon(lambda number=number: work(turns, log, str(number), work_s=1.0, within_s=0.3))
        await anyio.lowlevel.checkpoint()
        await anyio.lowlevel.checkpoint()
        refused = [line for line in log if line.endswith("no turn")]
        assert 100 < len(refused) < 290


async def test_a_burst_of_one_user_is_hardly_in_the_way_of_another() -> None:
    turns, log = RecallTurns(LoopClock()), list[str]()
    async with anyio.create_task_group() as tasks:
        for number in range(200):
            tasks.start_soon(lambda number=number: work(turns, log, f"ines {number}", work_s=0.01, within_s=0.3))
        await anyio.sleep(0.001)
        assert any(line.startswith("ines") and line.endswith("no turn") for line in log)
        before = len(log)
        await work(turns, log, "ben", work_s=0.0, within_s=0.3, user="ben")
        assert log.index("ben begins") - before <= WORKING_MAX


async def test_an_asker_that_leaves_while_it_waits_keeps_nobody_from_their_turn() -> None:
    turns, log = RecallTurns(LoopClock()), list[str]()
    async with anyio.create_task_group() as tasks:
        for number in range(WORKING_MAX):
            tasks.start_soon(lambda number=number: work(turns, log, str(number), work_s=1.0))
        await anyio.sleep(0.001)
        for _ in range(3):
            with anyio.move_on_after(0.01):
                await work(turns, log, "gone", work_s=1.0)
        await work(turns, log, "patient", work_s=0.1)
    assert "patient begins" in log
    assert "gone begins" not in log


async def test_a_recall_that_fails_gives_its_turn_back() -> None:
    turns, log = RecallTurns(LoopClock()), list[str]()

    async def fail() -> None:
        async with turns.turn("ines", deadline_s=LoopClock().monotonic_s() + LONG_S):
            raise ZeroDivisionError

    for _ in range(3 * WORKING_MAX):
        with pytest.raises(ZeroDivisionError):
            await fail()
    await work(turns, log, "next", work_s=0.0)
    assert log == ["next begins"]
