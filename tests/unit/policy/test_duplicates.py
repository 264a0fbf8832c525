from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recalld.models.policy.duplicates import DIGEST_BYTES, canonical, duplicate_digest, fold, tombstone_digest

KEY = b"k" * 32


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The user likes tea.", "the user  likes\ttea"),
        ("I like tea", "i like tea"),
        ("  tea \n", "tea"),
        ("caf\u00e9", "cafe\u0301"),
        ("my motto is \u201cbe kind\u201d", 'my motto is "be kind"'),
        ("my motto is \u00abbe kind\u00bb", 'my motto is "be kind"'),
        ("O\u2019Brien is in", "O\u02bcBrien is in."),
        ("I\u2019m vegan", "i'm vegan"),
        ("\u6211\u559c\u6b22\u8336\u3002", "\u6211\u559c\u6b22\u8336"),
    ],
)
def test_spelling_alone_makes_no_other_text(one: str, other: str) -> None:
    assert canonical(one) == canonical(other)
    assert duplicate_digest(one, KEY) == duplicate_digest(other, KEY)


@pytest.mark.parametrize(
    ("one", "other", "is_one"),
    [
        ("I prefer jazz.", "The user prefers jazz.", True),
        ("My car is red", "The user's car is red", True),
        ("i'm vegan", "The user is vegan.", True),
        ("I prefer jazz.", "The user prefers swing.", False),
        ("I prefer jazz.", "Alice prefers jazz.", False),
        ("We prefer jazz.", "The user prefers jazz.", False),
        ("`I` is the index", "`the user` is the index", False),
    ],
)
def test_a_fact_in_two_voices_is_one_text(one: str, other: str, *, is_one: bool) -> None:
    assert (duplicate_digest(one, KEY) == duplicate_digest(other, KEY)) is is_one


@pytest.mark.parametrize(
    ("one", "other"),
    [
        # Case that is not a sentence's first letter (A18).
        ("The safe password is aBc", "The safe password is AbC"),
        ("The safe password is Abc", "The safe password is abc"),
        ("Tr0ub4dor", "tr0ub4dor"),
        ("Password", "password"),
        ("The team is in the US", "The team is in the us"),
        ("US rules apply", "us rules apply"),
        ("X is the width", "x is the width"),
        ("STRASSE", "stra\u00dfe"),
        # Signs and digits.
        ("x == y", "x != y"),
        ("x == y", "x = y"),
        ("a > b", "a < b"),
        ("the offset is +5", "the offset is -5"),
        ("-5", "5"),
        ("C", "C++"),
        ("C", "C#"),
        (".NET", "NET"),
        ("Deadline is October 15th", "Deadline is October 16th"),
        ("budget 2,400", "budget 2,450"),
        ("budget 2,400", "budget 2.400"),
        ("budget 2,400", "budget 2400"),
        ("5 \u20ac", "5 $"),
        ("10\u00b2", "102"),
        ("\u00bd cup", "1/2 cup"),
        ("5\u2032", "5'"),
        ("\uff21\uff22\uff23", "abc"),
        # Accents, words, and what a sentence is.
        ("r\u00e9sum\u00e9", "resume"),
        ("caf\u00e9", "cafe"),
        ("We use Redshift", "We don't use Redshift"),
        ("Alice is here?", "Alice is here."),
        ("Done", "Done!"),
        ("auth_token", "auth token"),
        ('"tabs"', "tabs"),
    ],
)
def test_whatever_may_be_an_update_is_no_duplicate(one: str, other: str) -> None:
    assert canonical(one) != canonical(other)
    assert duplicate_digest(one, KEY) != duplicate_digest(other, KEY)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The safe password is aBc", "the safe PASSWORD is abc"),
        ("\u201cTabs\u201d!", "tabs"),
        ("STRASSE", "stra\u00dfe"),
        ("caf\u00e9", "cafe\u0301"),
        ("\uff21\uff22\uff23", "abc"),
    ],
)
def test_a_tombstone_knows_a_text_in_other_case_and_dress(one: str, other: str) -> None:
    assert fold(one) == fold(other)
    assert tombstone_digest(one, KEY) == tombstone_digest(other, KEY)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("C", "C++"),
        ("Deadline is October 15th", "Deadline is October 16th"),
        ("10\u00b2", "102"),
        ("\u00bd cup", "1/2 cup"),
        ("caf\u00e9", "cafe"),
        ("We use Redshift", "We don't use Redshift"),
        ("Alice is here?", "Alice is here."),
    ],
)
def test_a_tombstone_does_not_know_other_words(one: str, other: str) -> None:
    assert tombstone_digest(one, KEY) != tombstone_digest(other, KEY)


@given(st.text(st.characters(), max_size=80))
def test_either_form_made_twice_is_the_same(text: str) -> None:
    assert fold(fold(text)) == fold(text)
    assert canonical(canonical(text)) == canonical(text)


@given(st.text(st.characters(), max_size=80))
def test_any_text_has_digests_that_depend_on_the_key(text: str) -> None:
    for digest in (duplicate_digest, tombstone_digest):
        assert len(digest(text, KEY)) == DIGEST_BYTES
        assert digest(text, KEY) != digest(text, b"x" * 32)


@given(st.text(st.sampled_from("aA .'\u2019\"\u201cb\u00e9e\u0301"), max_size=12), st.text(max_size=12))
def test_duplicates_share_a_tombstone_so_that_forgetting_one_catches_both(one: str, other: str) -> None:
    for text in (one.swapcase(), one.replace("\u2019", "'"), f" {one}. ", other):
        if canonical(one) == canonical(text):
            assert fold(one) == fold(text)


@pytest.mark.parametrize("key", [b"", b"k" * 15, b"k" * 65])
def test_a_key_of_the_wrong_length_is_refused(key: bytes) -> None:
    with pytest.raises(ValueError, match="16 to 64"):
        duplicate_digest("x", key)
    with pytest.raises(ValueError, match="16 to 64"):
        tombstone_digest("x", key)
