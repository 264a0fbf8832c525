"""Words cut out of a text at once stand where a search finds them."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from recalld.models.policy.admission.tokens import tokenize, tokens_within, words_of
from recalld.models.policy.found_words import folded, words_cut_by

_WORD = re.compile(r"(\.?[^\W_]+(?:#|\+)?)")
TEXTS = st.text("abIß\u0130é'\u03a3.+# _-\n1", max_size=40)


@given(TEXTS)
def test_words_stand_where_they_are_found(text: str) -> None:
    words = words_cut_by(_WORD, text)
    assert list(zip(words.written, words.starts, strict=True)) == [
        (found.group(), found.start()) for found in _WORD.finditer(text)
    ]
    assert folded(words.written) == [word.casefold() for word in words.written]


@given(TEXTS)
def test_words_without_places_are_those_with_places(text: str) -> None:
    assert words_of(text) == [token.text for token in tokenize(text)]


@given(TEXTS, st.integers(0, 40), st.integers(0, 40))
def test_the_words_between_two_positions_are_whole_words_of_the_text(text: str, start: int, size: int) -> None:
    start = min(start, len(text))
    end = min(start + size, len(text))
    assert tokens_within(text, start, end) == tuple(each for each in tokenize(text) if start <= each.start < end)
