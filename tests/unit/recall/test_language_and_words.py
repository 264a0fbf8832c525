from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recalld.actors.store.search_text import query_stems
from recalld.models.policy.language import CHARS_MAX, is_english
from recalld.models.policy.lexical_floor import passes_lexical_floor, shares_words
from recalld.models.policy.terms import index_terms


@pytest.mark.parametrize(
    "text",
    [
        "",
        "pnpm",
        "k8s?",
        "42",
        "where does the deploy key live?",
        "naïve café résumé",  # Latin letters with marks
        "the 東京 office closes at seven every day of the week",  # a foreign name in English words
        "die Deployments",  # one word is no evidence
    ],
)
def test_english_and_what_shows_no_language_may_be_judged(text: str) -> None:
    assert is_english(text)


@pytest.mark.parametrize(
    "text",
    [
        "项目用pnpm管理 部署在东京",
        "где лежит ключ от сервера",
        "Wo ist das Passwort und nicht der Tresor?",
        "où est la clé du serveur et pourquoi",
        "¿dónde está la clave para el servidor?",
    ],
)
def test_other_languages_are_not_judged(text: str) -> None:
    assert not is_english(text)


@given(st.text(max_size=200))
def test_any_text_gets_an_answer(text: str) -> None:
    assert is_english(text) in (True, False)


def test_only_the_head_of_a_long_text_is_looked_at() -> None:
    english = "where does the deploy key live " * 100
    assert len(english) > CHARS_MAX
    assert is_english(english + "где лежит ключ" * 1_000)


@pytest.mark.parametrize(
    ("query", "memory", "passes"),
    [
        ("user identity name", "The user's name is Ines", True),  # R09: one word missing hides nothing
        ("which editor for meetings on Mondays at noon", "Every meeting room has a screen", False),
        ("meeting", "Every meeting room has a screen", True),
        ("What is a car loan?", "My car is a Volvo", False),
        ("Is nine prime?", "The meeting is at nine", False),
        ("my car", "My car is a Volvo", True),
        ("auth_token lifetime", "The auth_token is in the vault", True),
        ("order 100821 again", "Ticket 100821 is closed", True),
        ("order 12 again", "Ticket 12 is closed", False),
        ("\u4e1c\u4eac\u90fd", "\u90e8\u7f72\u5728\u4e1c\u4eac", True),
        ("deployments of releases on Fridays and Mondays", "We deploy each release by hand", True),
        ("completely different words", "We deploy each release by hand", False),
        ("what is it", "What it is", False),  # nothing searchable in the query
    ],
)
def test_two_words_or_a_rare_or_the_only_one_are_enough_in_any_inflection(
    query: str, memory: str, *, passes: bool
) -> None:
    from recalld.models.policy.terms import query_terms

    wanted = frozenset(query_stems(query_terms(query)))
    present = frozenset(query_stems(index_terms(memory)))
    assert passes_lexical_floor(wanted, present) is passes


def test_beside_a_cosine_half_of_the_words_are_enough() -> None:
    assert shares_words({"car", "loan"}, {"car", "volvo"})
    assert not shares_words({"car", "loan", "rate"}, {"car", "volvo"})
    assert not shares_words({"car"}, {"volvo"})


words = st.frozensets(st.sampled_from("abcdefgh"), max_size=6)


@given(words, words, st.sampled_from("abcdefgh"))
def test_another_word_in_the_memory_never_makes_it_fail(
    wanted: frozenset[str], present: frozenset[str], more: str
) -> None:
    if passes_lexical_floor(wanted, present):
        assert passes_lexical_floor(wanted, present | {more})
    assert not passes_lexical_floor(frozenset(), present)
