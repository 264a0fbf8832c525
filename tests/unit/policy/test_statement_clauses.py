"""Statements among other clauses: what takes one back, and what only seems to."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recalld.models.domain.facts import FactCandidate
from recalld.models.policy.save_turn import prepare_turn
from recalld.models.policy.statements.find import FACTS_MAX, find_stated


def found(text: str) -> tuple[FactCandidate, ...]:
    return find_stated(prepare_turn(text))


def statements(text: str) -> list[str]:
    return [each.statement for each in found(text)]


@pytest.mark.parametrize(
    ("turn", "statement"),
    [
        ("I hate cilantro in my food", "The user dislikes cilantro in the user's food."),  # A07
        ("I do not like dark mode", "The user dislikes dark mode."),
        ("I can not stand pop-ups", "The user dislikes pop-ups."),
        ("I detest tabs", "The user dislikes tabs."),
        ("buy a donut, we use BigQuery", "The user's team uses BigQuery."),  # A09
        ("If you have a minute: we use BigQuery now.", "The user's team uses BigQuery."),  # A13
        ("we're on Snowflake? no, we're on BigQuery", "The user's team uses BigQuery."),
        ("Suppose we used Redis. Anyway, we use Valkey.", "The user's team uses Valkey."),
        ("I used to live in Rome, now I live in Turin", "The user lives in Turin."),
        ("If it rains, I stay in; I live in Leeds", "The user lives in Leeds."),
        ("whenever you can: I'm vegetarian", "The user is vegetarian."),
        ("our CI is Buildkite so write the YAML for it", "The user's team's CI is Buildkite."),
        ("My wife Ana and I are off to Rome on Friday", "The user's wife is Ana."),
    ],
)
def test_what_one_clause_takes_back_leaves_the_next_one_alone(turn: str, statement: str) -> None:
    assert statement in statements(turn)


@pytest.mark.parametrize(
    "turn",
    [
        "please call me tomorrow",
        "Not always metric",
        "call me when done",
        "always show imperial?",
        "why does it always show imperial?",  # A10
        "Do you remember anything about Heidi?",
        "Do we use Snowflake?",
        "we\u2019re not on Redshift",  # A09
        "we aren\u2019t using UTC",
        "isn\u2019t it true that we use Redshift?",
        "wir sind nicht auf Redshift",
        "nous n\u2019utilisons pas Databricks",
        "no usamos Databricks",
        "Evaluate whether Redshift could suit us",  # A13
        "if we were on Databricks the job would be cheaper",
        "in my novel the hero says 'call me Zephyr'",
        "suppose from now on everything were UTC",
        "ok",  # A11
        "Off the record, I live in Oslo.",
        "I think we use Redis.",
        "we use Redis, I guess",
        "Dana: we use BigQuery",
        "[warn] my-runner: we use Node.js",
        "The mail says:\nwe use Redis",
        "> we use Redis",
        "```\nwe use Redis\n```",
        "Just for today, call me Zed.",
        "",
    ],
)
def test_what_is_asked_denied_supposed_or_somebody_elses_states_nothing(turn: str) -> None:
    assert statements(turn) == []


def test_an_ending_and_the_new_value_are_both_found() -> None:  # A08
    ending, new = found("we're not on Snowflake any more, we use BigQuery")
    assert (ending.slot, ending.value, ending.is_ending) == ("data_warehouse", "Snowflake", True)
    assert (new.slot, new.value, new.is_ending) == ("data_warehouse", "BigQuery", False)


def test_an_ending_names_the_slot_and_value_that_it_closes() -> None:  # A08
    (ending,) = found("I no longer work at Acme")
    assert (ending.slot, ending.value, ending.is_ending) == ("employer", "Acme", True)


def test_a_move_gives_the_new_value_and_not_the_old_one() -> None:
    (new,) = found("We switched from npm to Yarn 4 last week.")
    assert (new.slot, new.value, new.statement) == ("package_manager", "Yarn 4", "The user's team uses Yarn 4.")


def test_several_names_of_different_slots_are_several_facts() -> None:
    assert [(each.slot, each.value) for each in found("we use PostgreSQL 16 and Grafana")] == [
        ("database", "PostgreSQL 16"),
        ("monitoring", "Grafana"),
    ]


def test_a_narrowed_statement_fills_no_slot_and_keeps_its_words() -> None:
    (each,) = found("We use Redis for rate limiting in our gateway.")
    assert (each.slot, each.statement) == ("", "The user's team uses Redis for rate limiting in their gateway.")


def test_a_relatives_allergy_is_the_relatives() -> None:
    (each,) = found("my daughter is allergic to nuts")
    assert (each.subject, each.slot, each.value) == ("the user's daughter", "allergy", "nuts")


@pytest.mark.parametrize(
    ("turn", "value"),
    [
        ("My name is Jean-Luc O'Hara-Smith.", "Jean-Luc O'Hara-Smith"),
        ("I live in Stratford-upon-Avon.", "Stratford-upon-Avon"),
        ("Call me Dr. Okafor", "Dr. Okafor"),
        ("I work at Simmons & Yilmaz.", "Simmons & Yilmaz"),
        ("I\u2019m called D\u2019Angelo", "D\u2019Angelo"),
        ("Ich wohne in Bad Tölz.", "Bad Tölz"),
        ("Vivo en San Juan del Río.", "San Juan del Río"),
    ],
)
def test_a_name_is_never_cut(turn: str, value: str) -> None:
    assert [each.value for each in found(turn)] == [value]


def test_what_reaches_the_gap_of_a_long_turn_is_left_out() -> None:
    turn = "we use Kafka. " + "x " * 30_000 + ". we use BigQuery."
    assert [each.value for each in found(turn)] == ["Apache Kafka", "BigQuery"]
    assert found("my name is Ana" + "x" * 60_000) == ()


def test_a_turn_that_states_too_much_is_cut_off() -> None:
    turn = "\n".join(f"My brother is called Ana{first}{second}." for first in "bcdfgk" for second in "bcdfgk")
    assert len(found(turn)) <= FACTS_MAX


@given(st.text(max_size=300))
def test_any_text_is_read_without_a_fault(text: str) -> None:
    turn = prepare_turn(text)
    for each in find_stated(turn):
        assert each.span is not None
        assert turn.text[each.span.start : each.span.end] == each.quote


@given(
    st.lists(st.sampled_from(["we use Redis", "I'm vegan", "call me Zed", "if", "no", ",", ". ", "?", "\n", " and "]))
)
def test_statements_in_any_order_are_found_in_text_order(pieces: list[str]) -> None:
    starts = [each.span.start for each in found(" ".join(pieces)) if each.span is not None]
    assert starts == sorted(starts)
