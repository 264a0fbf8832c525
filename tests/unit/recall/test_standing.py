"""The standing block of a session, through the real composition in virtual time."""

from __future__ import annotations

from typing import Final

import anyio
import msgspec
import pytest
from actor_system import System, running_system

from recalld.daemon.config.settings import StandingSettings
from recalld.models.domain.admission import SessionEvent
from recalld.models.domain.errors import ErrorCode, RecalldError
from recalld.models.domain.events import EventName
from recalld.models.domain.outcomes import OutcomeResult, OutcomeTally
from recalld.models.domain.reasons import Op, RecallReason
from recalld.models.domain.records import MemoryKind
from recalld.models.domain.standing import (
    StandingAction,
    StandingBlock,
    StandingChoice,
    StandingReason,
    StandingVerdict,
)

pytestmark = pytest.mark.anyio

PREFERENCE: Final = MemoryKind.PREFERENCE
TEXT = "Deploy keys live in the vault, never in the repository"
QUERY = "where do the deploy keys live?"


def ids(block: StandingBlock) -> list[str]:
    return [memory.id for memory in block.memories]


async def stand(system: System, text: str = TEXT, *, user: str = "ines", scope: str = "") -> str:
    return await system.store_text(user, text, kind=PREFERENCE, scope=scope)


async def test_a_session_is_given_its_block_once_and_again_after_it_was_compacted() -> None:
    async with running_system(System()) as system:
        wanted = await stand(system)
        first = await system.standing("ines", "one")
        assert (ids(first), first.reason) == ([wanted], StandingReason.GIVEN)
        second = await system.standing("ines", "one")
        assert (ids(second), second.reason) == ([], StandingReason.ALREADY_GIVEN)
        assert ids(await system.standing("ines", "two")) == [wanted]
        for event in SessionEvent:
            await system.service.session("ines", "one", event)
            assert ids(await system.standing("ines", "one")) == [wanted]
            assert ids(await system.standing("ines", "one")) == []
        assert ids(await system.standing("ines", "one", is_again=True)) == [wanted]


async def test_without_a_session_the_block_is_only_shown() -> None:
    async with running_system(System()) as system:
        wanted = await stand(system)
        for _ in range(2):
            assert ids(await system.standing("ines")) == [wanted]


async def test_what_stands_is_not_recalled_again_in_the_session_until_it_is_compacted() -> None:
    async with running_system(System()) as system:
        wanted = await stand(system)
        await system.standing("ines", "one")
        silent = await system.recall("ines", QUERY, session="one")
        assert (silent.items, silent.reason) == ((), RecallReason.EXCLUDED)
        assert [item.memory.id for item in (await system.recall("ines", QUERY, session="two")).items] == [wanted]
        await system.service.session("ines", "one", SessionEvent.COMPACTED)
        assert [item.memory.id for item in (await system.recall("ines", QUERY, session="one")).items] == [wanted]


async def test_what_a_recall_has_handed_over_is_not_in_the_block() -> None:
    async with running_system(System()) as system:
        await stand(system)
        await system.recall("ines", QUERY, session="one")
        block = await system.standing("ines", "one")
        assert (ids(block), block.reason) == ([], StandingReason.ALREADY_VISIBLE)
        other = await stand(system, "Answer in German")
        assert ids(await system.standing("ines", "one")) == [other]


async def test_a_forgotten_record_stands_nowhere_and_another_users_never_does() -> None:
    async with running_system(System()) as system:
        gone, kept = await stand(system, "Prefers snow"), await stand(system, "Prefers rain")
        await stand(system, "Prefers coffee", user="omar")
        await system.forget("ines", gone)
        assert ids(await system.standing("ines", "one")) == [kept]
        await system.forget("ines", kept, is_hard=True)
        for session in ("one", "two", ""):
            assert ids(await system.standing("ines", session)) == []
        assert (await system.standing("ines", "two", is_again=True)).reason is StandingReason.NOTHING_STANDING


async def test_an_empty_block_does_not_use_up_the_session() -> None:
    async with running_system(System()) as system:
        assert (await system.standing("ines", "one")).reason is StandingReason.NOTHING_STANDING
        wanted = await stand(system)
        assert ids(await system.standing("ines", "one")) == [wanted]


async def test_a_second_scope_of_a_session_adds_only_what_is_its_own() -> None:
    async with running_system(System()) as system:
        everywhere = await stand(system, "Answer in German")
        work = await stand(system, "Use uv", scope="work")
        home = await stand(system, "Use npm", scope="home")
        assert set(ids(await system.standing("ines", "one", "work"))) == {everywhere, work}
        assert ids(await system.standing("ines", "one", "home")) == [home]
        assert (await system.standing("ines", "one", "work")).reason is StandingReason.ALREADY_GIVEN


async def test_two_requests_at_once_give_one_block() -> None:
    async with running_system(System()) as system:
        await stand(system)
        system.reading.slow_s["standing_candidates"] = 0.05
        blocks: list[StandingBlock] = []

        async def ask() -> None:
            blocks.append(await system.standing("ines", "one"))

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(ask)
            tasks.start_soon(ask)
        assert sorted(len(block.memories) for block in blocks) == [0, 1]


async def test_a_block_that_nobody_took_or_that_failed_is_given_when_asked_again() -> None:
    async with running_system(System()) as system:
        wanted = await stand(system)
        system.reading.slow_s["standing_candidates"] = 0.05
        with anyio.move_on_after(0.02):
            await system.standing("ines", "one")
        await anyio.sleep(0.5)
        system.reading.slow_s.clear()
        system.reading.code = ErrorCode.STORAGE_UNAVAILABLE
        with pytest.raises(RecalldError) as raised:
            await system.standing("ines", "one")
        assert raised.value.code is ErrorCode.STORAGE_UNAVAILABLE
        system.reading.code = None
        assert ids(await system.standing("ines", "one")) == [wanted]
        assert not system.watched.restarts


async def test_a_session_that_is_compacted_while_its_block_is_read_gets_it_again() -> None:
    async with running_system(System()) as system:
        wanted = await stand(system)
        system.reading.slow_s["standing_candidates"] = 0.05

        async def compact() -> None:
            await anyio.sleep(0.02)
            await system.service.session("ines", "one", SessionEvent.COMPACTED)

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(compact)
            assert ids(await system.standing("ines", "one")) == [wanted]
        system.reading.slow_s.clear()
        assert ids(await system.standing("ines", "one")) == [wanted]


async def test_a_lower_cap_still_gives_the_best_that_fits() -> None:
    async with running_system(System()) as system:
        long, short = await stand(system, "x" * 80), await stand(system, "Use uv")
        block = await system.standing("ines", max_chars=20)
        assert ids(block) == [short]
        assert (block.chars, block.chars_max, block.left_out) == (6, 20, 1)
        assert {row.candidate.memory.id: row.verdict for row in block.rows}[long] is StandingVerdict.OVER_CHARS
        assert (await system.standing("ines", max_chars=3)).reason is StandingReason.OVER_LIMITS


async def test_outcomes_demote_a_person_restores_and_pins() -> None:
    async with running_system(System()) as system:
        wanted = await stand(system, "Signs letters with initials only")
        for session in ("a", "b"):
            block = await system.standing("ines", session)
            await system.report("ines", block.decision_id, OutcomeResult.HARMFUL, wanted)
        demoted = await system.standing("ines", "c")
        assert (ids(demoted), demoted.reason) == ([], StandingReason.DEMOTED)
        assert [pointer.memory_id for pointer in demoted.pointers] == [wanted]
        assert [item.memory.id for item in (await system.recall("ines", "signs letters?")).items] == [wanted]
        await anyio.sleep(1)
        await system.set_standing("ines", wanted, StandingAction.RESTORE)
        assert ids(await system.standing("ines", "d")) == [wanted]
        await system.set_standing("ines", wanted, StandingAction.DEMOTE)
        assert ids(await system.standing("ines", "e")) == []
        await system.set_standing("ines", wanted, StandingAction.PIN)
        assert ids(await system.standing("ines", "f")) == [wanted]
        held = await system.service.outcomes_of_memory("ines", wanted, limit=10)
        assert (held.tally, held.choice) == (OutcomeTally(harmful=2), StandingChoice.PINNED)


async def test_a_block_can_be_explained_without_its_words_and_is_announced() -> None:
    async with running_system(System()) as system:
        wanted = await stand(system)
        block = await system.standing("ines", "one")
        row = await system.service.explain("ines", block.decision_id)
        assert (row.op, row.decision, row.reason, row.session) == (Op.STANDING, "inject", "given", "one")
        body = msgspec.json.decode(row.body)
        assert [item["memory_id"] for item in body["items"]] == [wanted]
        assert (body["chars"], body["others"]) == (len(TEXT), [])
        assert b"vault" not in row.body
        (event,) = system.events(EventName.MEMORY_STANDING_FINAL)
        assert (event.user, event.fields["shown_count"], event.fields["reason"]) == ("ines", 1, "given")


async def test_an_outcome_reaches_a_decision_that_was_just_made_and_is_counted_once() -> None:
    async with running_system(System()) as system:
        wanted = await system.store_text("ines", TEXT)
        recalled = await system.recall("ines", QUERY)
        for _ in range(2):
            await system.report("ines", recalled.recall_id, OutcomeResult.USED, wanted)
        reported = await system.service.outcomes_of_decision("ines", recalled.recall_id, limit=10)
        assert reported.tally == OutcomeTally(used=1)
        assert (await system.service.stats()).counters["outcomes_used"] == 1
        assert len(system.events(EventName.MEMORY_OUTCOME_RECORDED)) == 1
        for user, decision_id in (("omar", recalled.recall_id), ("ines", "rec_none")):
            with pytest.raises(RecalldError) as raised:
                await system.report(user, decision_id, OutcomeResult.USED)
            assert raised.value.code is ErrorCode.NOT_FOUND


async def test_outcomes_change_nothing_of_what_a_recall_finds() -> None:
    async with running_system(System()) as system:
        await system.store_text("ines", TEXT)
        await system.store_text("ines", "The deploy keys rotate weekly")
        before = await system.recall("ines", QUERY)
        for item in before.items:
            await system.report("ines", before.recall_id, OutcomeResult.HARMFUL, item.memory.id)
        after = await system.recall("ines", QUERY)
        assert before.items
        assert [(each.memory.id, each.relevance) for each in after.items] == [
            (each.memory.id, each.relevance) for each in before.items
        ]


async def test_standing_can_be_switched_off() -> None:
    async with running_system(System(), standing=StandingSettings(enabled=False)) as system:
        await stand(system)
        assert (await system.standing("ines", "one")).reason is StandingReason.DISABLED
