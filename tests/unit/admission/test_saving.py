from __future__ import annotations

import anyio
import pytest
from actor_system import EMBEDDER_KEY, System, running_system

from recalld.models.domain.errors import ErrorCode, RecalldError
from recalld.models.domain.events import EventName
from recalld.models.domain.reasons import RecallMode, RememberOutcome

pytestmark = pytest.mark.anyio

TEXT = "The deploy key lives in the vault"
QUERY = "where does the deploy key live?"


async def test_a_save_is_embedded_durable_and_announced_without_its_words() -> None:
    async with running_system(System()) as system:
        reply = await system.remember("ines", TEXT, cues=("deploy key",), asks=(QUERY,))
        assert reply.outcome is RememberOutcome.CREATED
        assert reply.is_embedded
        assert await system.service.get("ines", reply.memory.id) == reply.memory
        (event,) = system.events(EventName.MEMORY_ADMITTED)
    assert event.user == "ines"
    assert event.fields["memory_id"] == reply.memory.id
    assert "vault" not in str(event)


async def test_the_same_words_are_a_duplicate_and_other_cues_an_update() -> None:
    async with running_system(System()) as system:
        first = await system.remember("ines", TEXT)
        again = await system.remember("ines", TEXT)
        assert (again.outcome, again.memory, again.is_embedded) == (RememberOutcome.DUPLICATE, first.memory, True)
        changed = await system.remember("ines", TEXT, cues=("deploy key",))
        assert changed.outcome is RememberOutcome.UPDATED
        assert changed.memory.id == first.memory.id
        assert changed.memory.revision == 2


async def test_without_an_embedder_a_save_is_pending_found_by_its_words_and_embedded_later() -> None:
    system = System(missing={"embedder"})
    async with running_system(system):
        reply = await system.remember("ines", TEXT, asks=(QUERY,))
        assert not reply.is_embedded
        found = await system.recall("ines", QUERY)
        assert (len(found.items), found.mode) == (1, RecallMode.LEXICAL_ONLY)
        system.missing.clear()
        await anyio.sleep(70)
        assert await system.store.reader.pending(EMBEDDER_KEY, now_ms=system.clock.now_ms(), limit=10) == []
        found = await system.recall("ines", QUERY)
        assert (len(found.items), found.mode) == (1, RecallMode.GATED)
        assert found.items[0].evidence.ask_cosine == pytest.approx(1.0, abs=0.01)


async def test_a_slow_embedder_delays_a_save_by_a_bounded_time_only() -> None:
    async with running_system(System()) as system:
        system.embedder_thread.call_s = lambda: 60.0
        started_s = system.now_s()
        reply = await system.remember("ines", TEXT)
        assert system.now_s() - started_s == pytest.approx(2.0, abs=0.05)
        assert not reply.is_embedded


async def test_a_memory_is_embedded_wholly_or_not_at_all() -> None:
    async with running_system(System()) as system:
        system.embedder_thread.call_s = lambda: 1.5
        reply = await system.remember("ines", TEXT, cues=("key", "vault", "deploy"))
        assert not reply.is_embedded
        (pending,) = await system.store.reader.pending(EMBEDDER_KEY, now_ms=system.clock.now_ms(), limit=10)
        assert pending.memory.id == reply.memory.id


@pytest.mark.parametrize("code", [ErrorCode.STORAGE_FULL, ErrorCode.STORAGE_UNAVAILABLE])
async def test_what_the_store_refuses_is_not_acknowledged_and_can_be_repeated(code: ErrorCode) -> None:
    async with running_system(System()) as system:
        system.writing.code = code
        with pytest.raises(RecalldError) as caught:
            await system.remember("ines", TEXT)
        assert caught.value.code is code
        assert caught.value.retryable
        system.writing.code = None
        assert (await system.remember("ines", TEXT)).outcome is RememberOutcome.CREATED


async def test_a_bad_memory_is_refused_by_field_and_costs_nothing() -> None:
    async with running_system(System()) as system:
        with pytest.raises(RecalldError, match="text") as caught:
            await system.remember("ines", "   ")
        assert caught.value.code is ErrorCode.BAD_REQUEST
        assert system.writing.calls == {}
        assert len((await system.remember("ines", TEXT)).memory.id) > 0


async def test_a_write_whose_asker_left_before_its_turn_is_not_begun() -> None:
    async with running_system(System()) as system:
        system.writing.delay_s = 1.0
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(system.remember, "ines", TEXT)
            await anyio.sleep(0.1)
            with anyio.move_on_after(0.1):
                await system.remember("ines", "Nobody waits for this")
        await anyio.sleep(5)
        assert system.writing.calls["remember"] == 1
