"""The graph of phrases finds what the phrases find when each is written out."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recalld.models.policy.admission.phrase_graph import ANCHOR, PhraseNode, phrase_parts, phrase_tree

Found = tuple[tuple[str, ...], tuple[str, ...]]

_WORDS = st.sampled_from(["a", "b", "c"])
_LISTED = st.lists(st.lists(_WORDS, min_size=1, max_size=2).map(" ".join), min_size=1, max_size=3).map("|".join)
_PLACES = st.lists(st.one_of(_LISTED.map("[{}]".format), _LISTED.map("({})".format), _WORDS, st.just("*")), max_size=3)


@st.composite
def phrases(draw: st.DrawFn) -> str:
    """One word that is always there, somewhere among places that may be optional; now and then anchored."""
    places = [*draw(_PLACES), draw(_WORDS), *draw(_PLACES)]
    return " ".join([ANCHOR, *places] if draw(st.booleans()) else places)


def written_out(phrase: str) -> set[tuple[str, ...]]:
    return {tuple(itertools.chain.from_iterable(chosen)) for chosen in itertools.product(*phrase_parts(phrase))}


def found_at(root: PhraseNode[str], words: Sequence[str]) -> Found:
    node: PhraseNode[str] | None = root
    for word in words:
        node = None if node is None else node.at(word)
    return ((), ()) if node is None else (node.marks, node.anchored)


def expected_at(filed: Sequence[tuple[str, str]], words: tuple[str, ...]) -> Found:
    return (
        tuple(dict.fromkeys(mark for mark, phrase in filed if words in written_out(phrase))),
        tuple(dict.fromkeys(mark for mark, phrase in filed if (ANCHOR, *words) in written_out(phrase))),
    )


@given(st.lists(st.tuples(st.sampled_from(["x", "y", "z"]), phrases()), min_size=1, max_size=4), st.data())
def test_a_place_in_the_graph_holds_what_ends_there_when_all_phrases_are_written_out(
    filed: list[tuple[str, str]], data: st.DataObject
) -> None:
    filed.sort(key=lambda each: each[0])  # as lists are: one after another
    root = phrase_tree((mark, phrase_parts(phrase)) for mark, phrase in filed)
    whole = sorted(
        {tuple(word for word in variant if word != ANCHOR) for _, each in filed for variant in written_out(each)}
    )
    for words in (data.draw(st.sampled_from(whole)), tuple(data.draw(st.lists(_WORDS, min_size=1, max_size=4)))):
        for end in range(1, len(words) + 1):
            assert found_at(root, words[:end]) == expected_at(filed, words[:end])


def test_a_place_goes_on_with_its_own_words_and_with_any_word_behind_a_star() -> None:
    root = phrase_tree([("x", phrase_parts("a b")), ("y", phrase_parts("c *"))])
    assert root.begins("a")
    assert not root.begins("b")
    behind_a, behind_c = root.at("a"), root.at("c")
    assert behind_a is not None
    assert behind_c is not None
    assert behind_a.goes_on_with(["a", "b"], 1)
    assert not behind_a.goes_on_with(["a", "d"], 1)
    assert not behind_a.goes_on_with(["a"], 1)
    assert behind_c.goes_on_with(["c", "d"], 1)


def test_a_phrase_that_may_be_without_any_word_is_refused() -> None:
    with pytest.raises(ValueError, match="x may be without any word"):
        phrase_tree([("x", phrase_parts("[a] [b|c]"))])
