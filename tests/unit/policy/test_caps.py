from __future__ import annotations

import unicodedata
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recalld.models.domain.reasons import AdmissionReason
from recalld.models.domain.recall import RecallQuery
from recalld.models.policy.caps import EXPANSION_FREE_CHARS, EXPANSION_MAX, capped, compatible
from recalld.models.policy.duplicates import fold
from recalld.models.policy.exclusions import exclusion_rules
from recalld.models.policy.explicit_save import NotSaved, find_explicit_saves
from recalld.models.policy.save_turn import TURN_CHARS_MAX, prepare_turn
from recalld.models.policy.term_text import clean_text
from recalld.models.policy.terms import index_terms, query_terms
from recalld.models.policy.turn.words import read_words

EIGHTEEN = "\ufdfa"
"""One character that is eighteen letters in compatibility form."""
PASTE_CHARS = 65_536


@given(st.text(max_size=300), st.integers(2, 100))
def test_a_cap_is_kept_and_a_short_text_is_left_alone(text: str, chars_max: int) -> None:
    kept = capped(text, chars_max)
    assert len(kept) <= chars_max + 1
    if len(text) <= chars_max:
        assert kept == text
    else:
        assert text.startswith(kept.split("\n")[0])


def test_head_and_tail_stay_and_no_word_is_made_of_both() -> None:
    assert capped("abcdefghij", 4) == "ab\nij"
    assert capped("ab   middle   ij", 6, joint=" ") == "ab ij"


@given(st.text(max_size=300))
def test_normalising_never_blows_a_text_up(text: str) -> None:
    assert len(compatible(text)) <= EXPANSION_MAX * len(text) + EXPANSION_FREE_CHARS


@given(st.text(alphabet=st.characters(max_codepoint=0x2FFF), max_size=200))
def test_ordinary_texts_are_normalised_in_full(text: str) -> None:
    normal = unicodedata.normalize("NFKC", text)
    if len(normal) <= EXPANSION_MAX * len(text):
        assert compatible(text) == normal


def test_a_single_ligature_is_written_out() -> None:
    assert compatible("\ufb01nd") == "find"
    assert len(compatible(EIGHTEEN)) == 18


@pytest.mark.parametrize("normalised", [clean_text, fold, compatible])
@pytest.mark.parametrize("character", [EIGHTEEN, "\u0130", "\u0149", "\u3300", "\ufb03"])
def test_no_pass_over_a_text_is_given_more_than_a_few_times_its_length(
    normalised: Callable[[str], str], character: str
) -> None:
    assert len(normalised(character * 8_000)) <= 3 * EXPANSION_MAX * 8_000


@pytest.mark.parametrize("character", [EIGHTEEN, "\u0130", "1+", "ab ", "\u7ba1\u7406", '"', "```\n"])
def test_of_a_long_paste_a_bounded_part_is_read(character: str, monkeypatch: pytest.MonkeyPatch) -> None:
    paste = (character * PASTE_CHARS)[:PASTE_CHARS]
    read: list[int] = []
    monkeypatch.setattr(
        "recalld.models.policy.terms.clean_text", lambda text: read.append(len(text)) or clean_text(text)
    )
    query_terms(paste)
    assert max(read) <= 16_001
    turn = prepare_turn(paste)
    assert len(turn.masked) <= TURN_CHARS_MAX + 10
    assert exclusion_rules(query(paste), visible=frozenset(), now_ms=0).own_text == ""


def test_blown_up_text_has_about_as_many_terms_as_characters() -> None:
    assert len(index_terms(EIGHTEEN * 8_000)) <= 2 * 8_000
    assert len(read_words(EIGHTEEN * 8_000).words) <= 2 * 8_000


def query(text: str) -> RecallQuery:
    return RecallQuery(user="ines", session="", text=text, deadline_s=1.0)


FILLER = "Lorem ipsum dolor. " * 2_000


@pytest.mark.parametrize(
    "text",
    [
        "remember that " + "I like long stories " * 1_000,  # the command's own sentence is cut
        "x " * 4_000 + "\n\nRemember: " + "I like tea and " * 1_000 + FILLER,
    ],
)
def test_a_statement_of_which_a_part_was_not_read_is_never_stored(text: str) -> None:
    assert len(text) > TURN_CHARS_MAX
    assert find_explicit_saves(text) == NotSaved(reason=AdmissionReason.TOO_LONG)


def test_a_sentence_whose_beginning_was_not_read_is_never_stored_as_what_came_before_a_command() -> None:
    tail = "nobody likes tea. Remember that."
    text = "Hello. " + "a" * (PASTE_CHARS - TURN_CHARS_MAX // 2) + " " + "b" * (TURN_CHARS_MAX // 2 - len(tail)) + tail
    assert isinstance(find_explicit_saves(text), NotSaved)


def test_a_save_at_either_end_of_a_long_paste_is_found() -> None:
    for text in (f"Remember that I use vim.\n\n{FILLER}", f"{FILLER}\n\nRemember that I use vim."):
        saves = find_explicit_saves(text)
        assert not isinstance(saves, NotSaved)
        assert [save.statement for save in saves] == ["I use vim."]
