from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from recalld.models.inference.query_text import (
    QUERY_CHARS_MAX,
    QUERY_END_CHARS,
    QUESTION_CHARS_MAX,
    cap_query,
    clean,
    kept_positions,
    question_span,
    tokens_in_span,
)

FILLER = "some pasted log line. " * 2_000


def asked(text: str) -> str | None:
    span = question_span(text)
    return None if span is None else text[slice(*span)]


def test_the_last_sentence_that_asks_is_found_between_statements() -> None:
    assert asked("It broke. Did it work before? Why does it fail now? Here is the log.") == "Why does it fail now?"


def test_a_question_mark_inside_an_address_asks_nothing() -> None:
    assert asked("See http://x.test/a?q=1 for more.") is None


def test_a_wide_question_mark_asks_too() -> None:
    assert asked("\u597d\u3002 \u5728\u54ea\u91cc\uff1f") == "\u5728\u54ea\u91cc\uff1f"


def test_a_question_at_a_line_start_does_not_take_the_line_above_it() -> None:
    assert asked("Traceback here\n\nwhat is this?\nend") == "what is this?"


def test_a_long_question_keeps_its_end() -> None:
    found = asked("well " * 500 + "where do I work?")
    assert found is not None
    assert found.endswith("where do I work?")
    assert len(found) == QUESTION_CHARS_MAX + 1


def test_a_text_of_question_marks_within_words_ends_the_search() -> None:
    assert asked("?a" * 100_000) is None


def test_a_short_query_is_left_alone() -> None:
    assert cap_query("where do I work?") == "where do I work?"


def test_a_long_paste_keeps_head_question_and_tail_in_order() -> None:
    text = "HEAD " + FILLER + "\nWhich port does it use?\n" + FILLER + " TAIL"
    capped = cap_query(text)
    assert capped.startswith("HEAD ")
    assert capped.endswith(" TAIL")
    assert "\nWhich port does it use?\n" in capped
    assert asked(capped) == asked(text)


def test_a_question_in_the_kept_tail_is_not_repeated() -> None:
    capped = cap_query(FILLER + "Which port does it use?")
    assert capped.count("Which port does it use?") == 1


@given(st.text())
def test_a_capped_query_is_bounded(text: str) -> None:
    long = text * (1 + 2 * QUERY_CHARS_MAX // max(1, len(text)))
    assert len(cap_query(long)) <= max(QUERY_CHARS_MAX, 2 * QUERY_END_CHARS + QUESTION_CHARS_MAX + 3)


def test_nul_and_lone_surrogates_become_spaces_so_that_words_stay_apart() -> None:
    assert clean("a\x00b\ud800c\udfffd") == "a b c d"


def test_head_and_tail_share_what_the_question_leaves() -> None:
    assert kept_positions(20, 8, (9, 11)) == [0, 1, 2, 9, 10, 17, 18, 19]


def test_without_a_question_head_and_tail_share_the_limit() -> None:
    assert kept_positions(10, 4, None) == [0, 1, 8, 9]


def test_too_long_a_question_keeps_its_end_and_leaves_room_for_context() -> None:
    assert kept_positions(100, 8, (50, 100)) == [0, 93, 94, 95, 96, 97, 98, 99]


@given(st.integers(0, 200), st.integers(4, 64), st.tuples(st.integers(0, 200), st.integers(0, 200)) | st.none())
def test_kept_positions_are_ascending_in_range_and_as_many_as_fit(
    count: int, limit: int, question: tuple[int, int] | None
) -> None:
    if question is not None:
        start, end = sorted(question)
        question = (min(start, count), min(end, count))
    kept = kept_positions(count, limit, question)
    assert kept == sorted(set(kept))
    assert all(0 <= position < count for position in kept)
    assert len(kept) == min(count, limit)
    if question is not None and question[1] > question[0]:
        assert question[1] - 1 in kept


def test_tokens_that_overlap_the_span_are_its_tokens() -> None:
    offsets = [(0, 3), (4, 7), (8, 12), (12, 13)]
    assert tokens_in_span(offsets, (4, 12)) == (1, 3)
    assert tokens_in_span(offsets, None) is None
    assert tokens_in_span(offsets, (90, 95)) is None
