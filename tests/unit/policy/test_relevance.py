from __future__ import annotations

import math

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recalld.models.domain.recall import Evidence, TextShape
from recalld.models.domain.records import MemoryKind
from recalld.models.policy.head_inputs import LOGIT_MAX, LOGIT_MIN, SHAPE_INPUTS, HeadInput, head_inputs
from recalld.models.policy.logistic_head import LogisticHead
from recalld.models.policy.relevance import (
    LOGIT_HEAD,
    KindThreshold,
    RelevanceModel,
    bounds,
    check_threshold,
    relevance,
    uncalibrated,
)
from recalld.models.policy.sigmoid import sigmoid

FULL = LogisticHead(
    inputs=(HeadInput.LOGIT, HeadInput.CUE_COSINE, HeadInput.ASK_COSINE),
    weights=(0.87, 0.44, 1.35),
    means=(-4.0, 0.5, 0.6),
    scales=(5.0, 0.1, 0.1),
    intercept=-2.0,
)
NO_ASKS = LogisticHead(
    inputs=(HeadInput.LOGIT, HeadInput.COSINE), weights=(1.0, 0.5), means=(-4.0, 0.5), scales=(5.0, 0.1), intercept=-1.0
)
SHAPED = LogisticHead(
    inputs=(
        HeadInput.LOGIT,
        HeadInput.LOGIT_ABOVE_ZERO,
        HeadInput.ASK_COSINE,
        HeadInput.ASK_MEAN,
        HeadInput.QUERY_LENGTH,
        HeadInput.IS_QUESTION,
        HeadInput.IS_OPEN_QUESTION,
        HeadInput.IS_PERSONAL,
    ),
    weights=(0.5, 0.4, 0.7, 0.5, 0.8, -0.3, -0.2, 0.4),
    means=(-8.0, 0.1, 0.6, 0.5, 2.5, 0.6, 0.3, 0.5),
    scales=(4.0, 0.8, 0.1, 0.1, 0.6, 0.5, 0.5, 0.5),
    intercept=-3.0,
)
MODEL = RelevanceModel(heads=(FULL, NO_ASKS, LOGIT_HEAD), threshold=0.05, calibration_id="cal")
SHAPED_MODEL = RelevanceModel(heads=(SHAPED, FULL, NO_ASKS, LOGIT_HEAD), threshold=0.05)

cosines = st.floats(-1, 1)
maybe = st.none() | cosines
logits = st.floats(-20, 20)
shapes = st.builds(TextShape, words=st.integers(0, 3_000), is_question=st.booleans())
unscored = st.builds(
    Evidence, cosine=maybe, cue_cosine=maybe, ask_cosine=maybe, ask_mean=maybe, shape=st.none() | shapes
)
models = st.sampled_from([MODEL, SHAPED_MODEL])


def test_uncalibrated_relevance_is_the_sigmoid_once_on_both_sides_of_the_threshold() -> None:  # R15
    model = uncalibrated(0.02)
    relevant, irrelevant = relevance(Evidence(logit=6.0), model), relevance(Evidence(logit=-9.0), model)
    assert relevant == pytest.approx(1 / (1 + math.exp(-6)))
    assert irrelevant is not None
    assert relevant is not None
    assert relevant - irrelevant > 0.9
    assert irrelevant < model.threshold < relevant


def test_the_head_computes_the_hand_computed_value() -> None:
    evidence = Evidence(logit=1.0, cosine=0.9, cue_cosine=0.6, ask_cosine=0.7)
    expected = sigmoid(-2.0 + 0.87 * 1.0 + 0.44 * 1.0 + 1.35 * 1.0)
    assert relevance(evidence, MODEL) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("evidence", "head", "values"),
    [
        (Evidence(logit=1.0, cosine=0.4, cue_cosine=0.6, ask_cosine=0.7), FULL, (1.0, 0.6, 0.7)),
        (Evidence(logit=1.0, cosine=0.4, ask_cosine=0.7), FULL, (1.0, 0.4, 0.7)),  # the record stands in for a cue
        (Evidence(logit=1.0, cosine=0.4, cue_cosine=0.6), NO_ASKS, (1.0, 0.4)),
        (Evidence(logit=1.0, ask_cosine=0.7), LOGIT_HEAD, (1.0,)),
        (Evidence(logit=1.0), LOGIT_HEAD, (1.0,)),
        (Evidence(logit=1.0, cosine=float("nan"), ask_cosine=0.7), LOGIT_HEAD, (1.0,)),
    ],
)
def test_the_best_informed_head_whose_inputs_are_known_judges(
    evidence: Evidence, head: LogisticHead, values: tuple[float, ...]
) -> None:
    assert relevance(evidence, MODEL) == head.relevance(values)


@given(unscored)
def test_without_a_logit_there_is_no_relevance(evidence: Evidence) -> None:
    assert relevance(evidence, MODEL) is None


@given(unscored, logits, models)
def test_bounds_hold_for_every_logit(evidence: Evidence, logit: float, model: RelevanceModel) -> None:
    reach = bounds(evidence, model)
    value = relevance(msgspec.structs.replace(evidence, logit=logit), model)
    assert value is not None
    assert reach.lowest <= value <= reach.highest
    assert 0.0 <= reach.lowest <= reach.highest <= 1.0


@given(unscored, models)
def test_bounds_are_exact_at_both_ends_of_what_a_logit_can_be(evidence: Evidence, model: RelevanceModel) -> None:
    reach = bounds(evidence, model)
    assert reach.lowest == relevance(msgspec.structs.replace(evidence, logit=LOGIT_MIN), model)
    assert reach.highest == relevance(msgspec.structs.replace(evidence, logit=LOGIT_MAX), model)


@given(unscored, logits, logits)
def test_bounds_of_a_scored_candidate_start_at_its_relevance(evidence: Evidence, one: float, other: float) -> None:
    low, high = sorted((one, other))
    reach = bounds(msgspec.structs.replace(evidence, logit=low), MODEL)
    assert reach.lowest == relevance(msgspec.structs.replace(evidence, logit=low), MODEL)
    later = relevance(msgspec.structs.replace(evidence, logit=high), MODEL)
    assert later is not None
    assert reach.lowest <= later <= reach.highest


@pytest.mark.parametrize("field", ["logit", "cosine", "cue_cosine", "ask_cosine", "ask_mean"])
@given(
    evidence=st.builds(
        Evidence, cosine=cosines, cue_cosine=cosines, ask_cosine=cosines, ask_mean=cosines, logit=logits, shape=shapes
    ),
    other=cosines,
    model=models,
)
def test_relevance_never_falls_when_an_input_that_speaks_for_it_rises(
    field: str, evidence: Evidence, other: float, model: RelevanceModel
) -> None:
    low, high = sorted((getattr(evidence, field), other))
    for without in ({}, {"ask_cosine": None}, {"cue_cosine": None}):
        worse = msgspec.structs.replace(evidence, **{field: low} | without)
        better = msgspec.structs.replace(evidence, **{field: high} | without)
        assert (relevance(worse, model) or 0.0) <= (relevance(better, model) or 0.0)


def test_only_the_shape_of_the_texts_may_count_against_a_memory() -> None:
    against = tuple(name for name, weight in zip(SHAPED.inputs, SHAPED.weights, strict=True) if weight < 0)
    assert set(against) == {HeadInput.IS_QUESTION, HeadInput.IS_OPEN_QUESTION}
    for place, name in enumerate(SHAPED.inputs):
        weights = tuple(-0.1 if place == other else abs(weight) for other, weight in enumerate(SHAPED.weights))
        if name in SHAPE_INPUTS:
            assert msgspec.structs.replace(SHAPED, weights=weights).weights[place] < 0
        else:
            with pytest.raises(ValueError, match="negative"):
                msgspec.structs.replace(SHAPED, weights=weights)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        (HeadInput.QUERY_LENGTH, math.log(5)),
        (HeadInput.IS_QUESTION, 1.0),
        (HeadInput.IS_OPEN_QUESTION, 0.0),
        (HeadInput.IS_PERSONAL, 1.0),
        (HeadInput.LOGIT_ABOVE_ZERO, 2.5),
        (HeadInput.ASK_MEAN, 0.6),
    ],
)
def test_each_input_is_what_its_name_says(name: HeadInput, value: float) -> None:
    shape = TextShape(words=4, is_question=True, is_personal=True)
    evidence = Evidence(logit=2.5, ask_cosine=0.8, ask_mean=0.6, shape=shape)
    assert head_inputs(evidence, (name,)) == (pytest.approx(value),)
    assert head_inputs(Evidence(), (name,)) is None


def test_a_logit_below_zero_is_nothing_above_zero() -> None:
    assert head_inputs(Evidence(logit=-7.0), (HeadInput.LOGIT_ABOVE_ZERO,)) == (0.0,)
    assert head_inputs(Evidence(logit=math.nan), (HeadInput.LOGIT_ABOVE_ZERO,)) is None


def test_a_pasted_text_gains_nothing_by_being_longer() -> None:
    def at(words: int) -> float:
        shape = TextShape(words=words, is_question=False)
        return relevance(Evidence(logit=-5.0, ask_cosine=0.6, ask_mean=0.5, shape=shape), SHAPED_MODEL) or 0.0

    assert at(3) < at(10) < at(40)
    assert at(40) == at(4_000)


def test_a_kind_may_have_a_threshold_of_its_own() -> None:
    own = KindThreshold(kind=MemoryKind.PREFERENCE, threshold=0.01, positives=80)
    model = msgspec.structs.replace(MODEL, kind_thresholds=(own,))
    assert model.threshold_of(MemoryKind.PREFERENCE) == 0.01
    assert model.threshold_of(MemoryKind.FACT) == model.threshold_of(None) == 0.05
    with pytest.raises(ValueError, match="each kind once"):
        msgspec.structs.replace(MODEL, kind_thresholds=(own, own))
    with pytest.raises(ValueError, match="threshold"):
        KindThreshold(kind=MemoryKind.FACT, threshold=0.0, positives=80)


def test_bounds_decide_only_when_every_logit_leads_to_the_same_side() -> None:
    hopeless = bounds(Evidence(cosine=-1.0, ask_cosine=-1.0), MODEL)
    certain = bounds(Evidence(cosine=1.0, ask_cosine=1.0), MODEL)
    open_case = bounds(Evidence(cosine=0.5, ask_cosine=0.6), MODEL)
    assert hopeless.highest < MODEL.threshold
    assert hopeless.decides(MODEL.threshold)
    assert certain.lowest >= MODEL.threshold
    assert certain.decides(MODEL.threshold)
    assert not open_case.decides(MODEL.threshold)


def test_logits_outside_the_range_are_clipped() -> None:
    assert relevance(Evidence(logit=99.0), MODEL) == relevance(Evidence(logit=LOGIT_MAX), MODEL)
    assert relevance(Evidence(logit=-math.inf), MODEL) == relevance(Evidence(logit=LOGIT_MIN), MODEL)


def test_a_logit_that_is_no_number_is_an_error_and_never_a_relevance() -> None:
    with pytest.raises(ValueError, match="logit"):
        relevance(Evidence(logit=math.nan, cosine=0.9), MODEL)


@pytest.mark.parametrize("threshold", [0.0, 1.0, -0.02, 2.0, 50.0, math.nan, math.inf])
def test_a_threshold_outside_zero_and_one_is_refused_and_not_clamped(threshold: float) -> None:  # R15
    with pytest.raises(ValueError, match=r"threshold must be inside \(0, 1\)"):
        check_threshold(threshold)
    with pytest.raises(ValueError, match="threshold"):
        uncalibrated(threshold)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"inputs": ()}, "at least one input"),
        ({"inputs": (HeadInput.LOGIT, HeadInput.LOGIT)}, "each once"),
        ({"weights": (1.0,)}, "2 values"),
        ({"means": (0.0,)}, "2 values"),
        ({"scales": (1.0, 1.0, 1.0)}, "2 values"),
        ({"weights": (1.0, -0.1)}, "negative"),
        ({"scales": (1.0, 0.0)}, "positive"),
        ({"means": (math.nan, 0.0)}, "finite"),
        ({"intercept": math.inf}, "finite"),
    ],
)
def test_a_head_that_cannot_be_is_refused(change: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        msgspec.structs.replace(NO_ASKS, **change)


def test_a_model_must_be_able_to_judge_a_candidate_that_has_a_logit_alone() -> None:
    for heads in ((), (FULL,), (LOGIT_HEAD, NO_ASKS)):
        with pytest.raises(ValueError, match="logit alone"):
            RelevanceModel(heads=heads, threshold=0.5)


@given(st.floats(allow_nan=False))
def test_the_sigmoid_never_overflows(logit: float) -> None:
    assert 0.0 <= sigmoid(logit) <= 1.0
    assert sigmoid(-logit) == pytest.approx(1.0 - sigmoid(logit))


def test_head_inputs_are_none_when_one_is_missing() -> None:
    assert head_inputs(Evidence(cosine=0.5), (HeadInput.COSINE, HeadInput.LOGIT)) is None
    assert head_inputs(Evidence(cosine=0.5, logit=1.0), (HeadInput.COSINE, HeadInput.LOGIT)) == (0.5, 1.0)
