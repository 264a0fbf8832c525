from __future__ import annotations

import pytest

from recalld.models.policy.visible import has_searchable, has_visible

BLANK = [
    "",
    " \n\t",
    "\0",
    "\u200b\u2060",
    "\u2800",
    "\u3164",
    "\uffa0",
    "\u115f\u1160",
    "\u00ad",
    "\ufeff",
    "\u180e",
    "\u034f",
    "\ufe0f",
    "\U000e0041",
    "\u2028",
]


@pytest.mark.parametrize("text", BLANK)
def test_what_looks_blank_has_nothing_to_see(text: str) -> None:
    assert not has_visible(text)
    assert not has_searchable(text)
    assert has_visible(f"{text}x{text}")


@pytest.mark.parametrize(
    "text", ["*", '""', "_", "...", "???", "!", "-", "/", "```", "\u3002", "\u00bf?", "->", "\u20ac", "^", "\u0301"]
)
def test_punctuation_is_seen_but_is_nothing_to_search_for(text: str) -> None:
    assert has_visible(text)
    assert not has_searchable(text)


@pytest.mark.parametrize("text", ["a", "7", "\u00bd", "\u7ba1", "\U0001f44d", "\u2764\ufe0f", "!\u0936!", "C++"])
def test_a_letter_a_number_and_an_emoji_can_be_searched_for(text: str) -> None:
    assert has_searchable(text)
