from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recalld.models.policy.load_bearing import CHARS_MAX, agree, agree_in_core, kept_share, load_bearing

DIFFERENT = [
    ("Deadline is October 15th", "Deadline is October 16th"),
    ("Deadline is October 15th", "Deadline is November 15th"),
    ("Stand-up is on Monday", "Stand-up is on Tuesday"),
    ("budget 2,400", "budget 2,450"),
    ("The user runs 10k", "The user runs 5k"),
    ("The user works at Globex", "just joined Initech"),
    ("works at globex", "The user works at Initech"),
    ("Ana is my wife", "Eva is my wife"),
    ("We deploy to k8s", "We deploy to Nomad"),
    ("The user is in Turin", "The user is not in Turin"),
    ("The user hates cilantro", "The user likes cilantro"),
    ("never use tabs, use spaces", "never use spaces, use tabs"),
    ("The user likes tea", "The user likes coffee"),
    ("The user prefers light mode", "The user prefers dark mode"),
    ("I have two cats", "I have three cats"),
    ("Python 3.11", "Python 3.12"),
    ("It is -5 degrees", "It is 5 degrees"),
    ("Ich wohne in Turin", "Ich wohne in Rom"),
    ("Ich esse Fleisch", "Ich esse kein Fleisch"),
    ("J'habite à Lyon", "Je n'habite pas à Lyon"),
    ("Como carne", "No como carne nunca"),
    ("We use Kafka in the billing team of the Porto office", "We use Kafka"),
]
SAME = [
    ("Deadline is October 15th", "The deadline is 15 Oct"),
    ("budget 2,400", "The budget is 2400"),
    ("The user prefers dark mode", "The user likes dark mode"),
    ("We use k8s", "The user's team uses Kubernetes"),
    ("works at globex", "The user works at Globex"),
    ("The user hates cilantro", "The user does not like cilantro"),
    ("The user\u2019s warehouse is BigQuery", "We use BigQuery as our data warehouse"),
    ("I have two cats", "The user has 2 cats"),
    ("Never use tabs", "The user does not use tabs"),
    ("No, it is Turin", "It is Turin"),
]


@pytest.mark.parametrize(("a", "b"), DIFFERENT)
def test_statements_that_differ_in_what_carries_them_are_two(a: str, b: str) -> None:  # A18
    assert not agree(a, b)
    assert not agree(b, a)


@pytest.mark.parametrize(("a", "b"), SAME)
def test_the_same_statement_in_other_words_is_one(a: str, b: str) -> None:
    assert agree(a, b)
    assert agree(b, a)


@given(st.text(max_size=200))
def test_a_text_agrees_with_itself_and_keeps_all_of_itself(text: str) -> None:
    assert agree(text, text)
    assert kept_share(text, text) == 1.0


@given(st.text(max_size=100), st.text(max_size=100))
def test_agreeing_is_symmetric_and_shares_lie_between_nothing_and_all(a: str, b: str) -> None:
    assert agree(a, b) == agree(b, a)
    assert 0.0 <= kept_share(a, b) <= 1.0


def test_ordinary_words_are_free_in_the_core_and_names_are_not() -> None:
    assert agree_in_core("The user likes tea in Turin", "The user likes coffee in Turin")
    assert not agree_in_core("The user likes tea in Turin", "The user likes tea in Ivrea")


@pytest.mark.parametrize(
    ("old", "merged", "share"),
    [
        ("The user lives in Turin", "The user lives in Turin with two cats", 1.0),
        ("The user lives in Turin", "The user lives in Italy", 0.0),
        ("Deadline is October 15th", "Deadline is October", 2 / 3),
        ("The user likes tea", "whatever", 1.0),
    ],
)
def test_a_merge_is_measured_by_the_load_bearing_words_it_keeps(old: str, merged: str, share: float) -> None:
    assert kept_share(old, merged) == pytest.approx(share)


def test_a_merge_that_drops_a_negation_has_lost_something() -> None:
    assert kept_share("The user does not eat meat", "The user does eat meat") < 1.0


def test_texts_that_differ_behind_what_is_compared_are_two() -> None:
    head = "a " * (CHARS_MAX // 2)

    assert not agree(head + "Turin", head + "Milan")
    assert not agree(head + "x", head)


def test_negated_words_end_with_their_clause() -> None:
    found = load_bearing("We don't use tabs, we use spaces")

    assert "tab" in found.negated
    assert "spac" in found.affirmed


@pytest.mark.parametrize(
    ("listed", "a", "b"),
    [
        ("load_bearing/negators.en.txt", "I eat meat", "I never eat meat"),
        ("load_bearing/negators.de.txt", "Ich esse das Fleisch", "Ich esse das Fleisch nie"),
        ("load_bearing/negators.fr.txt", "Je mange de la viande", "Je mange jamais de la viande"),
        ("load_bearing/negators.es.txt", "Yo como la carne", "Yo jamás como la carne"),
        ("load_bearing/clause_breaks.txt", "not tabs but spaces", "not tabs spaces"),
    ],
)
def test_each_list_is_needed(listed: str, a: str, b: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from recalld.models.policy import load_bearing as module

    whole = module.word_lists.words
    before = (module.load_bearing(a), module.load_bearing(b))
    monkeypatch.setattr(module.word_lists, "words", lambda name: frozenset() if name == listed else whole(name))
    module.load_bearing.cache_clear()
    try:
        assert (module.load_bearing(a), module.load_bearing(b)) != before
    finally:
        monkeypatch.undo()
        module.load_bearing.cache_clear()
