from __future__ import annotations

import math

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recalld.models.domain.recall import Evidence, TextShape, ViewLogits
from recalld.models.policy.head_inputs import LOGIT_MAX, LOGIT_MIN, HeadInput, head_inputs
from recalld.models.policy.logistic_head import LogisticHead
from recalld.models.policy.relevance import LOGIT_HEAD, RelevanceModel, bounds, relevance
from recalld.models.policy.sigmoid import sigmoid
from recalld.models.policy.tree_head import LEAF, TREES_MAX, RegressionTree, TreeHead

INPUTS = (
    HeadInput.LOGIT,
    HeadInput.COSINE,
    HeadInput.QUERY_LENGTH,
    HeadInput.LOGIT_AS_GIVEN,
    HeadInput.LOGIT_REWRITTEN,
)
START = LogisticHead(inputs=(HeadInput.LOGIT,), weights=(0.5,), means=(-4.0,), scales=(3.0,), intercept=-2.0)
BY_COSINE = RegressionTree(
    feature=(1, LEAF, 0, LEAF, LEAF),
    threshold=(0.5, 0.0, -3.0, 0.0, 0.0),
    left=(1, LEAF, 3, LEAF, LEAF),
    right=(2, LEAF, 4, LEAF, LEAF),
    value=(0.0, -0.4, 0.0, 0.1, 0.9),
)
"""At a cosine of at most 0.5 -0.4; above it 0.1 up to a logit of -3, and 0.9 beyond."""
BY_LENGTH = RegressionTree(
    feature=(2, LEAF, LEAF),
    threshold=(1.5, 0.0, 0.0),
    left=(1, LEAF, LEAF),
    right=(2, LEAF, LEAF),
    value=(0, 0.3, -0.3),
)
FALLING = msgspec.structs.replace(BY_LENGTH, feature=(1, LEAF, LEAF))
HEAD = TreeHead(inputs=INPUTS, start=START, trees=(BY_COSINE, BY_LENGTH))
REMEDY = "fit the head again"

cosines = st.floats(-1, 1)
logits = st.floats(-20, 20)
shapes = st.builds(TextShape, words=st.integers(0, 200), is_question=st.booleans())


@st.composite
def trees(draw: st.DrawFn) -> RegressionTree:
    """Any tree of two levels that falls along nothing but the query's length."""
    features = [draw(st.integers(0, len(INPUTS) - 1)) for _ in range(3)]
    cuts = [draw(st.floats(-8, 8, width=16)) for _ in range(3)]
    values = sorted(draw(st.lists(st.floats(-2, 2, width=16), min_size=4, max_size=4)))
    return RegressionTree(
        feature=(features[0], features[1], features[2], LEAF, LEAF, LEAF, LEAF),
        threshold=(*cuts, 0, 0, 0, 0),
        left=(1, 3, 5, LEAF, LEAF, LEAF, LEAF),
        right=(2, 4, 6, LEAF, LEAF, LEAF, LEAF),
        value=(0, 0, 0, *values),
    )


heads = st.lists(trees(), min_size=1, max_size=5).map(
    lambda grown: TreeHead(inputs=INPUTS, start=START, trees=(*grown, BY_LENGTH))
)
models = heads.map(lambda head: RelevanceModel(heads=(head, LOGIT_HEAD), threshold=0.3))
unscored = st.builds(Evidence, cosine=cosines, shape=shapes)


def test_a_head_adds_its_trees_to_what_it_starts_from() -> None:
    values = (-2.0, 0.7, 1.0, -2.0, -2.0)
    assert HEAD.relevance(values) == pytest.approx(sigmoid(-2.0 + 0.5 * (-2.0 + 4.0) / 3.0 + 0.9 + 0.3))
    assert HEAD.relevance((-2.0, 0.5, 2.0, -2.0, -2.0)) == pytest.approx(
        sigmoid(-2.0 + 0.5 * (-2.0 + 4.0) / 3.0 - 0.4 - 0.3)
    )


def test_a_shifted_head_moves_every_relevance_by_so_much() -> None:
    values = (-2.0, 0.7, 1.0, -2.0, -2.0)
    assert HEAD.shifted(1.5).log_odds(values) == pytest.approx(HEAD.log_odds(values) + 1.5)
    assert START.shifted(1.5).log_odds((0.0,)) == pytest.approx(START.log_odds((0.0,)) + 1.5)


@given(models, unscored, st.lists(logits, min_size=3, max_size=3))
def test_bounds_hold_for_every_logit_of_every_view(
    model: RelevanceModel, evidence: Evidence, views: list[float]
) -> None:
    reach = bounds(evidence, model)
    scored = msgspec.structs.replace(
        evidence, logit=max(views), views=ViewLogits(as_given=views[0], rewritten=max(views[1:]))
    )
    value = relevance(scored, model)
    assert value is not None
    assert reach.lowest <= value <= reach.highest


@given(models, unscored)
def test_bounds_are_reached_where_every_view_is_at_its_end(model: RelevanceModel, evidence: Evidence) -> None:
    def at(logit: float) -> float | None:
        views = ViewLogits(as_given=logit, rewritten=logit)
        return relevance(msgspec.structs.replace(evidence, logit=logit, views=views), model)

    reach = bounds(evidence, model)
    assert (reach.lowest, reach.highest) == (at(LOGIT_MIN), at(LOGIT_MAX))


@given(models, unscored, st.tuples(logits, cosines), st.tuples(logits, cosines))
def test_relevance_never_falls_when_logit_and_cosine_rise(
    model: RelevanceModel, evidence: Evidence, one: tuple[float, float], other: tuple[float, float]
) -> None:
    low = msgspec.structs.replace(evidence, logit=min(one[0], other[0]), cosine=min(one[1], other[1]))
    high = msgspec.structs.replace(evidence, logit=max(one[0], other[0]), cosine=max(one[1], other[1]))
    assert (relevance(low, model) or 0.0) <= (relevance(high, model) or 0.0)


@given(heads)
def test_a_head_survives_being_written_and_read(head: TreeHead) -> None:
    assert msgspec.json.decode(msgspec.json.encode(head), type=TreeHead) == head


def test_the_best_logit_stands_in_for_a_view_that_was_not_scored() -> None:
    asked = (HeadInput.LOGIT_AS_GIVEN, HeadInput.LOGIT_REWRITTEN)
    assert head_inputs(Evidence(logit=2.0), asked) == (2.0, 2.0)
    assert head_inputs(Evidence(logit=2.0, views=ViewLogits(rewritten=2.0)), asked) == (2.0, 2.0)
    assert head_inputs(Evidence(logit=2.0, views=ViewLogits(as_given=-1.0, rewritten=2.0)), asked) == (-1.0, 2.0)
    assert head_inputs(Evidence(), asked) is None


def test_a_candidate_without_the_inputs_of_the_trees_goes_to_the_next_head() -> None:
    model = RelevanceModel(heads=(HEAD, LOGIT_HEAD), threshold=0.3)
    assert relevance(Evidence(logit=1.0), model) == sigmoid(1.0)


def test_a_tree_may_fall_along_the_shape_of_the_query_and_along_nothing_else() -> None:
    assert FALLING.falls_along(1)
    assert not BY_COSINE.falls_along(1)
    with pytest.raises(ValueError, match=f"must not fall along.*{REMEDY}"):
        TreeHead(inputs=INPUTS, start=START, trees=(BY_COSINE, FALLING))


def test_a_fall_far_below_a_split_is_found() -> None:
    values = (0.0, 0.0, 0.0, -1.0, 0.5, 0.4, 1.0)  # 0.5 left of the root's cosine split, 0.4 right of it
    tree = RegressionTree(
        feature=(1, 2, 2, LEAF, LEAF, LEAF, LEAF),
        threshold=(0.5, 1.0, 1.0, 0, 0, 0, 0),
        left=(1, 3, 5, LEAF, LEAF, LEAF, LEAF),
        right=(2, 4, 6, LEAF, LEAF, LEAF, LEAF),
        value=values,
    )
    with pytest.raises(ValueError, match="must not fall along"):
        TreeHead(inputs=INPUTS, start=START, trees=(tree,))


@pytest.mark.parametrize(
    "change",
    [
        {"feature": ()},
        {"threshold": (0.5,)},
        {"value": (0.0, -0.4, 0.0, 0.1, math.nan)},
        {"threshold": (math.inf, 0.0, -3.0, 0.0, 0.0)},
        {"left": (0, LEAF, 3, LEAF, LEAF)},  # its own child
        {"left": (1, LEAF, 1, LEAF, LEAF)},  # a node with two parents
        {"right": (2, LEAF, 9, LEAF, LEAF)},  # behind the end
        {"right": (2, LEAF, LEAF, LEAF, LEAF)},  # one child only
        {"left": (1, 3, 3, LEAF, LEAF)},  # a leaf with a child
        {"feature": (-2, LEAF, 0, LEAF, LEAF)},
        {"feature": (LEAF, LEAF, 0, LEAF, LEAF)},
        {"feature": (1, LEAF, LEAF, LEAF, LEAF), "left": (1, LEAF, LEAF, LEAF, LEAF), "right": (2, *(LEAF,) * 4)},
    ],
)
def test_arrays_that_are_no_tree_are_refused_with_the_remedy(change: dict[str, tuple[float, ...]]) -> None:
    with pytest.raises(ValueError, match=f"tree.*{REMEDY}"):
        msgspec.structs.replace(BY_COSINE, **change)


def test_a_tree_that_is_too_deep_is_refused() -> None:
    chain = {"feature": (0, LEAF) * 4 + (LEAF,), "left": (1, LEAF, 3, LEAF, 5, LEAF, 7, LEAF, LEAF)}
    with pytest.raises(ValueError, match="deeper than 3"):
        RegressionTree(
            feature=chain["feature"],
            threshold=(0.0,) * 9,
            left=chain["left"],
            right=(2, LEAF, 4, LEAF, 6, LEAF, 8, LEAF, LEAF),
            value=(0.0,) * 9,
        )


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"inputs": (*INPUTS, HeadInput.LOGIT)}, "head.inputs"),
        ({"inputs": INPUTS[1:]}, "head.start.inputs"),
        ({"trees": ()}, "head.trees must hold"),
        ({"trees": (BY_LENGTH,) * (TREES_MAX + 1)}, "head.trees must hold"),
        ({"inputs": INPUTS[:2]}, "inputs below 2"),
    ],
)
def test_a_head_that_cannot_be_is_refused(change: dict[str, tuple[HeadInput, ...]], message: str) -> None:
    with pytest.raises(ValueError, match=f"{message}.*{REMEDY}"):
        msgspec.structs.replace(HEAD, **change)
