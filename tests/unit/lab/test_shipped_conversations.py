"""The conversations of the package: enough of them, unique, and quoted character for character."""

from __future__ import annotations

from importlib.resources import files

import pytest

from recalld.models.domain.admission import Speaker
from recalld.models.lab.replay_cases import case_of
from recalld.models.lab.replay_rows import ReplayRow, parse_replay_rows


@pytest.fixture(scope="module")
def rows() -> tuple[ReplayRow, ...]:
    content = (files("recalld.models.lab") / "data" / "conversations.jsonl").read_bytes()
    return parse_replay_rows(content, "conversations.jsonl")


def test_there_are_sixty_or_more_with_and_without_facts(rows: tuple[ReplayRow, ...]) -> None:
    assert len(rows) >= 60
    stating = sum(bool(row.facts) for row in rows)
    assert stating >= 30
    assert len(rows) - stating >= 15


def test_every_conversation_has_turns_of_both_sides_and_a_date(rows: tuple[ReplayRow, ...]) -> None:
    for row in rows:
        assert {turn.role for turn in row.turns} >= {Speaker.USER, Speaker.ASSISTANT}, row.id
        assert row.said_ms is not None, row.id


def test_what_states_nothing_says_why(rows: tuple[ReplayRow, ...]) -> None:
    assert [row.id for row in rows if bool(row.facts) == bool(row.reason)] == []


def test_every_fact_is_quoted_from_a_turn_of_the_user(rows: tuple[ReplayRow, ...]) -> None:
    for row in rows:
        for fact in row.facts:
            assert row.turns[fact.turn].role is Speaker.USER, row.id
            assert fact.quote, row.id
            assert fact.quote in row.turns[fact.turn].text, row.id


def test_no_text_is_there_twice(rows: tuple[ReplayRow, ...]) -> None:
    texts = ["\n".join(turn.text for turn in row.turns) for row in rows]
    assert len(set(texts)) == len(texts)


def test_nothing_of_them_is_left_out_of_the_figures(rows: tuple[ReplayRow, ...]) -> None:
    for row in rows:
        left_out = case_of(row, "x").left_out
        assert (left_out.facts_of_others, left_out.facts_elsewhere) == (0, 0), row.id
