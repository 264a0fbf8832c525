from __future__ import annotations

import json

import anyio
import pytest
from actor_system import EMBEDDER_KEY, WRITE_S, System, running_system

from recalld.models.domain.cues import MemoryChanges, UpdateReply, UpdateRequest
from recalld.models.domain.errors import ErrorCode, RecalldError
from recalld.models.domain.events import EventName
from recalld.models.domain.reasons import Op, RecallMode
from recalld.models.domain.records import MemoryKind

pytestmark = pytest.mark.anyio

TEXT = "The deploy key lives in the vault"
ASK = "Which vault has the deploy credential?"


async def update(
    system: System, memory_id: str, changes: MemoryChanges, *, user: str = "ines", if_revision: int | None = None
) -> UpdateReply:
    return await system.service.update(
        UpdateRequest(
            user=user,
            memory_id=memory_id,
            changes=changes,
            if_revision=if_revision,
            deadline_s=system.now_s() + WRITE_S,
        )
    )


async def test_a_new_ask_is_embedded_and_found_by_meaning_at_once() -> None:
    async with running_system(System()) as system:
        memory_id = await system.store_text("ines", TEXT)
        reply = await update(system, memory_id, MemoryChanges(asks=(ASK,)))
        assert reply.is_embedded
        assert reply.memory.asks == (ASK,)
        found = await system.recall("ines", ASK)
        assert [item.memory.id for item in found.items] == [memory_id]
        assert found.items[0].evidence.ask_cosine == pytest.approx(1.0, abs=0.01)
        assert found.items[0].evidence.cosine is not None


async def test_only_texts_that_are_new_are_embedded() -> None:
    async with running_system(System()) as system:
        memory_id = await system.store_text("ines", TEXT, cues=("deploy key",), asks=("Which vault?",))
        calls = len(system.embedder.embedded)
        await update(system, memory_id, MemoryChanges(asks=("Which vault?", ASK)))
        assert system.embedder.embedded[calls:] == [ASK]
        await update(system, memory_id, MemoryChanges(asks=(ASK,), kind=MemoryKind.NOTE))
        assert len(system.embedder.embedded) == calls + 1


async def test_without_an_embedder_the_memory_stays_found_and_is_completed_later() -> None:
    system = System()
    async with running_system(system):
        memory_id = await system.store_text("ines", TEXT)
        system.embedder_thread.call_s = lambda: 60.0
        reply = await update(system, memory_id, MemoryChanges(asks=(ASK,)))
        assert not reply.is_embedded
        system.embedder_thread.call_s = lambda: 0.004
        await anyio.sleep(60)  # the stuck call ends
        found = await system.recall("ines", "where does the deploy key live?")
        assert ([item.memory.id for item in found.items], found.mode) == ([memory_id], RecallMode.GATED)
        await anyio.sleep(70)
        assert await system.store.reader.pending(EMBEDDER_KEY, now_ms=system.clock.now_ms(), limit=10) == []
        found = await system.recall("ines", ASK)
        assert found.items[0].evidence.ask_cosine == pytest.approx(1.0, abs=0.01)


async def test_a_change_is_in_the_ledger_and_announced_without_its_words() -> None:
    async with running_system(System()) as system:
        memory_id = await system.store_text("ines", TEXT)
        reply = await update(system, memory_id, MemoryChanges(asks=(ASK,)))
        row = await system.service.explain("ines", reply.decision_id)
        assert (row.op, row.decision, row.reason) == (Op.UPDATE, "updated", "edited")
        body = json.loads(row.body)
        assert (body["changed"], body["asks"]) == (["asks"], {"before": 0, "after": 1, "new": 1})
        (event,) = system.events(EventName.MEMORY_UPDATED)
        assert event.user == "ines"
        assert (event.fields["memory_id"], event.fields["revision"]) == (memory_id, 2)
    assert "credential" not in f"{event}{row}"


async def test_a_change_to_what_is_so_already_leaves_no_trace() -> None:
    async with running_system(System()) as system:
        memory_id = await system.store_text("ines", TEXT, asks=(ASK,))
        reply = await update(system, memory_id, MemoryChanges(asks=(f" {ASK} ",), kind=MemoryKind.FACT))
        assert (reply.decision_id, reply.memory.revision, reply.is_embedded) == ("", 1, True)
        assert system.events(EventName.MEMORY_UPDATED) == []


@pytest.mark.parametrize(
    ("changes", "if_revision", "code"),
    [
        (MemoryChanges(asks=("",)), None, ErrorCode.BAD_REQUEST),
        (MemoryChanges(asks=(ASK,)), 7, ErrorCode.CONFLICT),
        (MemoryChanges(expires_at_ms=1), None, ErrorCode.BAD_REQUEST),
    ],
)
async def test_a_change_that_cannot_be_made_is_told_and_the_memory_stays_as_it_was(
    changes: MemoryChanges, if_revision: int | None, code: ErrorCode
) -> None:
    async with running_system(System()) as system:
        memory_id = await system.store_text("ines", TEXT)
        with pytest.raises(RecalldError) as error:
            await update(system, memory_id, changes, if_revision=if_revision)
        assert error.value.code is code
        assert (await system.service.get("ines", memory_id)).revision == 1


async def test_anothers_memory_is_not_there_to_be_changed() -> None:
    async with running_system(System()) as system:
        memory_id = await system.store_text("ines", TEXT)
        with pytest.raises(RecalldError) as error:
            await update(system, memory_id, MemoryChanges(asks=(ASK,)), user="olga")
        assert error.value.code is ErrorCode.NOT_FOUND
        assert (await system.service.get("ines", memory_id)).asks == ()
