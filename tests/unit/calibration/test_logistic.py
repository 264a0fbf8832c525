from __future__ import annotations

import numpy as np
import pytest

from recalld.models.calibration import logistic
from recalld.models.calibration.logistic import L2, Matrix, fit_head
from recalld.models.policy.head_inputs import HeadInput
from recalld.models.policy.sigmoid import sigmoid

INPUTS = (HeadInput.LOGIT, HeadInput.COSINE)


def sample(
    rows: int = 4000, weights: tuple[float, float] = (1.5, 0.8), intercept: float = -0.7
) -> tuple[Matrix, Matrix]:
    rng = np.random.default_rng(3)
    features = rng.normal(size=(rows, 2)) * [3.0, 0.1] + [-4.0, 0.5]
    standard = (features - features.mean(axis=0)) / features.std(axis=0)
    chances = 1 / (1 + np.exp(-(standard @ np.asarray(weights) + intercept)))
    return features, (rng.random(rows) < chances).astype(float)


def test_known_weights_are_found_again() -> None:
    features, labels = sample()
    head = fit_head(INPUTS, features, labels, np.ones(len(labels)))
    assert head.weights == (pytest.approx(1.5, abs=0.15), pytest.approx(0.8, abs=0.15))
    assert head.intercept == pytest.approx(-0.7, abs=0.15)


def test_the_result_is_a_stationary_point_of_the_penalised_loss() -> None:
    features, labels = sample(rows=500)
    head = fit_head(INPUTS, features, labels, np.ones(len(labels)))
    standard = (features - np.asarray(head.means)) / np.asarray(head.scales)
    errors = np.asarray([head.relevance(tuple(row)) for row in features]) - labels
    gradient = standard.T @ errors / len(labels) + L2 * np.asarray(head.weights)
    assert np.abs(gradient).max() < 1e-6
    assert abs(errors.mean()) < 1e-6


def test_an_input_that_points_the_wrong_way_gets_exactly_zero() -> None:
    features, labels = sample(weights=(1.5, -2.0))
    head = fit_head(INPUTS, features, labels, np.ones(len(labels)))
    assert head.weights[1] == 0.0
    assert head.weights[0] > 0.5


def test_the_shape_of_the_texts_may_point_either_way() -> None:
    features, labels = sample(weights=(1.5, -0.8))
    head = fit_head((HeadInput.LOGIT, HeadInput.QUERY_LENGTH), features, labels, np.ones(len(labels)))
    assert head.weights == (pytest.approx(1.5, abs=0.15), pytest.approx(-0.8, abs=0.15))


def test_a_constant_input_gets_exactly_zero() -> None:
    features, labels = sample(rows=200)
    features[:, 1] = 0.5
    assert fit_head(INPUTS, features, labels, np.ones(200)).weights[1] == 0.0


def test_separable_data_stay_finite_and_are_separated() -> None:
    features = np.asarray([[-3.0], [-2.0], [2.0], [3.0]])
    head = fit_head((HeadInput.LOGIT,), features, np.asarray([0.0, 0.0, 1.0, 1.0]), np.ones(4))
    assert head.relevance((-2.0,)) < 0.1
    assert head.relevance((2.0,)) > 0.9


def test_a_row_of_weight_two_counts_as_two_rows() -> None:
    features, labels = sample(rows=60)
    doubled = fit_head(INPUTS, features, labels, np.ones(60) * 2)
    assert doubled == fit_head(INPUTS, features, labels, np.ones(60))
    heavy = np.ones(60)
    heavy[labels == 1.0] = 3.0
    assert fit_head(INPUTS, features, labels, heavy).intercept > doubled.intercept


def test_the_same_data_give_the_same_head() -> None:
    features, labels = sample(rows=300)
    assert fit_head(INPUTS, features, labels, np.ones(300)) == fit_head(INPUTS, features, labels, np.ones(300))


def test_bad_data_are_errors() -> None:
    features, labels = sample(rows=10)
    with pytest.raises(ValueError, match="shapes"):
        fit_head((HeadInput.LOGIT,), features, labels, np.ones(10))
    with pytest.raises(ValueError, match="shapes"):
        fit_head(INPUTS, features, labels[:5], np.ones(10))
    with pytest.raises(ValueError, match="both 0 and 1"):
        fit_head(INPUTS, features, np.ones(10), np.ones(10))
    features[0, 0] = np.nan
    with pytest.raises(ValueError, match="finite"):
        fit_head(INPUTS, features, labels, np.ones(10))


def test_the_sigmoid_of_the_fit_is_the_sigmoid_of_the_gate() -> None:
    features, labels = sample(rows=50)
    head = fit_head(INPUTS, features, labels, np.ones(50))
    standard = (features[0] - np.asarray(head.means)) / np.asarray(head.scales)
    assert head.relevance(tuple(features[0])) == pytest.approx(
        sigmoid(head.intercept + float(standard @ np.asarray(head.weights)))
    )


def test_a_step_that_is_too_long_is_halved_until_the_loss_falls() -> None:
    point, lower = np.asarray([1.0]), np.asarray([-np.inf])
    found = logistic._search(point, np.asarray([4.0]), np.asarray([2.0]), lower, lambda trial: float(trial[0] ** 2))
    assert abs(found[0]) < 1.0


def test_where_no_step_helps_the_point_stays() -> None:
    point, lower = np.asarray([0.0]), np.asarray([-np.inf])
    found = logistic._search(point, np.asarray([1.0]), np.asarray([1.0]), lower, lambda trial: float(trial[0] ** 2))
    assert found is point


def test_a_fit_that_is_cut_short_still_gives_a_usable_head(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(logistic, "STEPS_MAX", 1)
    features, labels = sample(rows=200)
    assert fit_head(INPUTS, features, labels, np.ones(200)).weights[0] > 0
