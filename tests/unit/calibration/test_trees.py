from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recalld.models.calibration.boosting import Booster, BoostingOptions
from recalld.models.calibration.fit import FitOptions, HeadKind, fit_model
from recalld.models.calibration.labelled import LabelledTurn, retention, silence
from recalld.models.calibration.threshold import threshold_keeping
from recalld.models.calibration.trees import fit_tree_head
from recalld.models.policy.head_inputs import HeadInput
from recalld.models.policy.logistic_head import LogisticHead
from recalld.models.policy.tree_head import TREES_MAX, TreeHead

INPUTS = (HeadInput.LOGIT, HeadInput.COSINE, HeadInput.QUERY_LENGTH)
START = (HeadInput.LOGIT,)
TREES = FitOptions(head=HeadKind.TREES)
QUICK = BoostingOptions(learning_rate=0.5, l2=1.0, leaf_rows_min=5)


def rows(count: int, seed: int, *, is_bent: bool) -> tuple[np.ndarray, np.ndarray, np.ndarray, list[str]]:
    """Relevance rises with the logit; if bent, only where the cosine is high as well, which no weighted sum says."""
    rng = np.random.default_rng(seed)
    features = rng.uniform(-1, 1, (count, 3))
    signal = 4.0 * features[:, 0] * (features[:, 1] > 0) if is_bent else 2.0 * features[:, 0]
    labels = (rng.uniform(size=count) < 1 / (1 + np.exp(-3.0 * (signal - 0.5)))).astype(float)
    return features, labels, np.ones(count), [f"c{place % 4}" for place in range(count)]


def test_trees_are_grown_where_a_weighted_sum_does_not_tell_rows_apart() -> None:
    head = fit_tree_head(INPUTS, START, *rows(600, 1, is_bent=True), QUICK)
    assert isinstance(head, TreeHead)
    assert 0 < len(head.trees) <= TREES_MAX
    assert head.relevance((0.9, 0.9, 0.0)) > 0.8
    assert head.relevance((0.9, -0.9, 0.0)) < 0.5


def test_no_tree_is_grown_where_none_helps_on_groups_left_out() -> None:
    rng = np.random.default_rng(5)
    noise = rng.uniform(-1, 1, (200, 3))
    labels = (rng.uniform(size=200) < 0.5).astype(float)
    groups = [f"c{place % 4}" for place in range(200)]
    assert isinstance(fit_tree_head(INPUTS, START, noise, labels, np.ones(200), groups, QUICK), LogisticHead)


def test_a_single_group_gets_no_tree() -> None:
    features, labels, weights, groups = rows(200, 1, is_bent=True)
    head = fit_tree_head(INPUTS, START, features, labels, weights, ["one"] * len(groups), QUICK)
    assert isinstance(head, LogisticHead)


def test_the_same_rows_give_the_same_head() -> None:
    first, second = (fit_tree_head(INPUTS, START, *rows(400, 3, is_bent=True), QUICK) for _ in range(2))
    assert first == second


@settings(max_examples=25)
@given(st.integers(0, 10_000))
def test_no_grown_tree_falls_along_a_monotone_input_whatever_the_rows_say(seed: int) -> None:
    features, labels, weights, _ = rows(120, seed, is_bent=True)
    against = 1.0 - labels  # all that speaks for relevance speaks against it here
    options = BoostingOptions(depth_max=3, learning_rate=0.5, l2=0.5, leaf_rows_min=3)
    booster = Booster(features, against, weights, np.zeros(120), (True, True, False), options)
    grown = [booster.grow() for _ in range(8)]
    assert not any(tree.falls_along(place) for tree in grown for place in (0, 1))


def test_trees_bring_the_loss_of_their_own_rows_down() -> None:
    features, labels, weights, _ = rows(400, 2, is_bent=True)
    booster = Booster(features, labels, weights, np.zeros(400), (True, True, False), QUICK)
    odds, losses = np.zeros(400), []
    for _ in range(10):
        tree = booster.grow()
        odds += np.asarray([tree.value_of(tuple(map(float, row))) for row in features])
        losses.append(float(np.mean(np.logaddexp(0.0, odds) - labels * odds)))
    assert losses == sorted(losses, reverse=True)
    assert losses[-1] < losses[0] - 0.1


@pytest.mark.parametrize(
    ("change", "message"),
    [({"features": np.zeros((4, 2))}, "shape"), ({"features": np.full((4, 3), np.nan)}, "finite")],
)
def test_rows_that_cannot_be_fitted_are_refused(change: dict[str, np.ndarray], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        fit_tree_head(INPUTS, START, change["features"], np.asarray([0.0, 1, 0, 1]), np.ones(4), list("abab"))


def test_a_model_of_trees_separates_and_ends_with_the_logit_alone(one_source: list[LabelledTurn]) -> None:
    model = fit_model(one_source, TREES)
    assert model.heads[-1].inputs == (HeadInput.LOGIT,)
    assert HeadInput.LOGIT_AS_GIVEN in model.heads[0].inputs or isinstance(model.heads[0], LogisticHead)
    assert retention(one_source, model).value >= 0.95
    assert silence(one_source, model).value > 0.6
    assert fit_model(one_source, TREES) == model


def test_a_threshold_from_held_out_scores_is_the_more_careful_one(one_source: list[LabelledTurn]) -> None:
    own = fit_model(one_source, FitOptions())
    held_out = fit_model(one_source, FitOptions(has_held_out_threshold=True))
    assert held_out.heads == own.heads
    assert held_out.threshold < own.threshold


def test_a_single_conversation_has_no_held_out_scores_and_keeps_its_own_threshold(
    one_source: list[LabelledTurn],
) -> None:
    alone = [turn for turn in one_source if turn.conversation in {"c0", "c1", "c2"}]
    joined = [
        type(turn)(**{**{name: getattr(turn, name) for name in turn.__struct_fields__}, "conversation": "c"})
        for turn in alone
    ]
    assert fit_model(joined, FitOptions(has_held_out_threshold=True)) == fit_model(joined, FitOptions())


def test_bystanders_count_less_when_asked_to(three_sources: list[LabelledTurn]) -> None:
    full = fit_model(three_sources, FitOptions())
    less = fit_model(three_sources, FitOptions(bystander_weight=0.05))
    assert less.heads != full.heads
    for weight in (0.0, 1.1):
        with pytest.raises(ValueError, match="bystander_weight must be in"):
            FitOptions(bystander_weight=weight)


def test_the_threshold_that_keeps_a_share_is_the_score_at_that_share() -> None:
    assert threshold_keeping({"a": [0.1, 0.2, 0.3, 0.4]}, target_retention=0.75) == 0.2
    with pytest.raises(ValueError, match="nothing to choose"):
        threshold_keeping({}, target_retention=0.75)
