"""Kinds of statements that a new user makes: what is found in them, each with its slot, and what is not."""

from __future__ import annotations

import pytest

from recalld.models.domain.facts import FactCandidate
from recalld.models.domain.records import MemoryKind
from recalld.models.policy.save_turn import prepare_turn
from recalld.models.policy.slot_values import is_multi_valued, is_single_valued
from recalld.models.policy.statements.find import find_stated


def found(text: str) -> tuple[FactCandidate, ...]:
    return find_stated(prepare_turn(text))


def filled(text: str) -> dict[str, str]:
    """The slots that a turn fills, with their values."""
    return {each.slot: each.value for each in found(text) if each.slot and not each.is_ending}


@pytest.mark.parametrize(
    ("turn", "kind", "statement"),
    [
        ("I prefer jazz over swing.", MemoryKind.PREFERENCE, "The user prefers jazz over swing."),
        ("I prefer paper.", MemoryKind.PREFERENCE, "The user prefers paper."),
        ("I always prefer an aisle seat.", MemoryKind.PREFERENCE, "The user prefers an aisle seat."),
        ("We prefer squash over merge.", MemoryKind.CONVENTION, "The user's team prefers squash over merge."),
        ("We prefer Vitest to Jest.", MemoryKind.CONVENTION, "The user's team prefers Vitest to Jest."),
        ("We prefer GitLab.", MemoryKind.CONVENTION, "The user's team uses GitLab."),
    ],
)
def test_what_is_preferred_is_kept_as_it_is_said(turn: str, kind: MemoryKind, statement: str) -> None:
    [only] = found(turn)
    assert (only.kind, only.statement) == (kind, statement)


@pytest.mark.parametrize(
    ("turn", "slots"),
    [
        ("We're based in Bergen.", {"team_location": "Bergen"}),
        ("I'm based in Bergen.", {"location": "Bergen"}),
        ("We live in Bergen.", {"location": "Bergen"}),
    ],
)
def test_where_the_team_is_based_is_not_where_the_user_lives(turn: str, slots: dict[str, str]) -> None:
    assert filled(turn) == slots


@pytest.mark.parametrize(
    ("turn", "slots"),
    [
        ("I work at Kestrel Foods as a technician.", {"employer": "Kestrel Foods", "role": "a technician"}),
        ("I'm a chef at Queen's and I work weekends.", {"employer": "Queen's", "role": "a chef"}),
        ("I speak Greek and a bit of Turkish", {"spoken_language": "Greek and a bit of Turkish"}),
        ("Ich heiße Lotte und wohne in Graz.", {"name": "Lotte", "location": "Graz"}),
        ("I live at 7 Fern Road, Derry until Monday", {"address": "7 Fern Road, Derry"}),
        ("I work at Kestrel Foods until Monday.", {"employer": "Kestrel Foods"}),
        ("We use BigQuery for the warehouse", {"data_warehouse": "BigQuery"}),
        ("We use Postgres as our main database", {"database": "PostgreSQL"}),
        ("No, I said I live in Turku.", {"location": "Turku"}),
        ("I told you my name is Inga.", {"name": "Inga"}),
    ],
)
def test_every_half_of_a_statement_fills_its_slot(turn: str, slots: dict[str, str]) -> None:
    assert filled(turn) == slots


@pytest.mark.parametrize(
    "turn",
    [
        "I am Legend.",
        "I am Iron!",
        "He said my name is Inga.",
        "They told me my name is Inga.",
        "We use Redis for rate limiting.",
        "Never mind.",
        "Our sprint starts on Monday.",
    ],
)
def test_what_only_resembles_a_statement_fills_no_slot(turn: str) -> None:
    assert filled(turn) == {}


def test_a_move_ends_the_old_value_of_a_slot_that_holds_several() -> None:
    ending, beginning = found("We switched from MySQL to MongoDB.")
    assert (ending.slot, ending.value, ending.is_ending) == ("database", "MySQL", True)
    assert (beginning.slot, beginning.value, beginning.is_ending) == ("database", "MongoDB", False)
    assert is_multi_valued("database")


def test_a_move_within_a_slot_of_one_value_needs_no_ending() -> None:
    [only] = found("I switched from Emacs to Helix.")
    assert (only.slot, only.value, only.is_ending) == ("editor", "Helix", False)
    assert is_single_valued("editor")


def test_a_move_to_another_sort_of_thing_ends_the_old_one() -> None:
    ending, beginning = found("We migrated from Snowflake to Postgres.")
    assert (ending.slot, ending.is_ending, beginning.slot) == ("data_warehouse", True, "database")
