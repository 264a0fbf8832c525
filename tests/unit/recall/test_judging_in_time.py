"""What the gate does with little time, and what is shown of what it had no time for."""

from __future__ import annotations

import anyio
import pytest
from actor_system import System, rejecting, running_system

from recalld.daemon.config.settings import RecallSettings
from recalld.models.domain.reasons import DropReason, RecallMode, RecallReason
from recalld.models.domain.recall import RecallLimit, RecallOutcome, TimeUse

pytestmark = pytest.mark.anyio

QUERY = "where are my winter tyres?"
BEST = "Winter tyres are stored in Kiel"
OTHERS = tuple(f"Tyres of winter car number {number}" for number in range(7))
ZONE = "Europe/Berlin"


def ids(outcome: RecallOutcome) -> list[str]:
    return [item.memory.id for item in outcome.items]


def unjudged(outcome: RecallOutcome) -> int:
    return sum(item.reason is DropReason.BUDGET for item in outcome.dropped)


async def test_remembered_scores_take_no_time_from_those_still_wanted() -> None:
    async with running_system(System()) as system:
        system.scorer.logit = rejecting
        system.scorer_thread.call_s = lambda: 0.02
        for text in (BEST, *OTHERS):
            await system.store_text("ines", text)
        left: list[int] = []
        for _ in range(2):
            outcome = await system.recall("ines", QUERY)
            left.append(unjudged(outcome))
            assert outcome.mode is RecallMode.GATED
            await anyio.sleep(1.0)
    assert left[0] > 0
    assert left[1] == 0
    assert outcome.gate.pairs_cached > 0


async def test_what_comes_first_is_judged_first_and_time_that_is_left_over_is_used() -> None:
    async with running_system(System()) as system:
        system.scorer.logit = rejecting
        system.scorer_thread.call_s = lambda: 0.001  # far less than the first prediction
        for text in (*OTHERS, BEST):
            await system.store_text("ines", text)
        outcome = await system.recall("ines", QUERY)
        first = system.scorer.scored[:2]
    assert any(memory == BEST for _, memory in first)
    assert (outcome.reason, unjudged(outcome)) == (RecallReason.GATED, 0)
    assert RecallLimit.BUDGET not in outcome.coverage.limited_by


async def test_a_degraded_answer_never_brings_up_what_lies_behind_an_excluded_hit() -> None:
    async with running_system(System(), recall=RecallSettings(gate="off")) as system:
        near = [await system.store_text("ines", text) for text in ("winter tyres", "my winter tyres")]
        far = await system.store_text("ines", "lorry tyres")
        full = await system.recall("ines", QUERY)
        rest = await system.recall("ines", QUERY, exclude=tuple(near))
        searched = await system.recall("ines", QUERY, exclude=tuple(near), is_search=True)
    assert set(ids(full)) == set(near)
    assert (rest.mode, rest.reason, ids(rest)) == (RecallMode.FLOOR_ONLY, RecallReason.EXCLUDED, [])
    assert {item.memory_id: item.reason for item in rest.dropped}[far] is DropReason.BEHIND_BEST
    assert ids(searched) == [far]


async def test_when_the_best_was_shown_and_the_rest_is_irrelevant_that_is_the_reason() -> None:
    async with running_system(System()) as system:
        best = await system.store_text("ines", BEST)
        await system.store_text("ines", "Tyres of a lorry")
        first = await system.recall("ines", QUERY, session="s")
        again = await system.recall("ines", QUERY, session="s")
        excluded = await system.recall("ines", QUERY, exclude=(best,))
    assert ids(first) == [best]
    assert (again.reason, ids(again)) == (RecallReason.EXCLUDED, [])
    assert (excluded.reason, ids(excluded)) == (RecallReason.EXCLUDED, [])


@pytest.mark.parametrize("time", TimeUse)
@pytest.mark.parametrize("gate", ["on", "off"])
async def test_a_time_alone_of_which_nothing_is_stored_is_told_whatever_else_is_near(gate: str, time: TimeUse) -> None:
    settings = RecallSettings(gate="on" if gate == "on" else "off")
    async with running_system(System(), recall=settings) as system:
        system.scorer.logit = rejecting
        await system.store_text("ines", "We decide by vote")
        outcome = await system.recall("ines", "what did we decide yesterday?", time_zone=ZONE, time=time)
    assert (outcome.reason, ids(outcome)) == (RecallReason.NOTHING_IN_INTERVAL, [])


async def test_a_time_that_is_mentioned_in_passing_limits_nothing() -> None:
    async with running_system(System()) as system:
        for number in range(25):
            await system.store_text("ines", f"Item {number}")
        passing = await system.recall("ines", "where do I buy winter tyres today?", time_zone=ZONE)
        filtered = await system.recall("ines", "winter tyres today?", time_zone=ZONE, time=TimeUse.FILTER)
        alone = await system.recall("ines", "what did we decide today?", time_zone=ZONE)
    assert RecallLimit.TIME_LIMIT not in passing.coverage.limited_by
    assert RecallLimit.TIME_LIMIT in filtered.coverage.limited_by
    assert RecallLimit.TIME_LIMIT in alone.coverage.limited_by


async def test_a_record_of_the_time_is_scored_against_what_else_is_asked() -> None:
    async with running_system(System()) as system:
        await system.store_text("ines", "We decided on NATS as the event bus")
        await system.recall("ines", "what did we decide today about the event bus?", time_zone=ZONE)
        queries = {query for query, _ in system.scorer.scored}
    assert "what did we decide about the event bus?" in queries
    assert not any("today" in query for query in queries)
