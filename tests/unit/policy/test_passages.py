from __future__ import annotations

import itertools
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recalld.models.domain.records import MEMORY_CHARS_MAX
from recalld.models.policy.passages import (
    LONG_TOKENS_MAX,
    OVERLAP_TOKENS_MAX,
    PASSAGE_TOKENS_MAX,
    TITLE_CHARS_MAX,
    judged_text,
    split_passages,
)
from recalld.models.policy.query_focus import QUERY_TOKENS_MAX, focused_query
from recalld.models.policy.token_estimate import estimated_tokens, units

SENTENCES = [f"Sentence number {number} says that the {word} stands in hall {number}." for number, word in
             enumerate(("boiler", "press", "lathe", "kiln", "saw", "drill", "crane", "oven") * 12)]  # fmt: skip
LONG = " ".join(SENTENCES)
texts = st.text(alphabet=st.sampled_from("ab Z9.?!,\n\u9879\u3002\u00e9\u0430_-"), max_size=4_000)


GOLDEN = (14, [444, 454, 460], 285)
"""How many passages `LONG` has, and the lengths of the first three and the last in characters."""


def bare(text: str) -> str:
    return re.sub(r"\s+", "", text)


@pytest.mark.parametrize("text", ["", " ", "Prefers tea.", " ".join(["word"] * PASSAGE_TOKENS_MAX)])
def test_a_short_text_is_its_own_only_passage(text: str) -> None:
    assert split_passages(text) == (text,)
    assert judged_text(text, 0) == judged_text(text, None) == judged_text(text, 7) == text


def test_passages_end_with_sentences_and_repeat_a_little_of_the_one_before() -> None:
    passages = split_passages(LONG)
    assert len(passages) > 5
    for before, after in itertools.pairwise(passages):
        assert before.endswith(".")
        assert after.startswith("Sentence number")
        first_sentence = after[: after.index(".") + 1]
        assert first_sentence in before
    assert all(estimated_tokens(passage) <= PASSAGE_TOKENS_MAX for passage in passages)


def test_the_passages_of_a_text_never_change() -> None:
    # They are stored by their places: where this changes, a migration must let what is cut differently wait.
    lengths = [len(passage) for passage in split_passages(LONG)]
    assert (len(lengths), lengths[:3], lengths[-1]) == GOLDEN


@settings(max_examples=150, deadline=None)
@given(texts)
def test_passages_leave_nothing_out_and_are_stretches_of_the_text_in_order(text: str) -> None:
    passages = split_passages(text)
    end = 0
    for passage in passages:
        start = text.index(passage, max(0, end - len(passage) - 200)) if passage else 0
        assert not bare(text[end:start])
        end = max(end, start + len(passage))
    assert not bare(text[end:])
    longest_unit = max((unit.tokens for unit in units(text)), default=0)
    assert all(estimated_tokens(each) <= max(PASSAGE_TOKENS_MAX, LONG_TOKENS_MAX, longest_unit) for each in passages)


@pytest.mark.parametrize("letter", ["\u9879", "\u0430 ", "x ", "?", "a. "])
def test_the_longest_memory_of_any_script_has_passages_enough_for_an_ordinal_of_one_byte(letter: str) -> None:
    text = (letter * MEMORY_CHARS_MAX)[:MEMORY_CHARS_MAX]
    passages = split_passages(text)
    assert 1 < len(passages) < 100
    assert all(estimated_tokens(passage) <= LONG_TOKENS_MAX for passage in passages)


def test_a_later_passage_is_judged_with_the_first_words_in_front() -> None:
    text = f"Notes on the workshop\n{LONG}"
    passages = split_passages(text)
    assert judged_text(text, 0) == passages[0]
    assert judged_text(text, 3) == f"Notes on the workshop … {passages[3]}"
    assert judged_text(text, None) == judged_text(text, 250) == passages[0]


@given(st.text(min_size=1, max_size=300))
def test_what_stands_in_front_stays_short(start: str) -> None:
    text = f"{start} {LONG}"
    passages = split_passages(text)
    assert len(judged_text(text, 2)) <= len(passages[2]) + TITLE_CHARS_MAX + len(" … ")


def test_what_a_passage_repeats_is_bounded() -> None:
    text = "word " * 2_000
    passages = split_passages(text)
    repeated = sum(estimated_tokens(passage) for passage in passages) - estimated_tokens(text)
    assert repeated <= OVERLAP_TOKENS_MAX * len(passages)


@pytest.mark.parametrize("text", ["", "Where do I park?", " ".join(["word"] * QUERY_TOKENS_MAX)])
def test_a_short_query_is_embedded_as_it_is(text: str) -> None:
    assert focused_query(text) == text


LOG = "\n".join(
    f"2026-01-{number % 28:02} ERROR worker {number} failed with code {number * 7}" for number in range(400)
)


@pytest.mark.parametrize("place", [0, 0.3, 0.999, 1])
def test_of_a_pasted_log_the_sentence_that_asks_is_kept_wherever_it_stands(place: float) -> None:
    question = "Why does the release job fail?"
    cut = int(len(LOG) * place)
    focus = focused_query(f"{LOG[:cut]}\n{question}\n{LOG[cut:]}")
    assert question in focus
    assert estimated_tokens(focus) <= QUERY_TOKENS_MAX + 4  # and the marks of what was left out


def test_of_a_paste_without_a_question_beginning_and_end_are_kept() -> None:
    focus = focused_query(f"Deploy log of Monday\n{LOG}\nAll retries are used up")
    assert focus.startswith("Deploy log of Monday")
    assert focus.endswith("All retries are used up")


@settings(deadline=None)
@given(texts)
def test_a_focus_is_never_long_and_says_nothing_that_the_query_does_not(text: str) -> None:
    focus = focused_query(text)
    longest_unit = max((unit.tokens for unit in units(text)), default=0)
    assert estimated_tokens(focus) <= max(QUERY_TOKENS_MAX + 4, longest_unit)
    assert all(part in text for part in focus.split(" … "))


@given(texts)
def test_units_are_in_order_apart_and_all_there_is_but_white_space(text: str) -> None:
    end = 0
    for unit in units(text):
        assert not text[end : unit.start].strip()
        assert unit.start < unit.end
        assert unit.tokens > 0
        end = unit.end
    assert not text[end:].strip()
