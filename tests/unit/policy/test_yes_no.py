from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recalld.models.policy import word_lists, yes_no
from recalld.models.policy.yes_no import answer_in

LANGUAGES = ("en", "de", "fr", "es")


@pytest.mark.parametrize(
    "text",
    [
        *("yes", "Yes.", "YES!", " yes please ", "Yes, thanks", "yes yes", "Yep", "Sure", "That\u2019s right."),
        *(
            "Ja",
            "ja, bitte",
            "Genau!",
            "oui",
            "Oui, merci",
            "Si",
            "s\u00ed",
            "S\u00ed, por favor.",
            "C\u2019est \u00e7a",
        ),
    ],
)
def test_a_bare_yes_is_a_yes(text: str) -> None:
    assert answer_in(text) is True


@pytest.mark.parametrize(
    "text",
    ["no", "No.", "nope", "No, thanks", "Don\u2019t", "nein danke", "Lieber nicht", "non", "Non merci", "mejor no"],
)
def test_a_bare_no_is_a_no(text: str) -> None:
    assert answer_in(text) is False


@pytest.mark.parametrize(
    "text",
    [
        *(
            "",
            "ok",
            "okay",
            "thanks",
            "please",
            "yes?",
            "yes no",
            "yes, but what about the tests",
            "no I mean the other",
        ),
        *("yes and remember that I use tabs", "yesterday", "not now", "y" * 61, "yes " * 20, "si on veut", "ja oder"),
    ],
)
def test_whatever_says_more_or_something_else_is_no_answer(text: str) -> None:
    assert answer_in(text) is None


@given(st.text(max_size=80))
def test_any_text_is_a_yes_a_no_or_neither(text: str) -> None:
    assert answer_in(text) in (True, False, None)


@pytest.mark.parametrize("name", ["yes", "no"])
@pytest.mark.parametrize("language", LANGUAGES)
def test_every_phrase_of_a_list_is_understood(name: str, language: str) -> None:
    for phrase in word_lists.entries(f"answers/{name}.{language}.txt"):
        assert answer_in(phrase) is (name == "yes")
        for courtesy in word_lists.entries(f"answers/courtesies.{language}.txt"):
            assert answer_in(f"{phrase}, {courtesy}!") is (name == "yes")


NECESSARY = {
    "answers/yes.en.txt": "yes",
    "answers/no.en.txt": "nope",
    "answers/courtesies.en.txt": "yes please",
    "answers/yes.de.txt": "ja",
    "answers/no.de.txt": "nein",
    "answers/courtesies.de.txt": "ja danke",
    "answers/yes.fr.txt": "oui",
    "answers/no.fr.txt": "non",
    "answers/courtesies.fr.txt": "oui merci",
    "answers/yes.es.txt": "s\u00ed",
    "answers/no.es.txt": "mejor no",
    "answers/courtesies.es.txt": "s\u00ed gracias",
}


@pytest.mark.parametrize("emptied", NECESSARY)
def test_emptying_a_list_loses_its_answers(emptied: str, monkeypatch: pytest.MonkeyPatch) -> None:
    entries = word_lists.entries
    assert answer_in(NECESSARY[emptied]) is not None
    monkeypatch.setattr(word_lists, "entries", lambda name: () if name == emptied else entries(name))
    yes_no._phrases.cache_clear()
    try:
        assert answer_in(NECESSARY[emptied]) is None
    finally:
        yes_no._phrases.cache_clear()
