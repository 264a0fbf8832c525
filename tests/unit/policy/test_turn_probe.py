from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recalld.models.policy.terms import index_terms
from recalld.models.policy.turn.inflections import credited_terms, inflection_key
from recalld.models.policy.turn.probe import (
    PROBE_TERMS_MAX,
    ProbeResult,
    TermPostings,
    count_postings,
    mentioned_entities,
    posted_terms,
    probe_terms,
)
from recalld.models.policy.turn.words import read_words


@pytest.mark.parametrize(
    ("term", "text", "is_credited"),
    [
        ("port", "the transport layer", False),
        ("port", "the port is 8443", True),
        ("port", "open ports", True),
        ("port", "export and import", False),
        ("token", "rotate the auth_token", True),
        ("auth_token", "rotate the auth_token", True),
        ("auth_token", "rotate the token", False),
        ("parse", "parseJSON", True),
        ("100821", "case BENCH-100821", True),
        ("bench-100821", "case BENCH-100821", True),
        ("deploy", "we deployed twice", True),
        ("deploys", "deploying on Friday", True),
        ("deploy", "the deployment", False),
        ("city", "two cities", True),
        ("cache", "caching everything", True),
        ("box", "three boxes", True),
        ("class", "classes and class", True),
        ("status", "the statuses", True),
        ("stop", "it stopped", True),
        ("need", "needed", True),
        ("art", "the arts", True),
        ("sing", "the string", False),
        ("cafe", "the café", True),
        ("dog", "hotdog", False),
        ("東京", "東京に住む", True),
        ("call", "calling", True),
    ],
)
def test_a_term_is_credited_on_whole_units_and_inflections_only(term: str, text: str, *, is_credited: bool) -> None:
    assert (credited_terms([term], index_terms(text)) == {term}) is is_credited


@given(st.text(st.characters(), max_size=40))
def test_any_term_has_a_key_that_is_no_longer(term: str) -> None:
    assert len(inflection_key(term)) <= len(term)


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("what is it", ()),
        ("where did I put the auth_token?", ("put", "auth_token", "auth", "token")),
        ("wo ist der Schlüssel", ("schlussel",)),
        ("the the the dog", ("dog",)),
    ],
)
def test_the_probe_asks_for_salient_terms(text: str, terms: tuple[str, ...]) -> None:
    assert probe_terms(text) == terms


def test_the_probe_asks_for_no_more_than_its_cap() -> None:
    assert len(probe_terms(" ".join(f"word{chr(97 + place)}" for place in range(26)))) == PROBE_TERMS_MAX


def test_postings_are_counted_on_units_and_inflections() -> None:
    counted = count_postings(("port", "deploy", "cat"), {"ports": 2, "port": 1, "transport": 9, "deployed": 4})
    assert [(each.term, each.postings) for each in counted] == [("port", 3), ("deploy", 4), ("cat", 0)]


def test_only_the_messages_own_terms_with_a_posting_count() -> None:
    probe = ProbeResult(
        terms=(
            TermPostings(term="dog", postings=1),
            TermPostings(term="cat", postings=0),
            TermPostings(term="fish", postings=5),
        )
    )
    assert posted_terms(("cat", "dog", "bird"), probe) == ("dog",)


@pytest.mark.parametrize(
    ("text", "entities"),
    [
        ("is Ann in?", ("Ann",)),
        ("the planning of it", ()),
        ("Ann's plan", ("Ann",)),
        ("ask ann at acme corp.", ("Ann", "Acme Corp")),
        ("acme is a corp", ()),
        ("what is `auth_token`?", ("auth_token",)),
        ("住在東京嗎", ("東京",)),
        ("it is the one", ()),
        ("Corp Acme Corp", ("Acme Corp",)),
        ("", ()),
    ],
)
def test_a_known_name_is_mentioned_on_whole_words_only(text: str, entities: tuple[str, ...]) -> None:
    probe = ProbeResult(entities=("Ann", "Acme Corp", "auth_token", "東京", "It", "", "!?", "Ann"))
    assert mentioned_entities(read_words(text), probe) == entities
