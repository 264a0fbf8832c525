from __future__ import annotations

import anyio
import numpy as np
import pytest
from actor_system import EMBEDDER_KEY, System, drain, running_system, word_vector
from numpy.typing import NDArray

from recalld.actors.kernel import StopReason
from recalld.models.domain.errors import ErrorCode
from recalld.models.domain.store import ListFilter

pytestmark = pytest.mark.anyio


async def pending_of(system: System) -> list[str]:
    pending = await system.store.reader.pending(EMBEDDER_KEY, now_ms=system.clock.now_ms(), limit=1_000)
    return [each.memory.text for each in pending]


async def test_expired_memories_leave_the_indices_by_themselves() -> None:
    async with running_system(System()) as system:
        await system.remember("ines", "Ines is away", expires_at_ms=system.clock.now_ms() + 1_000)
        await anyio.sleep(6)
        assert system.writing.calls["expire"] >= 1
        counts = await system.store.reader.counts("ines", EMBEDDER_KEY, now_ms=system.clock.now_ms())
        assert counts.live == 0


async def test_checkpoints_come_at_their_own_pace() -> None:
    async with running_system(System()) as system:
        await anyio.sleep(59)
        assert "checkpoint" not in system.writing.calls
        await anyio.sleep(70)
        assert system.writing.calls["checkpoint"] == 2


async def test_what_is_pending_is_embedded_as_soon_as_the_embedder_is_there() -> None:
    system = System(missing={"embedder"})
    async with running_system(system):
        for number in range(70):
            await system.remember("ines", f"Fact number{number} holds")
        assert len(await pending_of(system)) == 70
        system.missing.clear()
        await anyio.sleep(65)
        assert await pending_of(system) == []


async def test_one_text_that_cannot_be_embedded_does_not_keep_the_others_waiting() -> None:
    def vector(text: str, is_query: bool) -> NDArray[np.float32]:  # noqa: FBT001
        if "poison" in text:
            raise ValueError
        return word_vector(text, is_query)

    system = System(missing={"embedder"})
    system.embedder.vector = vector
    async with running_system(system):
        for number in range(40):
            await system.remember("ines", f"poison number{number}")
        await system.remember("ines", "The office is in Bern")
        system.missing.clear()
        await anyio.sleep(70)
        assert len(await pending_of(system)) == 40
        tried = len(system.embedder.embedded)
        await anyio.sleep(5)
        assert len(system.embedder.embedded) - tried <= 80


async def test_a_long_backfill_holds_up_neither_expiry_nor_the_end_of_the_daemon() -> None:
    system = System(missing={"embedder"})
    async with running_system(system):
        for number in range(50):
            await system.remember("ines", f"Fact number{number} holds")
        system.missing.clear()
        system.embedder_thread.call_s = lambda: 25.0 if system.embedder.embedded else 0.001
        await anyio.sleep(70)
        swept = system.writing.calls["expire"]
        await anyio.sleep(20)
        assert system.writing.calls["expire"] >= swept + 3
        started_s = system.now_s()
        await system.supervisor.drain("maintenance", system.now_s() + 8)
        assert system.now_s() - started_s < 0.5
        await drain(system)


async def test_a_store_that_refuses_or_cannot_be_read_is_tried_again_at_the_next_tick() -> None:
    system = System(missing={"embedder"})
    async with running_system(system):
        await system.remember("ines", "The office is in Bern")
        system.missing.clear()
        system.reading.code = system.writing.code = ErrorCode.STORAGE_UNAVAILABLE
        await anyio.sleep(70)
        assert len(await pending_of(system)) == 1
        assert system.watched.restarts == []
        system.reading.code = system.writing.code = None
        await anyio.sleep(6)
        assert await pending_of(system) == []


async def test_a_memory_that_was_forgotten_meanwhile_stays_forgotten() -> None:
    system = System(missing={"embedder"})
    async with running_system(system):
        one = await system.store_text("ines", "The office is in Bern")
        system.missing.clear()
        system.embedder_thread.call_s = lambda: 2.0 if system.embedder_thread.made and system.embedder.embedded else 0.5
        await anyio.sleep(0.2)
        await system.forget("ines", one)
        await anyio.sleep(70)
        page = await system.service.list_memories("ines", ListFilter(), limit=10, cursor=None)
        assert page.total == 0
        assert await pending_of(system) == []


async def test_whatever_fails_in_maintenance_never_ends_the_daemon() -> None:
    async with running_system(System()) as system:
        system.reading.crash = KeyError("unexpected")
        await anyio.sleep(600)
        assert {name for name, _ in system.watched.restarts} == {"maintenance"}
        system.reading.crash = None
        await anyio.sleep(120)
        restarts = len(system.watched.restarts)
        await anyio.sleep(120)
        assert len(system.watched.restarts) == restarts
        assert await system.supervisor.drain("maintenance", system.now_s() + 8) is StopReason.DRAINED
