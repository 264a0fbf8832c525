from __future__ import annotations

import math
from collections.abc import Callable

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recalld.models.domain.reasons import DropReason
from recalld.models.domain.recall import Candidate
from recalld.models.domain.records import MemoryKind
from recalld.models.policy.gate_verdict import ScoreFault, is_best_unjudged, judge, merge_logits
from recalld.models.policy.head_inputs import HeadInput
from recalld.models.policy.logistic_head import LogisticHead
from recalld.models.policy.relevance import KindThreshold, RelevanceModel, bounds, uncalibrated
from recalld.models.policy.sigmoid import sigmoid

MODEL = uncalibrated(0.5)
ASK_HEAD = LogisticHead(
    inputs=(HeadInput.LOGIT, HeadInput.ASK_COSINE),
    weights=(0.1, 10.0),
    means=(0.0, 0.5),
    scales=(1.0, 1.0),
    intercept=0.0,
)
ASK_MODEL = RelevanceModel(heads=(ASK_HEAD, *MODEL.heads), threshold=0.5)


def test_the_largest_logit_of_each_memory_counts(make_candidate: Callable[..., Candidate]) -> None:
    first, second, third = (make_candidate(f"mem_{number}") for number in range(3))
    merged = merge_logits([first, second, third], ["mem_1", "mem_0", "mem_1", "mem_1"], [-3.0, 1.0, 2.0, None])
    assert not isinstance(merged, ScoreFault)
    assert [candidate.evidence.logit for candidate in merged] == [1.0, 2.0, None]


@pytest.mark.parametrize(
    ("logits", "fault"),
    [
        ([1.0], ScoreFault.WRONG_LENGTH),
        ([1.0, 2.0, 3.0], ScoreFault.WRONG_LENGTH),
        ([], ScoreFault.WRONG_LENGTH),
        ([1.0, math.nan], ScoreFault.NOT_FINITE),
        ([math.inf, 1.0], ScoreFault.NOT_FINITE),
    ],
)
def test_scores_that_cannot_be_matched_are_refused_as_a_whole(
    make_candidate: Callable[..., Candidate], logits: list[float | None], fault: ScoreFault
) -> None:
    candidates = [make_candidate("mem_0"), make_candidate("mem_1")]
    assert merge_logits(candidates, ["mem_0", "mem_1"], logits) is fault


def test_what_passes_comes_most_relevant_first_and_the_rest_is_dropped_with_its_relevance(
    make_candidate: Callable[..., Candidate],
) -> None:
    candidates = [
        make_candidate("mem_low", logit=-2.0),
        make_candidate("mem_mid", logit=1.0),
        make_candidate("mem_top", logit=3.0),
        make_candidate("mem_edge", logit=0.0),
    ]
    verdict = judge(candidates, model=MODEL)
    assert [item.memory.id for item in verdict.passed] == ["mem_top", "mem_mid", "mem_edge"]
    assert [(item.memory_id, item.reason, item.relevance) for item in verdict.dropped] == [
        ("mem_low", DropReason.BELOW_THRESHOLD, sigmoid(-2.0))
    ]
    assert verdict.demoted == 0


def test_an_unscored_candidate_fell_to_the_budget(make_candidate: Callable[..., Candidate]) -> None:
    verdict = judge([make_candidate("mem_0", cosine=0.9)], model=MODEL)
    assert verdict.passed == ()
    assert [(item.reason, item.relevance) for item in verdict.dropped] == [(DropReason.BUDGET, None)]


def test_evidence_that_already_decides_needs_no_score(make_candidate: Callable[..., Candidate]) -> None:
    sure, hopeless = make_candidate("mem_sure", ask_cosine=0.99), make_candidate("mem_no", ask_cosine=0.1)
    verdict = judge([hopeless, sure], model=ASK_MODEL)
    assert [item.memory.id for item in verdict.passed] == ["mem_sure"]
    assert verdict.passed[0].relevance == ASK_HEAD.relevance((-12.0, 0.99))
    assert verdict.passed[0].is_unscored
    assert [(item.reason, item.relevance) for item in verdict.dropped] == [
        (DropReason.BELOW_THRESHOLD, ASK_HEAD.relevance((12.0, 0.1)))
    ]


def test_a_memory_is_held_against_the_threshold_of_its_kind(make_candidate: Callable[..., Candidate]) -> None:
    def of_kind(kind: MemoryKind, logit: float | None) -> Candidate:
        made = make_candidate(f"mem_{kind}", logit=logit, ask_cosine=0.5)
        return msgspec.structs.replace(made, memory=msgspec.structs.replace(made.memory, kind=kind))

    own = KindThreshold(kind=MemoryKind.PREFERENCE, threshold=0.2, positives=80)
    model = msgspec.structs.replace(MODEL, kind_thresholds=(own,))
    verdict = judge([of_kind(MemoryKind.FACT, -1.0), of_kind(MemoryKind.PREFERENCE, -1.0)], model=model)
    assert [item.memory.id for item in verdict.passed] == ["mem_preference"]
    strict = msgspec.structs.replace(
        ASK_MODEL, kind_thresholds=(msgspec.structs.replace(own, kind=MemoryKind.FACT, threshold=0.9),)
    )
    # Unscored, one of them fails whatever its score could be.
    dropped = judge([of_kind(MemoryKind.FACT, None), of_kind(MemoryKind.PREFERENCE, None)], model=strict).dropped
    assert [item.reason for item in dropped] == [DropReason.BELOW_THRESHOLD, DropReason.BUDGET]


def test_a_search_demotes_instead_of_dropping(make_candidate: Callable[..., Candidate]) -> None:
    candidates = [
        make_candidate("mem_unscored"),
        make_candidate("mem_low", logit=-3.0),
        make_candidate("mem_lowish", logit=-1.0),
        make_candidate("mem_top", logit=3.0),
    ]
    verdict = judge(candidates, model=MODEL, is_search=True)
    assert [item.memory.id for item in verdict.passed] == ["mem_top", "mem_lowish", "mem_low", "mem_unscored"]
    assert verdict.dropped == ()
    assert verdict.demoted == 3


@given(
    logits=st.lists(st.none() | st.floats(-12, 12), max_size=8),
    thresholds=st.tuples(st.floats(0.01, 0.99), st.floats(0.01, 0.99)),
)
def test_a_higher_threshold_lets_through_a_subset_and_nothing_is_lost(
    make_candidate: Callable[..., Candidate], logits: list[float | None], thresholds: tuple[float, float]
) -> None:
    candidates = [make_candidate(f"mem_{place}", logit=logit) for place, logit in enumerate(logits)]
    passed = []
    for threshold in sorted(thresholds):
        verdict = judge(candidates, model=uncalibrated(threshold))
        ids = {item.memory.id for item in verdict.passed}
        assert ids | {item.memory_id for item in verdict.dropped} == {item.memory.id for item in candidates}
        passed.append(ids)
    assert passed[1] <= passed[0]


def test_a_gate_that_could_not_judge_the_best_and_passed_nothing_has_not_judged(
    make_candidate: Callable[..., Candidate],
) -> None:
    unscored, low, high = make_candidate("a"), make_candidate("b", logit=-3.0), make_candidate("c", logit=3.0)

    def has_not(*found: Candidate) -> bool:
        return is_best_unjudged(judge(found, model=MODEL), found)

    assert has_not(unscored, low)
    assert not has_not(unscored, high)
    assert not has_not(low, unscored)
    assert not has_not()


@given(
    cosines=st.lists(st.none() | st.floats(-1.0, 1.0), min_size=1, max_size=6),
    logits=st.lists(st.none() | st.floats(-14.0, 14.0), min_size=6, max_size=6),
    is_search=st.booleans(),
)
def test_bounds_that_were_worked_out_before_change_no_verdict(
    make_candidate: Callable[..., Candidate],
    cosines: list[float | None],
    logits: list[float | None],
    *,
    is_search: bool,
) -> None:
    unscored = [make_candidate(f"mem_{place}", ask_cosine=cosine) for place, cosine in enumerate(cosines)]
    reaches = {each.memory.id: bounds(each.evidence, ASK_MODEL) for each in unscored}
    scored = merge_logits(unscored, [each.memory.id for each in unscored], logits[: len(unscored)])
    assert not isinstance(scored, ScoreFault)
    known = judge(scored, model=ASK_MODEL, is_search=is_search, reaches=reaches)
    assert known == judge(scored, model=ASK_MODEL, is_search=is_search)
