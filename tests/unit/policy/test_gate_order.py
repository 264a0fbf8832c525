from __future__ import annotations

from collections.abc import Callable

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recalld.models.domain.recall import Candidate, TextShape
from recalld.models.domain.records import MemoryKind
from recalld.models.policy.gate_order import best_first, looking_order, with_shapes
from recalld.models.policy.head_inputs import LOG_WORDS_MAX, HeadInput
from recalld.models.policy.logistic_head import LogisticHead
from recalld.models.policy.relevance import LOGIT_HEAD, KindThreshold, RelevanceModel, uncalibrated
from recalld.models.policy.text_shape import QUERY_CHARS_MAX, text_shape

HEAD = LogisticHead(
    inputs=(HeadInput.LOGIT, HeadInput.ASK_COSINE),
    weights=(0.2, 4.0),
    means=(0.0, 0.5),
    scales=(1.0, 0.5),
    intercept=-1.0,
)
MODEL = RelevanceModel(heads=(HEAD, LOGIT_HEAD), threshold=0.5)

asks = st.lists(st.floats(-1, 1), max_size=8)


def ids(candidates: list[Candidate], model: RelevanceModel) -> list[str]:
    return [each.candidate.memory.id for each in best_first(candidates, model)]


def test_what_can_become_most_relevant_comes_first(make_candidate: Callable[..., Candidate]) -> None:
    found = [make_candidate(f"mem_{ask}", ask_cosine=ask) for ask in (0.3, 0.9, 0.6)]
    assert ids(found, MODEL) == ["mem_0.9", "mem_0.6", "mem_0.3"]


@given(cosines=asks)
def test_nobody_is_lost_and_who_is_hopeless_fails_with_every_score(
    make_candidate: Callable[..., Candidate], cosines: list[float]
) -> None:
    found = [make_candidate(f"mem_{place}", ask_cosine=ask) for place, ask in enumerate(cosines)]
    contenders = best_first(found, MODEL)
    assert sorted(each.candidate.memory.id for each in contenders) == [each.memory.id for each in found]
    hopeless = [each.is_hopeless for each in contenders]
    assert hopeless == sorted(hopeless)
    for each in contenders:
        assert each.is_hopeless is (HEAD.relevance((12.0, each.candidate.evidence.ask_cosine or 0.0)) < 0.5)


def test_without_a_calibrated_head_the_order_stays(make_candidate: Callable[..., Candidate]) -> None:
    found = [make_candidate(f"mem_{ask}", ask_cosine=ask) for ask in (0.3, 0.9, 0.6)]
    assert ids(found, uncalibrated(0.02)) == [each.memory.id for each in found]


def test_a_kind_with_a_lower_threshold_gets_further_above_it(make_candidate: Callable[..., Candidate]) -> None:
    fact, preference = make_candidate("mem_fact", ask_cosine=0.6), make_candidate("mem_preference", ask_cosine=0.58)
    preference = msgspec.structs.replace(
        preference, memory=msgspec.structs.replace(preference.memory, kind=MemoryKind.PREFERENCE)
    )
    own = KindThreshold(kind=MemoryKind.PREFERENCE, threshold=0.1, positives=60)
    assert ids([fact, preference], MODEL) == ["mem_fact", "mem_preference"]
    with_own = msgspec.structs.replace(MODEL, kind_thresholds=(own,))
    assert ids([fact, preference], with_own) == ["mem_preference", "mem_fact"]


def test_the_shape_is_that_of_the_clause_a_memory_was_found_for(make_candidate: Callable[..., Candidate]) -> None:
    whole = make_candidate("mem_whole")
    clause = msgspec.structs.replace(make_candidate("mem_clause"), query="where to deploy")
    shaped = with_shapes([whole, clause], "Set up the repo. And where do I deploy it?")
    assert [each.evidence.shape and each.evidence.shape.words for each in shaped] == [10, 3]
    assert [each.evidence.shape and each.evidence.shape.is_question for each in shaped] == [True, False]


@pytest.mark.parametrize(
    ("query", "shape"),
    [
        ("", TextShape(words=0, is_question=False)),
        ("staging port?", TextShape(words=2, is_question=True)),
        ("What's the port", TextShape(words=3, is_question=False, is_open_question=True)),
        ("whatever, port it", TextShape(words=3, is_question=False)),
        ("  tabs \n or spaces for us", TextShape(words=5, is_question=False, is_personal=True)),
        ("I'm here", TextShape(words=2, is_question=False, is_personal=True)),
        ("mining in an office", TextShape(words=4, is_question=False)),
    ],
)
def test_a_shape_tells_length_and_form(query: str, shape: TextShape) -> None:
    assert text_shape(query) == shape


def test_of_a_pasted_text_no_more_is_counted_than_matters() -> None:
    shape = text_shape("word " * 100_000)
    assert 2.718281828**LOG_WORDS_MAX < shape.words <= QUERY_CHARS_MAX


def looks(candidates: list[Candidate]) -> list[str]:
    return [each.candidate.memory.id for each in looking_order(candidates, MODEL)]


def test_fusions_first_is_looked_at_first_whatever_a_head_expects(make_candidate: Callable[..., Candidate]) -> None:
    found = [make_candidate("mem_plain"), *(make_candidate(f"mem_{ask}", ask_cosine=ask) for ask in (0.3, 0.9, 0.6))]
    found[0] = msgspec.structs.replace(found[0], evidence=msgspec.structs.replace(found[0].evidence, ask_cosine=-1.0))
    assert looks(found) == ["mem_plain", "mem_0.9", "mem_0.6", "mem_0.3"]


def test_the_clauses_of_a_message_take_turns_and_each_begins_with_its_best(
    make_candidate: Callable[..., Candidate],
) -> None:
    def found_for(query: str, memory_id: str, ask: float) -> Candidate:
        return msgspec.structs.replace(make_candidate(memory_id, ask_cosine=ask), query=query)

    found = [
        found_for("wifi", "wifi_1", 0.95),
        found_for("wifi", "wifi_2", 0.94),
        found_for("wifi", "wifi_3", 0.93),
        found_for("tyres", "tyres_1", 0.2),
        found_for("", "whole_1", 0.5),
        found_for("tyres", "tyres_2", 0.9),
    ]
    assert looks(found) == ["wifi_1", "tyres_1", "whole_1", "wifi_2", "tyres_2", "wifi_3"]


@given(cosines=asks, clauses=st.lists(st.sampled_from(["", "a", "b"]), min_size=8, max_size=8))
def test_in_turns_nobody_is_lost(
    make_candidate: Callable[..., Candidate], cosines: list[float], clauses: list[str]
) -> None:
    found = [
        msgspec.structs.replace(make_candidate(f"mem_{place}", ask_cosine=ask), query=clause)
        for place, (ask, clause) in enumerate(zip(cosines, clauses, strict=False))
    ]
    assert sorted(looks(found)) == sorted(each.memory.id for each in found)


def test_a_model_fitted_on_the_first_candidates_of_fusion_keeps_its_order(
    make_candidate: Callable[..., Candidate],
) -> None:
    found = [make_candidate(f"mem_{ask}", ask_cosine=ask) for ask in (0.3, 0.9, 0.6)]
    fitted = msgspec.structs.replace(MODEL, candidates_max=2)
    assert ids(found, fitted) == [each.memory.id for each in found]
    assert ids(found, fitted) != ids(found, MODEL)
