"""Expressions of time in a turn: they nominate, move up and filter, and never silence anything else."""

from __future__ import annotations

import datetime as dt

import pytest
from actor_system import System, rejecting, running_system
from virtual_time import EPOCH_MS

from recalld.daemon.config.settings import RecallSettings
from recalld.models.domain.reasons import DropReason, RecallDecision, RecallMode, RecallReason
from recalld.models.domain.recall import RecallLimit, RecallOutcome, TimeUse

pytestmark = pytest.mark.anyio

DAY_MS = 86_400_000
ZONE = "Europe/Berlin"
WIDE = RecallSettings(max_items=20)


def ids(outcome: RecallOutcome) -> list[str]:
    return [item.memory.id for item in outcome.items]


async def test_what_was_stored_yesterday_answers_a_turn_that_asks_for_nothing_else() -> None:
    async with running_system(System()) as system:
        system.scorer.logit = rejecting
        await system.store_text("ines", "The bakery closes on Mondays")
        system.clock.jump_ms += DAY_MS
        first = await system.store_text("ines", "Postgres for the billing service")
        second = await system.store_text("ines", "The logo stays green")
        system.clock.jump_ms += DAY_MS
        today = await system.store_text("ines", "Lunch is at one")
        outcome = await system.recall("ines", "what did we decide yesterday?", time_zone=ZONE)
    assert ids(outcome) == [second, first]
    assert (outcome.reason, outcome.mode) == (RecallReason.IN_INTERVAL, RecallMode.GATED)
    assert all(item.answers_by_time and item.relevance is None for item in outcome.items)
    assert all(item.evidence.is_in_interval for item in outcome.items)
    assert today not in outcome.floor_items
    assert outcome.turn is not None
    assert outcome.turn.asks_only_for_time
    assert [interval.rule for interval in outcome.turn.intervals] == ["day"]


async def test_a_record_of_that_time_is_judged_where_the_turn_asks_for_something() -> None:
    async with running_system(System()) as system:
        wanted = await system.store_text("ines", "We chose Postgres for the billing service")
        other = await system.store_text("ines", "The logo stays green")
        system.clock.jump_ms += DAY_MS
        outcome = await system.recall("ines", "what did we choose for the billing service yesterday?", time_zone=ZONE)
    assert ids(outcome) == [wanted]
    assert outcome.reason is RecallReason.RELEVANT
    assert {drop.memory_id: drop.reason for drop in outcome.dropped} == {other: DropReason.BELOW_FLOOR}


async def test_a_time_in_the_turn_never_silences_what_is_of_another_time() -> None:
    async with running_system(System()) as system:
        old = await system.store_text("ines", "The deploy key lives in the vault")
        system.clock.jump_ms += 3 * DAY_MS
        await system.store_text("ines", "The logo stays green")
        system.clock.jump_ms += DAY_MS
        outcome = await system.recall("ines", "where does the deploy key live since yesterday?", time_zone=ZONE)
    assert ids(outcome) == [old]
    assert outcome.items[0].evidence.is_in_interval is False


async def test_a_turn_without_a_time_looks_for_none() -> None:
    async with running_system(System()) as system:
        await system.store_text("ines", "The deploy key lives in the vault")
        outcome = await system.recall("ines", "where does the deploy key live?", time_zone=ZONE)
        assert "within" not in system.reading.calls
    assert outcome.items[0].evidence.is_in_interval is None


async def test_of_two_alike_the_one_of_that_time_comes_first() -> None:
    async with running_system(System(), recall=RecallSettings(gate="off")) as system:
        of_then = await system.store_text("ines", "The deploy key lives in the vault")
        system.clock.jump_ms += 20 * DAY_MS
        newer = await system.store_text("ines", "The deploy key lives in the safe")
        text = "where does the deploy key live"
        assert ids(await system.recall("ines", text, time_zone=ZONE)) == [newer, of_then]
        assert ids(await system.recall("ines", f"{text} 20 days ago?", time_zone=ZONE)) == [of_then, newer]


async def test_a_filter_searches_that_time_alone_and_says_what_it_left_out() -> None:
    async with running_system(System()) as system:
        old = await system.store_text("ines", "The deploy key lives in the vault")
        system.clock.jump_ms += 2 * DAY_MS
        new = await system.store_text("ines", "The deploy key lives in the safe")
        system.clock.jump_ms += DAY_MS
        text = "where did the deploy key live yesterday?"
        filtered = await system.recall("ines", text, time_zone=ZONE, time=TimeUse.FILTER)
        boosted = await system.recall("ines", text, time_zone=ZONE)
    assert ids(filtered) == [new]
    coverage = filtered.coverage
    assert (coverage.discovered, coverage.searched, coverage.skipped_out_of_interval) == (2, 1, 1)
    assert set(ids(boosted)) == {old, new}
    assert boosted.coverage.skipped_out_of_interval == 0


@pytest.mark.parametrize("time", TimeUse)
async def test_a_time_of_which_nothing_is_stored_is_not_a_turn_without_a_time(time: TimeUse) -> None:
    async with running_system(System()) as system:
        await system.store_text("ines", "The logo stays green")
        system.clock.jump_ms += 4 * DAY_MS
        of_then = await system.recall("ines", "what did we decide yesterday?", time_zone=ZONE, time=time)
        of_no_time = await system.recall("ines", "what about the bakery?", time_zone=ZONE, time=time)
    assert of_then.reason is RecallReason.NOTHING_IN_INTERVAL
    assert of_then.decision is RecallDecision.SILENT
    assert of_then.coverage.skipped_out_of_interval == (1 if time is TimeUse.FILTER else 0)
    assert of_then.coverage.is_time_filtered is (time is TimeUse.FILTER)
    assert of_no_time.reason is RecallReason.BELOW_FLOOR
    assert of_no_time.coverage.skipped_out_of_interval == 0
    assert of_no_time.coverage.is_time_filtered is False


async def test_a_filter_counts_in_the_store_where_there_is_no_index() -> None:
    system = System(missing={"embedder"})
    async with running_system(system):
        await system.store_text("ines", "The deploy key lives in the vault", scope="work")
        await system.store_text("ines", "The deploy key lives at home", scope="home")
        system.clock.jump_ms += 2 * DAY_MS
        outcome = await system.recall(
            "ines", "what happened yesterday?", time_zone=ZONE, time=TimeUse.FILTER, scope="work"
        )
    coverage = outcome.coverage
    assert (coverage.discovered, coverage.skipped_wrong_scope, coverage.skipped_out_of_interval) == (2, 1, 1)
    assert (coverage.searched, outcome.reason) == (0, RecallReason.NOTHING_IN_INTERVAL)


async def test_without_an_embedder_a_time_still_finds_what_is_of_it() -> None:
    system = System(missing={"embedder"})
    async with running_system(system):
        wanted = await system.store_text("ines", "Postgres for the billing service")
        system.clock.jump_ms += DAY_MS
        outcome = await system.recall("ines", "what did we decide yesterday?", time_zone=ZONE)
    assert ids(outcome) == [wanted]
    assert (outcome.mode, outcome.reason) == (RecallMode.LEXICAL_ONLY, RecallReason.IN_INTERVAL)


async def test_a_time_read_in_no_known_zone_moves_up_and_passes_nothing() -> None:
    async with running_system(System()) as system:
        system.scorer.logit = rejecting
        await system.store_text("ines", "Postgres for the billing service")
        system.clock.jump_ms += DAY_MS
        outcome = await system.recall("ines", "what did we decide yesterday?")
    assert outcome.items == ()
    assert outcome.turn is not None
    assert (outcome.turn.is_zone_known, outcome.turn.intervals[0].confidence) == (False, 0.475)


async def test_what_the_session_sees_or_the_caller_excludes_is_not_of_yesterday_either() -> None:
    async with running_system(System()) as system:
        excluded = await system.store_text("ines", "Postgres for the billing service")
        wanted = await system.store_text("ines", "The logo stays green")
        system.clock.jump_ms += DAY_MS
        asked = "what did we decide yesterday?"
        assert ids(await system.recall("ines", asked, session="s", exclude=(excluded,), time_zone=ZONE)) == [wanted]
        assert ids(await system.recall("ines", asked, session="s", exclude=(excluded,), time_zone=ZONE)) == []


async def test_a_gate_that_fails_leaves_what_is_of_that_time_first_and_caps_it_with_the_rest() -> None:
    async with running_system(System(missing={"scorer"})) as system:
        other = await system.store_text("ines", "What did we decide yesterday about the bakery")
        system.clock.jump_ms += 9 * DAY_MS
        of_then = [await system.store_text("ines", f"Choice number{number}") for number in range(2)]
        system.clock.jump_ms += DAY_MS
        outcome = await system.recall("ines", "what did we decide yesterday?", time_zone=ZONE)
    assert ids(outcome) == [*reversed(of_then), other]
    assert outcome.floor_items == tuple(ids(outcome))
    assert outcome.mode is RecallMode.FLOOR_ONLY


async def test_a_gate_is_not_asked_where_time_alone_answers() -> None:
    async with running_system(System(missing={"scorer"}), recall=WIDE) as system:
        for number in range(6):
            await system.store_text("ines", f"Decision number{number}")
        system.clock.jump_ms += DAY_MS
        outcome = await system.recall("ines", "what did we decide yesterday?", time_zone=ZONE)
    assert len(outcome.items) == 6  # nothing was left for the gate to judge, so it was not asked
    assert outcome.mode is RecallMode.GATED


async def test_more_of_a_time_than_is_nominated_is_told_as_a_limit() -> None:
    async with running_system(System(), recall=WIDE) as system:
        for number in range(25):
            await system.store_text("ines", f"Decision number{number}")
        system.clock.jump_ms += DAY_MS
        outcome = await system.recall("ines", "what did we decide yesterday?", time_zone=ZONE)
    assert len(outcome.items) == 20
    assert RecallLimit.TIME_LIMIT in outcome.coverage.limited_by


async def test_the_present_is_the_runtimes_where_it_names_one() -> None:
    async with running_system(System()) as system:
        wanted = await system.store_text("ines", "The logo stays green")
        in_a_week_ms = EPOCH_MS + 7 * 86_400_000
        text = "what did we decide a week ago?"
        assert ids(await system.recall("ines", text, time_zone=ZONE, now_ms=in_a_week_ms)) == [wanted]
        assert ids(await system.recall("ines", text, time_zone=ZONE)) == []


@pytest.mark.parametrize("year", [1, 2, 9_997, 9_999])
async def test_a_present_at_the_ends_of_the_calendar_is_answered(year: int) -> None:
    at_ms = round((dt.datetime(year, 6, 1, tzinfo=dt.UTC) - dt.datetime(1970, 1, 1, tzinfo=dt.UTC)).total_seconds())
    async with running_system(System()) as system:
        await system.store_text("ines", "The logo stays green")
        outcome = await system.recall("ines", "what did we decide yesterday?", now_ms=at_ms * 1000, time_zone=ZONE)
    assert outcome.decision is RecallDecision.SILENT
