from __future__ import annotations

import pytest

from recalld.models.domain.facts import Span
from recalld.models.policy.judge.antecedent import CHARS_MAX, with_antecedent
from recalld.models.policy.save_turn import prepare_turn


def taken(text: str, sentence: str) -> str:
    turn = prepare_turn(text)
    start = turn.text.index(sentence)
    span = with_antecedent(turn, Span(start=start, end=start + len(sentence)))
    return turn.text[span.start : span.end]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("Shorter. That goes for every answer.", "That goes for every answer"),
        ("Bullets only. It's how I read best.", "It's how I read best"),
        ("Kurz bitte. Das gilt immer.", "Das gilt immer"),
        ("Des listes. C'est valable pour tout.", "C'est valable pour tout"),
    ],
)
def test_a_sentence_that_points_back_takes_the_one_before_it_along(text: str, sentence: str) -> None:
    assert taken(text, sentence) == text[:-1]


@pytest.mark.parametrize(
    ("text", "clause"),
    [
        ("I have a boat, which is called Bruno, and two oars.", "which is called Bruno"),
        ("Hi. My sister, whose flat I use, moved.", "whose flat I use"),
        ("Answer in Dutch, even if I write English.", "even if I write English"),
    ],
)
def test_a_clause_that_hangs_on_its_sentence_takes_the_words_before_it_along(text: str, clause: str) -> None:
    start = 4 if text.startswith("Hi.") else 0
    assert taken(text, clause) == text[start : text.index(clause) + len(clause)]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("That goes for every answer.", "That goes for every answer"),
        ("Thanks. We use Nix.", "We use Nix"),
        ("Thanks. Itch is my host.", "Itch is my host"),
        ("Shorter.\n\nThat is my dog.", "That is my dog"),
        ("a" * CHARS_MAX + ". That is my dog.", "That is my dog"),
    ],
)
def test_any_other_sentence_stands_alone(text: str, sentence: str) -> None:
    assert taken(text, sentence) == sentence
