"""Mentions, relations and clauses, as a recall uses them."""

from __future__ import annotations

import json

import anyio
import pytest
from actor_system import System, rejecting, running_system

from recalld.daemon.config.settings import WriteSettings
from recalld.models.domain.admission import SessionEvent
from recalld.models.domain.errors import ErrorCode
from recalld.models.domain.reasons import RecallMode, RecallReason
from recalld.models.domain.recall import RecallOutcome
from recalld.models.domain.records import MemoryKind

pytestmark = pytest.mark.anyio

CONVENTION = "Svelte components live beside their routes"
TASK = "how should I name svelte routes here"
PLAIN = WriteSettings(enrich=False)
ITEM = "The lending daemon waits for holdq before it answers"
ITEM_QUERY = "why does the lending daemon wait before it answers"
ENTITY = "holdq: reservation queue service of the consortium"
COMPOUND = (
    "Please set up the fresh repository for our team with everything that belongs into it by now, and also draft the "
    "farewell message for Tobias, and by the way where should I deploy the zirconium gateway"
)


def ids(outcome: RecallOutcome) -> list[str]:
    return [item.memory.id for item in outcome.items]


async def test_a_convention_whose_subject_is_named_passes_a_head_that_says_no() -> None:
    system = System()
    system.scorer.logit = rejecting
    async with running_system(system, write=PLAIN):
        wanted = await system.store_text("ines", CONVENTION, kind=MemoryKind.CONVENTION)
        await system.store_text("ines", CONVENTION.replace("live", "lie"), kind=MemoryKind.FACT)
        found = await system.recall("ines", TASK)
        await anyio.sleep(2)  # until the ledger has written what it holds
        row = await system.store.reader.decision(found.recall_id)
    assert ids(found) == [wanted]
    (item,) = found.items
    assert (item.is_mentioned, item.evidence.mention) == (True, 1.0)
    assert row is not None
    assert json.loads(row.body)["items"][0]["is_mentioned"] is True


async def test_a_question_for_a_fact_needs_more_than_a_mention() -> None:
    system = System()
    system.scorer.logit = rejecting
    async with running_system(system, write=PLAIN):
        await system.store_text("ines", CONVENTION, kind=MemoryKind.CONVENTION)
        assert ids(await system.recall("ines", "who named svelte routes here")) == []


async def test_a_subject_that_everything_holds_is_no_evidence() -> None:
    system = System()
    system.scorer.logit = rejecting
    async with running_system(system, write=PLAIN):
        for number in range(4):
            await system.store_text("ines", f"{CONVENTION} {number}", kind=MemoryKind.CONVENTION)
        found = await system.recall("ines", TASK)
    assert ids(found) == []
    assert {item.evidence.mention for item in found.dropped} == {0.0}


async def test_what_is_recalled_brings_along_the_record_about_what_it_names() -> None:
    async with running_system(System(), write=PLAIN) as system:
        entity = await system.store_text("ines", ENTITY, kind=MemoryKind.ENTITY)
        item = await system.store_text("ines", ITEM)
        found = await system.recall("ines", ITEM_QUERY, session="one")
        assert [(each.memory.id, each.brought_by) for each in found.items] == [(item, ""), (entity, item)]
        assert entity not in {drop.memory_id for drop in found.dropped}
        again = await system.recall("ines", ITEM_QUERY, session="one")
        assert again.reason is RecallReason.EXCLUDED
        await system.service.session("ines", "one", SessionEvent.COMPACTED)
        assert ids(await system.recall("ines", ITEM_QUERY, session="one")) == [item, entity]


async def test_a_short_name_in_a_long_record_is_looked_up_as_well() -> None:
    async with running_system(System(), write=PLAIN) as system:
        entity = await system.store_text("ines", ENTITY, kind=MemoryKind.ENTITY)
        long_words = " ".join(f"{letter}establishment" for letter in "abcdefghijklmnop")
        item = await system.store_text("ines", f"{ITEM}; {long_words}")
        assert ids(await system.recall("ines", ITEM_QUERY)) == [item, entity]


async def test_nothing_is_brought_that_is_excluded_out_of_scope_or_another_users() -> None:
    async with running_system(System(), write=PLAIN) as system:
        item = await system.store_text("ines", ITEM)
        await system.store_text("otto", ENTITY, kind=MemoryKind.ENTITY)
        await system.store_text("ines", ENTITY, kind=MemoryKind.ENTITY, scope="elsewhere")
        entity = await system.store_text("ines", ENTITY, kind=MemoryKind.ENTITY)
        assert ids(await system.recall("ines", ITEM_QUERY, scope="here", exclude=(entity,))) == [item]


async def test_what_is_brought_takes_only_the_room_that_is_left() -> None:
    async with running_system(System(), write=PLAIN) as system:
        await system.store_text("ines", ENTITY, kind=MemoryKind.ENTITY)
        item = await system.store_text("ines", ITEM)
        assert ids(await system.recall("ines", ITEM_QUERY, max_items=1)) == [item]
        assert ids(await system.recall("ines", ITEM_QUERY, max_chars=len(ITEM) + 3)) == [item]


async def test_a_search_on_purpose_and_a_recall_without_a_gate_bring_nothing() -> None:
    system = System()
    async with running_system(system, write=PLAIN):
        entity = await system.store_text("ines", ENTITY, kind=MemoryKind.ENTITY)
        await system.store_text("ines", ITEM)
        searched = await system.recall("ines", ITEM_QUERY, is_search=True)
        assert entity not in ids(searched)
    system.missing.add("scorer")
    async with running_system(system, write=PLAIN):
        degraded = await system.recall("ines", ITEM_QUERY)
        assert degraded.mode is RecallMode.FLOOR_ONLY
        assert all(not item.brought_by for item in degraded.items)


async def test_an_answer_goes_out_without_relations_when_the_store_fails_or_is_slow_by_then() -> None:
    system = System()
    async with running_system(system, write=PLAIN):
        await system.store_text("ines", ENTITY, kind=MemoryKind.ENTITY)
        item = await system.store_text("ines", ITEM)
        await system.recall("ines", ITEM_QUERY)
        system.scorer.logit = lambda *_: _broken(system)
        assert ids(await system.recall("ines", ITEM_QUERY + " now")) == [item]


def _broken(system: System) -> float:
    """A good logit; from then on the store cannot be read."""
    system.reading.code = ErrorCode.STORAGE_UNAVAILABLE
    return 6.0


async def test_a_compound_request_finds_what_the_whole_of_it_is_too_far_from() -> None:
    async with running_system(System(), write=PLAIN) as system:
        wanted = await system.store_text("ines", "Deploy zirconium to Hetzner")
        found = await system.recall("ines", COMPOUND)
        assert ids(found) == [wanted]
        queries = {query for query, _ in system.scorer.scored}
        assert "where should I deploy the zirconium gateway" in queries
        assert COMPOUND not in queries
        short = await system.recall("ines", "where should I deploy the zirconium gateway", session="two")
        assert found.items[0].evidence.cosine == pytest.approx(short.items[0].evidence.cosine)


async def test_clauses_that_are_not_embedded_in_time_are_left_out() -> None:
    system = System()
    async with running_system(system, write=PLAIN):
        await system.store_text("ines", "Deploy zirconium to Hetzner")
        system.embedder_thread.call_s = lambda: 0.04
        found = await system.recall("ines", COMPOUND)
        assert found.mode is not RecallMode.EMPTY
