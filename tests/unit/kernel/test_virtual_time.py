from __future__ import annotations

import time

import anyio
import pytest
from virtual_time import EPOCH_MS, LoopClock, ManualClock, NothingLeftToDoError, VirtualTimeLoop


@pytest.mark.anyio
async def test_an_hour_of_sleep_takes_no_time() -> None:
    clock = LoopClock()
    started_s, wall_s = clock.monotonic_s(), time.monotonic()
    await anyio.sleep(3600)
    assert clock.monotonic_s() - started_s == pytest.approx(3600)
    assert time.monotonic() - wall_s < 60


@pytest.mark.anyio
async def test_timers_fire_in_the_order_of_their_times() -> None:
    order: list[float] = []

    async def nap(for_s: float) -> None:
        await anyio.sleep(for_s)
        order.append(for_s)

    async with anyio.create_task_group() as tasks:
        for for_s in (3.0, 1.0, 2.0):
            tasks.start_soon(nap, for_s)
    assert order == [1.0, 2.0, 3.0]


@pytest.mark.anyio
async def test_the_wall_clock_of_a_loop_clock_can_jump_while_its_monotonic_clock_does_not() -> None:
    clock = LoopClock()
    before_s, before_ms = clock.monotonic_s(), clock.now_ms()
    clock.jump_ms = -5000
    assert clock.monotonic_s() == pytest.approx(before_s, abs=0.01)
    assert clock.now_ms() == pytest.approx(before_ms - 5000, abs=10)


def test_a_hang_is_an_error_instead_of_a_wait() -> None:
    loop = VirtualTimeLoop()
    try:
        future = loop.create_future()
        with pytest.raises(NothingLeftToDoError):
            loop.run_until_complete(future)
    finally:
        loop.close()


def test_a_manual_clock_moves_only_when_told() -> None:
    clock = ManualClock(2.0)
    assert clock.monotonic_s() == 2.0
    clock.advance(0.5)
    assert clock.monotonic_s() == 2.5
    assert clock.now_ms() == EPOCH_MS + 2500
