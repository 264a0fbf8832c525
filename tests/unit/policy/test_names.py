from __future__ import annotations

import pytest

from recalld.models.policy.names import stands_alone


@pytest.mark.parametrize(
    "text",
    [
        "The poster shows Apollo 11 and hangs in the hall",
        "The poster shows Apollo XI",
        "11 Apollo capsules stand in the museum",
        "We met at the Apollo Theatre",
        "A cinema called Neo Apollo opens in May",
        "The Apollo-Soyuz mission",
        "The Neo-Apollo mission",
        "See Apollo.theatre for the programme",
        "The apollo butterfly is rare",
        "Apollonia is a town",
    ],
)
def test_a_name_inside_a_longer_name_or_another_word_does_not_stand_alone(text: str) -> None:
    assert not stands_alone(text, ("apollo",), spelled="Apollo")


@pytest.mark.parametrize(
    "text",
    [
        "Ask Apollo for the invoices",
        "Apollo sends the invoices",
        "The Apollo API is slow on Mondays",
        "Invoices come from Apollo. Nothing else does.",
        "Invoices (Apollo), orders (Zeus)",
        "Apollo's disk is full",
        "Zeus, Apollo, Hera",
        "The Apollo Theatre is closed, and Apollo sends no invoices",
    ],
)
def test_a_name_beside_ordinary_words_stands_alone(text: str) -> None:
    assert stands_alone(text, ("apollo",), spelled="Apollo")


@pytest.mark.parametrize(("text", "is_alone"), [("Restart holdq on Monday", True), ("holdq-eu is down", False)])
def test_a_name_without_capitals_is_no_part_of_one_with_them(text: str, *, is_alone: bool) -> None:
    assert stands_alone(text, ("holdq",), spelled="holdq") is is_alone


@pytest.mark.parametrize(
    ("text", "is_alone"),
    [
        ("We run Python 3.12", True),
        ("python scripts", True),
        ("Pythons are snakes", True),
        ("A Monty Python evening", False),
        ("Ask the Python Island rangers", False),
    ],
)
def test_a_name_of_any_spelling_may_have_a_version_or_stand_in_another_form(text: str, *, is_alone: bool) -> None:
    assert stands_alone(text, ("python",)) is is_alone
