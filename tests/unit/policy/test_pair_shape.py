from __future__ import annotations

from collections.abc import Callable

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recalld.models.domain.recall import Candidate, Evidence, PairShape
from recalld.models.policy.head_inputs import PAIR_INPUTS, SHAPE_INPUTS, HeadInput, head_inputs
from recalld.models.policy.pair_shape import OTHER_NAMES_MAX, pair_shape, with_pair_shapes


@pytest.mark.parametrize(
    ("query", "record", "other_names", "names_held"),
    [
        ("Where did Marta move?", "In May Marta moved to Porto", 1, 1),
        ("Where did Marta move?", "Marta moved to Porto", 1, 1),
        ("Where did Marta move?", "Jonas moved to Porto", 1, -1),
        ("where did marta move?", "Last year Marta moved", 0, 0),
        ("What is Marta's cat called?", "Her cat is with Marta now", 0, 1),
        ("What did I say to Jonas?", "The user told Jonas about I/O", 0, 1),
        ("What do I like?", "Marta: Wow, Jonas! I'm glad. Thanks", 1, 0),
        ("", "", 0, 0),
    ],
)
def test_names_are_words_with_a_capital_inside_of_a_sentence(
    query: str, record: str, other_names: int, names_held: int
) -> None:
    shape = pair_shape(query, record)
    assert (shape.other_names, shape.names_held) == (other_names, names_held)


def test_a_record_with_a_question_mark_asks() -> None:
    assert pair_shape("Where?", "Jonas: Where did you go?").is_record_asking
    assert not pair_shape("Where?", "Jonas went home").is_record_asking


@given(query=st.text(max_size=200), record=st.text(max_size=200))
def test_any_text_has_a_shape_within_bounds(query: str, record: str) -> None:
    shape = pair_shape(query, record)
    assert 0 <= shape.other_names <= OTHER_NAMES_MAX
    assert shape.names_held in {-1, 0, 1}
    assert pair_shape(query, query).names_held in {0, 1}


def test_each_candidate_is_held_against_the_clause_it_was_found_for(make_candidate: Callable[..., Candidate]) -> None:
    plain = make_candidate("mem_a")
    of_clause = msgspec.structs.replace(plain, query="and what about Marta?")
    shapes = [each.evidence.pair for each in with_pair_shapes([plain, of_clause], "Where is it?")]
    assert [None if shape is None else shape.names_held for shape in shapes] == [0, -1]


def test_heads_read_the_shape_and_whether_the_time_fits() -> None:
    pair = PairShape(other_names=2, names_held=-1, is_record_asking=True)
    evidence = Evidence(pair=pair, is_in_interval=False)
    inputs = (HeadInput.OTHER_NAMES, HeadInput.NAMES_HELD, HeadInput.RECORD_ASKS, HeadInput.TIME_FIT)
    assert head_inputs(evidence, inputs) == (2.0, -1.0, 1.0, -1.0)
    assert head_inputs(msgspec.structs.replace(evidence, is_in_interval=None), inputs) == (2.0, -1.0, 1.0, 0.0)
    assert head_inputs(Evidence(), inputs) is None


def test_what_speaks_for_relevance_may_not_fall_and_what_may_mean_either_can() -> None:
    assert {HeadInput.NAMES_HELD} == PAIR_INPUTS - SHAPE_INPUTS
    assert HeadInput.TIME_FIT not in SHAPE_INPUTS
