from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from recalld.models.policy.judge.segments import SEGMENTS_MAX, split_segments
from recalld.models.policy.save_turn import prepare_turn


def texts(text: str) -> list[str]:
    return [segment.text for segment in split_segments(prepare_turn(text))]


def test_short_sentences_stay_whole_and_lose_the_marks_around_them() -> None:
    assert texts("We use Kafka. Why is it slow?") == ["We use Kafka", "Why is it slow?"]
    assert texts("- tabs, not spaces\n- black") == ["tabs, not spaces", "black"]


def test_a_long_sentence_is_cut_into_clauses() -> None:
    long = (
        "it just sits there thinking about life for ninety seconds, and I know we're on Fly.io so there's that business"
    )
    assert texts(long) == [
        "it just sits there thinking about life for ninety seconds",
        "and I know we're on Fly.io",
        "so there's that business",
    ]


def test_what_is_stored_is_the_sentence_unless_it_is_long() -> None:
    medium = prepare_turn(
        "As I represent the tenant side exclusively, please keep the argument from the lessee's view."
    )
    assert {segment.whole for segment in split_segments(medium)} == {split_segments(medium)[0].whole}
    long = prepare_turn(", ".join(["and then we went on to look at it"] * 9))
    assert all(segment.whole == segment.span for segment in split_segments(long))


def test_code_and_quotations_alone_are_not_judged() -> None:
    assert texts('`we use tabs` "I live in Rome"') == []


def test_a_long_turn_is_judged_at_its_head_and_its_tail() -> None:
    found = texts(" ".join(f"Sentence number {place} is here." for place in range(100)))
    assert len(found) == SEGMENTS_MAX
    assert found[0].startswith("Sentence number 0")
    assert found[-1].startswith("Sentence number 99")


@given(st.text(alphabet="ab ,.;:()?!\n-'\"`\u2026", max_size=300))
def test_segments_are_parts_of_the_turn_in_order_and_inside_what_is_stored(text: str) -> None:
    turn = prepare_turn(text)
    end = 0
    for segment in split_segments(turn):
        assert segment.span.start >= end
        assert segment.text == turn.text[segment.span.start : segment.span.end]
        assert segment.whole.start <= segment.span.start < segment.span.end <= segment.whole.end
        end = segment.span.end
