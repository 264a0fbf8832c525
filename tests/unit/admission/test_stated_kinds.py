"""What a new user states, through the whole write path: kept once, with its slot, and closed by what replaces it."""

from __future__ import annotations

import pytest
from actor_system import System, running_system

from recalld.models.domain.reasons import AdmissionReason
from recalld.models.domain.store import ListFilter

pytestmark = pytest.mark.anyio


async def texts(system: System) -> list[str]:
    page = await system.service.list_memories("ines", ListFilter(), limit=100, cursor=None)
    return sorted(memory.text for memory in page.memories)


async def said(*turns: str) -> list[str]:
    """The memories that turns leave."""
    async with running_system(System()) as system:
        for number, turn in enumerate(turns):
            await system.observe("ines", turn, turn_id=f"t{number}")
        return await texts(system)


async def test_a_switch_closes_the_record_of_what_it_was_made_from() -> None:
    left = await said("We use MySQL.", "We use Redis for sessions.", "We switched from MySQL to MongoDB.")
    assert left == ["The user's team uses MongoDB.", "The user's team uses Redis for sessions."]


async def test_a_new_value_beside_an_old_one_closes_nothing() -> None:
    assert await said("We use MySQL.", "We use MongoDB.") == [
        "The user's team uses MongoDB.",
        "The user's team uses MySQL.",
    ]


async def test_a_fact_in_two_voices_is_kept_once() -> None:
    async with running_system(System()) as system:
        await system.observe("ines", "Remember that I prefer jazz.", turn_id="t1")
        again = await system.observe("ines", "Remember that the user prefers jazz.", turn_id="t2")
        assert [verdict.reason for verdict in again.kept] == [AdmissionReason.DUPLICATE]
        assert len(await texts(system)) == 1


async def test_where_the_team_is_leaves_where_the_user_lives_alone() -> None:
    assert await said("I live in Bergen.", "We're based in Porto.") == [
        "The user lives in Bergen.",
        "The user's team is based in Porto.",
    ]


async def test_a_correction_of_what_was_said_takes_its_place() -> None:
    assert await said("My name is Inge.", "No, I said my name is Inga.") == ["The user's name is Inga."]


async def test_a_lone_capital_word_is_no_new_name() -> None:
    assert await said("My name is Inga.", "I am Legend.") == ["The user's name is Inga."]


@pytest.mark.parametrize(
    ("turn", "text"),
    [
        ("Keep replies brief.", "The user wants replies brief."),
        ("I want you to answer in Estonian.", "The user wants answers in Estonian."),
        ("Please reply in Estonian.", "The user wants answers in Estonian."),
        ("I'd rather you replied in prose.", "The user wants answers in prose."),
        ("I'd rather you didn't use tables.", "The user wants the assistant to not use tables."),
        ("I hate it when you guess.", "The user dislikes it when the assistant guesses."),
        ("I prefer jazz over swing.", "The user prefers jazz over swing."),
        ("We prefer squash over merge.", "The user's team prefers squash over merge."),
    ],
)
async def test_how_to_answer_and_what_is_preferred_is_kept(turn: str, text: str) -> None:
    assert await said(turn) == [text]


@pytest.mark.parametrize(
    "turn", ["Please reply to this in Estonian.", "Keep your reply to this mail brief.", "Answer in Estonian."]
)
async def test_how_to_answer_one_thing_is_not_kept(turn: str) -> None:
    assert await said(turn) == []
