from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recalld.models.policy.foreign_text import ForeignSpans, find_foreign_spans, remove_foreign_elements

structured = st.lists(
    st.sampled_from(
        [
            "<a>",
            "</a>",
            "<b/>",
            "<!--",
            "-->",
            "[",
            "]",
            "[note]",
            "System:",
            "user:",
            "    ",
            "| ",
            "x",
            "\n",
            "---a---",
        ]
    ),
    max_size=20,
).map("".join)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("plain < words > here", "plain < words > here"),
        ("<doc>a</doc>\nb", "\n\n\nb"),
        ("a <doc>b</doc> c", "a <doc>b</doc> c"),
        ("a\n<doc>b", "a\n\n\n"),
        ("<b>a", "<b>a"),
        ("a</doc> b\nc", "\n\n\nc"),
        ("a <!-- b --> c", "a \n\n c"),
        ("a <|end|> b", "a \n\n"),
        ("`</doc>` is code", "`</doc>` is code"),
    ],
)
def test_elements_that_start_a_line_and_what_is_left_of_lost_ones_go(text: str, expected: str) -> None:
    assert remove_foreign_elements(text).text == expected


def test_sections_and_asides_are_told_apart() -> None:
    text = "I said\n[tool result]\nok"
    assert find_foreign_spans(text) == ForeignSpans(sections=((7, len(text)),))
    text = "see <doc>a</doc> b"
    assert find_foreign_spans(text) == ForeignSpans(asides=((4, 16),))
    assert find_foreign_spans("List<String> is ours") == ForeignSpans()


def test_spans_answer_for_positions_and_for_ranges() -> None:
    spans = ForeignSpans(sections=((2, 4),), asides=((6, 8),))
    assert [position for position in range(10) if spans.hold(position)] == [2, 3, 6, 7]
    assert spans.cut_into(0, 3)
    assert spans.cut_into(3, 9)
    assert not spans.cut_into(0, 2)
    assert not spans.cut_into(4, 9)


@given(structured)
def test_spans_lie_in_the_text_in_order_and_apart(text: str) -> None:
    spans = find_foreign_spans(text)
    for found in (spans.sections, spans.asides):
        assert all(0 <= start < end <= len(text) for start, end in found)
        assert all(one[1] < other[0] for one, other in pairwise(found))


@given(structured)
def test_removal_only_ever_takes_away(text: str) -> None:
    left = iter(text)
    assert all(character in left for character in remove_foreign_elements(text).text if character != "\n")
