from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recalld.models.policy.markup import find_tags, level_brackets


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a < b", "a < b"),
        ("&lt;a&gt;", "<   a   >"),
        ("&#60;a&#x3E;", "<    a     >"),
        ("\uff1ca\uff1e", "<a>"),
        ("%3Ca%3e", "<  a  >"),
    ],
)
def test_brackets_of_every_spelling_are_levelled_in_place(text: str, expected: str) -> None:
    assert level_brackets(text) == expected


@given(st.text(st.sampled_from("&lt;gamp#60x3cCeE\\u%<>\uff1c "), max_size=60))
def test_levelling_keeps_every_position(text: str) -> None:
    assert len(level_brackets(text)) == len(text)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("<a>", [("a", False, False)]),
        ("</A >", [("a", True, False)]),
        ("< a b='c' />", [("a", False, True)]),
        ("<a/>", [("a", False, True)]),
        ("<sys:x-1>", [("sys:x-1", False, False)]),
        ("<https://a.example/b> <ana@b.example> <mailto:x>", []),
        ("1 < 2 > 1", []),
        ("<>", []),
        ("<3>", []),
    ],
)
def test_tags_are_read_with_name_and_kind(text: str, found: list[tuple[str, bool, bool]]) -> None:
    assert [(tag.name, tag.is_closing, tag.is_empty) for tag in find_tags(text)] == found


def test_a_tag_knows_whether_a_word_stands_right_before_it() -> None:
    assert [tag.is_glued for tag in find_tags("List<String> <b>")] == [True, False]
