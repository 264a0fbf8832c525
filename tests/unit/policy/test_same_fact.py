from __future__ import annotations

import pytest

from recalld.models.domain.admission_store import SlotValue
from recalld.models.policy.same_fact import is_same_fact


def slot(value: str, name: str = "data_warehouse", subject: str = "") -> tuple[SlotValue, ...]:
    return (SlotValue(slot=name, value=value, subject=subject),)


@pytest.mark.parametrize(
    ("newer", "stored"),
    [("The user loves black tea.", "The user likes strong black tea."), ("Works at Acme", "The user works at Acme.")],
)
def test_what_adds_no_word_is_the_same_fact(newer: str, stored: str) -> None:
    assert is_same_fact(newer, (), stored, ())


@pytest.mark.parametrize(
    ("newer", "stored"),
    [
        ("The user likes strong black tea.", "The user likes black tea."),
        ("Due on October 16th", "Due on October 15th"),
        ("The budget is 2,450", "The budget is 2,400"),
        ("Uses Postgres", "Uses MySQL"),
        ("The user doesn't eat pork", "The user eats pork"),
        ("The user hates cilantro", "The user likes cilantro"),
    ],
)
def test_what_adds_or_changes_a_word_is_another_fact(newer: str, stored: str) -> None:
    assert not is_same_fact(newer, (), stored, ())


def test_the_same_value_of_the_same_slot_is_the_same_fact_with_few_words_more() -> None:
    newer, stored = "The data warehouse is BigQuery.", "Uses BigQuery."
    assert is_same_fact(newer, slot("BigQuery"), stored, slot("bigquery"))
    assert not is_same_fact(newer, (), stored, ())


def test_slots_that_contradict_make_two_facts_of_like_words() -> None:
    text = "The user works at Acme."
    assert is_same_fact(text, slot("Acme", "employer"), text, slot("Acme", "employer"))
    assert not is_same_fact(text, slot("Acme", "employer"), text, slot("Initech", "employer"))
    assert not is_same_fact(text, slot("Acme", "employer"), text, slot("Acme", "location"))
    assert not is_same_fact(text, slot("Acme", "employer"), text, slot("Acme", "employer", "Alice"))
