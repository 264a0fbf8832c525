from __future__ import annotations

from itertools import pairwise
from zlib import crc32

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recalld.models.policy.judge.model import weigh
from recalld.models.policy.judge.phrases import NEIGHBOUR_SHARE, TURN_SHARE, Phrases, read_phrases
from recalld.models.policy.judge.segments import split_segments
from recalld.models.policy.save_turn import prepare_turn


def read(text: str) -> tuple[Phrases, ...]:
    turn = prepare_turn(text)
    return read_phrases(turn, split_segments(turn))


def ids_of(*phrases: str) -> set[int]:
    return {crc32(phrase.encode()) for phrase in phrases}


def test_a_segment_has_its_own_words_those_beside_it_and_those_of_its_turn() -> None:
    first, second = read("We use Nix. Thanks!")
    assert ids_of("o we use", "o < we", "o nix .", "n thanks", "p <nothing>", "t thanks") <= set(first.ids.tolist())
    assert ids_of("o thanks !", "p use nix", "n <nothing>", "t we") <= set(second.ids.tolist())
    assert not ids_of("n we", "p we") & set(first.ids.tolist())


def test_numbers_are_one_number_and_quoted_text_is_one_mark() -> None:
    assert read("Port 8080 it is")[0].ids.tolist() == read("Port 9 it is")[0].ids.tolist()
    assert read("He said 'we use tabs' again")[0].ids.tolist() != read("He said we use tabs again")[0].ids.tolist()
    assert (
        read('The log says "we use tabs" now')[0].ids.tolist() == read('The log says "we like it" now')[0].ids.tolist()
    )


@given(st.text(max_size=300))
def test_ids_ascend_and_lengths_are_as_stated(text: str) -> None:
    for each in read(text):
        assert all(one < two for one, two in pairwise(each.ids.tolist()))
        assert float((each.values**2).sum()) <= 1.0 + 2 * NEIGHBOUR_SHARE**2 + TURN_SHARE**2 + 1e-9


def test_phrases_that_no_fit_has_seen_weigh_nothing() -> None:
    phrases = Phrases(ids=np.asarray([2, 5, 9], dtype=np.uint32), values=np.asarray([0.5, 1.0, 0.25]))
    known = np.asarray([5, 7], dtype=np.uint32)
    assert weigh(phrases, known, np.asarray([2.0, 3.0])) == pytest.approx(2.0)
    assert weigh(phrases, known[:0], np.asarray([])) == 0.0
