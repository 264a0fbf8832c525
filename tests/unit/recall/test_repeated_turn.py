"""A runtime that asks the same again within one turn, in a tool loop or because it lost the answer."""

from __future__ import annotations

import pytest
from actor_system import System, running_system

from recalld.models.domain.reasons import RecallReason
from recalld.models.domain.recall import RecallOutcome

pytestmark = pytest.mark.anyio

QUERY = "where does the deploy key live?"


def ids(outcome: RecallOutcome) -> list[str]:
    return [item.memory.id for item in outcome.items]


async def test_a_repeat_within_a_turn_gets_the_same_memories_and_costs_no_pair() -> None:
    async with running_system(System()) as system:
        wanted = await system.store_text("ines", "The deploy key lives in the vault")
        await system.store_text("ines", "The deploy runs at noon")
        first = await system.recall("ines", QUERY, session="s", turn_id="t1")
        scored = len(system.scorer.scored)
        again = await system.recall("ines", QUERY, session="s", turn_id="t1")
        assert len(system.scorer.scored) == scored
    assert ids(first) == ids(again) == [wanted]
    assert first.gate.pairs_scored >= 1
    assert again.gate.pairs_scored == 0
    assert again.gate.pairs_cached == first.gate.pairs_scored + first.gate.pairs_cached


async def test_the_next_turn_does_not_get_what_this_one_brought_in() -> None:
    async with running_system(System()) as system:
        await system.store_text("ines", "The deploy key lives in the vault")
        await system.recall("ines", QUERY, session="s", turn_id="t1")
        later = await system.recall("ines", QUERY, session="s", turn_id="t2")
        unnamed = await system.recall("ines", QUERY, session="s")
    assert later.reason is unnamed.reason is RecallReason.EXCLUDED


async def test_what_an_earlier_turn_brought_in_stays_visible_although_a_search_found_it_again() -> None:
    async with running_system(System()) as system:
        wanted = await system.store_text("ines", "The deploy key lives in the vault")
        await system.recall("ines", QUERY, session="s", turn_id="t1")
        searched = await system.recall("ines", QUERY, session="s", turn_id="t2", is_search=True)
        assert ids(searched) == [wanted]
        assert (await system.recall("ines", QUERY, session="s", turn_id="t2")).reason is RecallReason.EXCLUDED


async def test_a_turn_of_another_session_is_another_turn() -> None:
    async with running_system(System()) as system:
        wanted = await system.store_text("ines", "The deploy key lives in the vault")
        assert ids(await system.recall("ines", QUERY, session="one", turn_id="t1")) == [wanted]
        assert ids(await system.recall("ines", QUERY, session="two", turn_id="t1")) == [wanted]
        assert ids(await system.recall("ines", QUERY, session="one", turn_id="t1")) == [wanted]
