"""When what a gate wrote is a labelled fact, and when it only looks like one."""

from __future__ import annotations

import pytest

from recalld.models.lab.replay_labels import LabelledTurn, StatedFact, WrittenRecord
from recalld.models.lab.replay_match import bears, is_right, matched, places_of


def turn(own: str, statement: str, quote: str = "") -> LabelledTurn:
    fact = StatedFact(statement=statement, places=places_of(quote, own))
    return LabelledTurn(row_id="r", place=0, source="s", own=own, facts=(fact,))


def record(statement: str, quote: str = "") -> WrittenRecord:
    return WrittenRecord(statement=statement, quote=quote, rule="rule:test")


OWN = "My sister Mina lives in Graz, and we deploy on Fridays. Which train goes there?"


@pytest.mark.parametrize(
    ("quote", "is_found"),
    [
        ("My sister Mina lives in Graz", True),
        ("Mina lives in Graz, and we deploy", True),
        ("my  sister\nmina", True),
        ("we deploy on Fridays", False),
        ("Which train goes there?", False),
        ("and we deploy on Fridays. Which train goes there?", False),
    ],
)
def test_with_a_quote_more_than_half_of_the_shorter_must_overlap(quote: str, is_found: bool) -> None:  # noqa: FBT001 - a case
    labelled = turn(OWN, "Mina, the user's sister, lives in Graz.", "My sister Mina lives in Graz")
    made = record("whatever is stored", quote)
    assert bool(matched(made, labelled)) is is_found
    assert is_right(made, labelled) is is_found


@pytest.mark.parametrize(
    ("statement", "fact", "is_found", "is_no_mistake"),
    [
        ("The user has been writing Python for about 6 years.", "6 years Python experience", True, True),
        ("The user has been writing Python for about 7 years.", "6 years Python experience", False, False),
        ("The user uses VS Code for everything.", "Uses VS Code", True, True),
        ("The user does not use VS Code.", "Uses VS Code", False, False),
        ("The user uses VS Code.", "Does not use VS Code", False, False),
        ("The user likes tea.", "The user likes coffee", False, False),
        ("The user's name is Aisha.", "Aisha Okafor, chief executive of HealthPulse in Lagos", False, True),
        ("The user prefers liquorice.", "Aisha Okafor, chief executive of HealthPulse in Lagos", False, False),
        ("THE USER LIKES TEA", "the user likes tea.", True, True),
    ],
)
def test_without_a_quote_the_words_that_bear_the_fact_decide(
    statement: str,
    fact: str,
    is_found: bool,  # noqa: FBT001 - a case
    is_no_mistake: bool,  # noqa: FBT001 - a case
) -> None:
    labelled = turn("whatever was said", fact)
    assert bool(matched(record(statement), labelled)) is is_found
    assert is_right(record(statement), labelled) is is_no_mistake


def test_a_command_to_remember_is_told_by_its_words_where_its_quote_stands_nowhere() -> None:
    labelled = turn("Remember: Mina lives in Graz.", "Mina lives in Graz.", "Mina lives in Graz")
    assert is_right(record("The user's friend Mina lives in Graz.", "my friend Mina lives in Graz"), labelled)
    assert not is_right(record("The office is in Bern.", "the office is in Bern"), labelled)


def test_what_also_counts_as_right_finds_nothing() -> None:
    further = StatedFact(statement="", places=places_of("we deploy on Fridays", OWN))
    labelled = LabelledTurn(row_id="r", place=0, source="s", own=OWN, also_right=(further,))
    made = record("We deploy on Fridays.", "we deploy on Fridays")
    assert is_right(made, labelled)
    assert not matched(made, labelled)


def test_a_quote_that_is_not_there_or_blank_has_no_place() -> None:
    assert places_of("lives in Linz", OWN) == ()
    assert places_of(" \n", OWN) == ()
    assert places_of("(", "a ( b") != ()


def test_a_turn_bears_a_fact_only_with_a_word_of_it() -> None:
    assert bears("I moved to Graz last year", "Lives in Graz")
    assert not bears("Yes! That would be perfect.", "Interested in PyO3")
