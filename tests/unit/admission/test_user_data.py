"""Settled observations, imports and purges, through the actors of a user."""

from __future__ import annotations

import pytest
from actor_system import System, running_system

from recalld.daemon.config.settings import AdmissionSettings
from recalld.models.domain.admission import OfferedFact, SettleReply, SettleRequest
from recalld.models.domain.admission_store import Observation
from recalld.models.domain.errors import ErrorCode, RecalldError
from recalld.models.domain.events import EventName
from recalld.models.domain.position import Position
from recalld.models.domain.records import Memory, MemoryKind, MemorySource, MemoryStatus
from recalld.models.domain.store import ListFilter
from recalld.models.domain.user_data import (
    ImportOutcome,
    ImportReply,
    ImportRequest,
    PortableMemory,
    PurgeRequest,
)

pytestmark = pytest.mark.anyio

BALANCED = AdmissionSettings(position=Position.BALANCED)
BIKE = OfferedFact(statement="The user rides a Brompton.", quote="Ugh, my Brompton squeaks again.")
SECRET = "The deploy token is ghp_" + "a1B2c3D4e5F6g7H8i9J0" + "k1L2m3N4o5P6q7R8"


async def observed(system: System) -> Observation:
    reply = await system.observe("ines", BIKE.quote, turn_id="t1", session="s", offered=(BIKE,), client="netclaw")
    (verdict,) = reply.observed
    assert verdict.observation is not None
    return verdict.observation


async def settle(
    system: System, observation_id: str, *, is_accepted: bool = True, text: str = "", approver: str = "cli"
) -> SettleReply:
    return await system.service.settle(
        SettleRequest(
            user="ines",
            observation_id=observation_id,
            is_accepted=is_accepted,
            edited_text=text,
            approver=approver,
            deadline_s=system.now_s() + 5.0,
        )
    )


def portable(text: str, memory_id: str = "") -> PortableMemory:
    memory = Memory(
        id=memory_id,
        user="",
        text=text,
        kind=MemoryKind.FACT,
        scope="",
        cues=(),
        asks=(),
        source=MemorySource.IMPORTED,
        status=MemoryStatus.ACTIVE,
        created_at_ms=5,
        updated_at_ms=5,
        expires_at_ms=None,
        revision=1,
    )
    return PortableMemory(memory=memory)


async def take_over(system: System, *memories: PortableMemory, is_dry_run: bool = False) -> ImportReply:
    return await system.service.import_records(
        ImportRequest(user="ines", memories=memories, is_dry_run=is_dry_run, deadline_s=system.now_s() + 5.0)
    )


async def listed(system: System) -> list[Memory]:
    page = await system.service.list_memories("ines", ListFilter(), limit=100, cursor=None)
    return list(page.memories)


async def test_an_accepted_observation_is_recalled_at_once_and_explained() -> None:
    async with running_system(System(), admission=BALANCED) as system:
        observation = await observed(system)
        reply = await settle(system, observation.id)
        assert reply.verdict is not None
        assert reply.verdict.memory is not None
        recalled = await system.recall("ines", "which Brompton does the user ride?")
        assert [item.memory.id for item in recalled.items] == [reply.verdict.memory.id]
        row = await system.service.explain("ines", reply.decision_id)
        (event,) = system.events(EventName.MEMORY_CONFIRMED)
    assert (row.decision, event.fields["proposal_id"], event.fields["state"]) == (
        "accepted",
        observation.id,
        "accepted",
    )


async def test_the_client_whose_model_found_it_cannot_accept_it_and_a_secret_is_refused() -> None:
    async with running_system(System(), admission=BALANCED) as system:
        observation = await observed(system)
        with pytest.raises(RecalldError) as own:
            await settle(system, observation.id, approver="netclaw")
        with pytest.raises(RecalldError, match="edited_text") as secret:
            await settle(system, observation.id, text=SECRET)
        assert await listed(system) == []
    assert (own.value.code, secret.value.code) == (ErrorCode.FORBIDDEN, ErrorCode.BAD_REQUEST)


async def test_a_new_memory_is_enriched_like_a_save_and_keeps_its_time() -> None:
    async with running_system(System()) as system:
        reply = await take_over(system, portable("I work at Initech"))
        (line,) = reply.imported.lines
        (memory,) = await listed(system)
    assert (line.outcome, line.memory_id) == (ImportOutcome.IMPORTED, memory.id)
    assert memory.asks
    assert (memory.created_at_ms, memory.source) == (5, MemorySource.IMPORTED)


async def test_an_exported_memory_comes_in_as_it_was() -> None:
    async with running_system(System()) as system:
        await take_over(system, portable("I work at Initech", "mem_old"))
        (memory,) = await listed(system)
    assert (memory.id, memory.user, memory.asks) == ("mem_old", "ines", ())


async def test_of_what_holds_a_secret_the_store_is_told_nothing() -> None:
    async with running_system(System()) as system:
        reply = await take_over(
            system, portable("Prefers tea", "a"), portable(SECRET, "b"), portable("Prefers rum", "c")
        )
        texts = {memory.text for memory in await listed(system)}
    assert [(line.memory_id, line.outcome) for line in reply.imported.lines] == [
        ("a", ImportOutcome.IMPORTED),
        ("b", ImportOutcome.SECRET),
        ("c", ImportOutcome.IMPORTED),
    ]
    assert texts == {"Prefers tea", "Prefers rum"}


async def test_a_dry_run_writes_nothing_and_says_nothing_to_anybody() -> None:
    async with running_system(System()) as system:
        reply = await take_over(system, portable("Prefers tea"), is_dry_run=True)
        assert (reply.imported.lines[0].outcome, reply.decision_id) == (ImportOutcome.IMPORTED, "")
        assert (await listed(system), system.events(EventName.MEMORY_ADMITTED)) == ([], [])


async def test_after_a_purge_nothing_is_recalled_and_others_are_untouched() -> None:
    async with running_system(System()) as system:
        decision = await system.remember("ines", "The deploy key lives in the vault")
        await system.store_text("bruno", "The deploy key lives in the vault")
        assert len((await system.recall("ines", "where does the deploy key live?")).items) == 1
        purged = await system.service.purge_user(PurgeRequest(user="ines", deadline_s=system.now_s() + 5.0))
        assert purged.memories == 1
        assert (await system.recall("ines", "where does the deploy key live?")).items == ()
        assert len((await system.recall("bruno", "where does the deploy key live?")).items) == 1
        with pytest.raises(RecalldError):
            await system.service.explain("ines", decision.decision_id)
        await system.remember("ines", "The deploy key lives in the safe")
        assert len((await system.recall("ines", "where does the deploy key live?")).items) == 1
