from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recalld.models.policy.turn.cues import CUES_MAX, find_cues
from recalld.models.policy.turn.phrases import GAP_WORDS_MAX, phrase_table
from recalld.models.policy.turn.references import Reference, find_reference, terms_outside
from recalld.models.policy.turn.words import read_words
from recalld.models.policy.visible import has_visible


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("What's THAT, she'll say?", ("what", "that", "she", "say")),
        ("don\u2019t l'\u00e9cole", ("dont", "lecole")),
        ("auth_token v2.1", ("auth", "token", "v2", "1")),
        ("Stra\u00dfe \u00fcber", ("strasse", "uber")),
        ("python\u5f88\u597d", ("python", "\u5f88", "\u597d")),
        ("\u2026 !!", ()),
    ],
)
def test_a_message_is_cut_into_folded_words(text: str, words: tuple[str, ...]) -> None:
    assert read_words(text).words == words


@pytest.mark.parametrize(
    ("text", "length"), [("", 0), ("one two", 2), ("\u5f88\u597d", 1), ("a \u5f88\u597d\u7684\u5427", 3)]
)
def test_length_counts_unspaced_characters_by_threes(text: str, length: int) -> None:
    assert read_words(text).length == length


@pytest.mark.parametrize(
    ("phrase", "text", "is_found"),
    [
        ("as before", "do it as before", True),
        ("as before", "As BEFORE!", True),
        ("as before", "do it as. Before that", False),
        ("as before", "as\nbefore", False),
        ("as before", "as, before", True),
        ("as before", "as_before", False),
        ("as before", "was before", False),
        ("as before", "x. as before", True),
        ("as before $", "as before committing", False),
        ("as before $", "as before, but slower", True),
        ("as before $", "as before", True),
        ("as before $", "as before\ncommitting", True),
        ("same * as", "same as", True),
        ("same * as", f"same {'x ' * GAP_WORDS_MAX}as", True),
        ("same * as", f"same {'x ' * (GAP_WORDS_MAX + 1)}as", False),
        ("same * as", "the same. So it is as", False),
        ("same * $", "same thing", True),
        ("\u4e0a\u6b21", "\u548c\u4e0a\u6b21\u4e00\u6837", True),
        ("\u4e0a\u6b21", "\u4e0a\u3002\u6b21", False),
    ],
)
def test_phrases_are_found_within_a_sentence(phrase: str, text: str, *, is_found: bool) -> None:
    assert bool(list(phrase_table([phrase]).find(read_words(text)))) is is_found


def test_the_longest_phrase_wins_and_none_overlap() -> None:
    table = phrase_table(["last time", "same as last time", "time we"])
    found = [match.phrase.text for match in table.find(read_words("same as last time we met, last time"))]
    assert found == ["same as last time", "last time"]


@pytest.mark.parametrize("entry", ["", "* before", "$", "!!"])
def test_a_phrase_must_start_with_a_word(entry: str) -> None:
    with pytest.raises(ValueError, match="must start with a word"):
        phrase_table([entry])


@pytest.mark.parametrize(
    "text",
    [
        "clean up before committing",
        "before the tests run, build the image",
        "should I commit before lunch",
        "keep the flag as before merging",
        "an earlier version of the compiler",
        "for the last time: no tabs",
        "remind me to call the bank",
        "try again",
        "never again",
        "the usual suspects",
        "the same colour for both buttons",
        "remember to lock the door",
        "a file named same_as_before",
    ],
)
def test_what_only_looks_like_a_cue_is_none(text: str) -> None:
    assert find_cues(read_words(text), ("en",)) == ()


@pytest.mark.parametrize(
    "text", ["did we ever try that before?", "as before, please", "It's the same backup plan as before", "Again?"]
)
def test_a_cue_is_found_however_it_is_put(text: str) -> None:
    assert find_cues(read_words(text), ("en",)) != ()


def test_cues_are_capped() -> None:
    assert len(find_cues(read_words("again " * 50), ("en",))) == CUES_MAX


@pytest.mark.parametrize(
    ("text", "reference"),
    [
        ("", Reference.SHORT),
        ("And the other contract with the longer term?", Reference.CONJUNCTION),
        ("It fails on the second machine as well", Reference.PRONOUN),
        ("the larger one", Reference.SHORT),
        ("The larger server has two more disks", None),
        ("Android support in the second release", None),
    ],
)
def test_a_message_leans_on_others_by_its_start_or_its_shortness(text: str, reference: Reference | None) -> None:
    assert find_reference(read_words(text), ("en",)) is reference


def test_only_the_last_turns_count_as_recent() -> None:
    assert terms_outside(("ports", "nginx"), ["the port", "-"]) == ("nginx",)
    assert terms_outside(("port",), ["the port", *"123456"]) == ("port",)


@given(st.text(st.characters(), max_size=100))
def test_any_text_is_read_and_its_marks_are_within_it(text: str) -> None:
    message = read_words(text)
    assert all(message.words)
    assert 0 <= message.length <= len(message.words)
    assert message.sentence_starts <= message.clause_starts
    assert all(0 <= place <= len(message.words) for place in message.clause_starts)


@pytest.mark.parametrize(
    ("text", "has_any"), [("", False), (" \n\t\x00\u200b\ufeff", False), ("\u200bx", True), ("?", True)]
)
def test_substance_is_something_to_see(text: str, *, has_any: bool) -> None:
    assert has_visible(text) is has_any
