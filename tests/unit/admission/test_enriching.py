from __future__ import annotations

import json

import pytest
from actor_system import System, running_system

from recalld.daemon.config.settings import WriteSettings
from recalld.models.domain.errors import ErrorCode, RecalldError
from recalld.models.domain.reasons import RememberOutcome
from recalld.models.domain.records import MemoryKind

pytestmark = pytest.mark.anyio

TEXT = "Works at Acme in a zirconium mine"
ASKS = ("Where do I work?", "Which company do I work for?", "Who is my employer?", "Where am I employed?")


async def body_of(system: System, decision_id: str) -> dict[str, object]:
    row = await system.store.reader.decision(decision_id)
    assert row is not None
    return json.loads(row.body)


async def test_a_save_with_room_gets_the_questions_of_its_slot_embedded_with_it() -> None:
    async with running_system(System()) as system:
        reply = await system.remember("ines", TEXT)
        assert reply.memory.asks == ("Where do I work?", "Which company do I work for?")
        assert reply.memory.cues == ("The user's employer",)
        assert reply.is_embedded
        assert set(reply.memory.asks) < set(system.embedder.embedded)


async def test_the_ledger_says_what_was_added_by_what_and_never_the_text() -> None:
    async with running_system(System()) as system:
        reply = await system.remember("ines", TEXT, kind=MemoryKind.FACT, scope="mine", cues=("job",))
        body = await body_of(system, reply.decision_id)
        again = await system.remember("ines", TEXT, scope="mine")
        outcome = (await body_of(system, again.decision_id))["outcome"]
    assert body == {
        "kind": "fact",
        "scope": "mine",
        "outcome": "created",
        "given_cues": 1,
        "given_asks": 0,
        "added_cues": 1,
        "added_asks": 2,
        "sources": ["slot:employer"],
    }
    assert "zirconium" not in json.dumps(body)
    assert outcome == "duplicate"


async def test_what_was_added_never_displaces_what_is_stored() -> None:
    async with running_system(System()) as system:
        first = await system.remember("ines", TEXT, cues=("mine",), asks=("Which shaft is it?", *ASKS[:3]))
        again = await system.remember("ines", TEXT)
        assert (again.outcome, again.memory) == (RememberOutcome.DUPLICATE, first.memory)
        given = await system.remember("ines", TEXT, asks=("Which shaft is open?",))
        assert given.outcome is RememberOutcome.UPDATED
        assert given.memory.asks[0] == "Which shaft is open?"
        assert given.memory.cues == first.memory.cues


async def test_switched_off_a_memory_is_stored_as_given() -> None:
    async with running_system(System(), write=WriteSettings(enrich=False)) as system:
        reply = await system.remember("ines", TEXT)
        assert (reply.memory.cues, reply.memory.asks) == ((), ())
        body = await body_of(system, reply.decision_id)
    assert (body["outcome"], body["added_asks"], body["sources"]) == ("created", 0, [])


async def test_what_was_stored_before_gets_its_questions_when_it_is_saved_again() -> None:
    system = System()
    async with running_system(system, write=WriteSettings(enrich=False)):
        await system.remember("ines", TEXT)
    async with running_system(system):
        again = await system.remember("ines", TEXT)
        assert again.outcome is RememberOutcome.UPDATED
        assert len(again.memory.asks) == 2


async def test_stuffed_asks_are_refused_and_nothing_is_stored() -> None:
    async with running_system(System()) as system:
        with pytest.raises(RecalldError, match=r"asks\[1\]") as caught:
            await system.remember("ines", "Buy zirconium", asks=("Where do I live?", "What is my name?"))
        assert caught.value.code is ErrorCode.BAD_REQUEST
        counts = await system.store.reader.counts("ines", "", now_ms=system.clock.now_ms())
        assert counts.live == 0
