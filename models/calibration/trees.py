"""Fitting a head of trees: a logistic head first, then as many trees as help on groups left out of the fit."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from recalld.models.calibration.boosting import Booster, BoostingOptions, Matrix
from recalld.models.calibration.logistic import fit_head
from recalld.models.policy.head_inputs import SHAPE_INPUTS, HeadInput
from recalld.models.policy.logistic_head import LogisticHead
from recalld.models.policy.relevance import RelevanceHead
from recalld.models.policy.tree_head import TREES_MAX, TreeHead

FOLDS_MAX = 5
DEFAULT_BOOSTING = BoostingOptions()


def fit_tree_head(
    inputs: tuple[HeadInput, ...],
    start_inputs: tuple[HeadInput, ...],
    features: Matrix,
    labels: Matrix,
    weights: Matrix,
    groups: Sequence[str],
    options: BoostingOptions = DEFAULT_BOOSTING,
) -> RelevanceHead:
    """Fit a logistic head and the number of trees on top of it that does best on groups left out of the fit.

    Where no tree helps there, or there are fewer than two groups to leave out, it is the logistic head alone.
    Deterministic: the same rows give the same head.

    Args:
        inputs: What each column is.
        start_inputs: Those of the logistic head; among `inputs`.
        features: Shape (rows, inputs), raw.
        labels: Shape (rows,), 0 or 1, both present.
        weights: Shape (rows,), how much each row counts, positive.
        groups: For each row the group that may not be split.
        options: How to grow trees.

    Raises:
        ValueError: Shapes differ, a value is not finite, or only one label occurs.
    """
    if features.shape != (len(groups), len(inputs)):
        message = f"features must have shape ({len(groups)}, {len(inputs)}), got {features.shape}"
        raise ValueError(message)
    if not np.isfinite(features).all():
        message = "features must be finite"
        raise ValueError(message)
    fit = _Fit(inputs, start_inputs, options)
    start = fit.start(features, labels, weights)
    count = fit.count(features, labels, weights, groups)
    if not count:
        return start
    booster = fit.booster(start, features, labels, weights)
    return TreeHead(inputs=inputs, start=start, trees=tuple(booster.grow() for _ in range(count)))


class _Fit:
    """What all fits of one head have in common."""

    def __init__(
        self, inputs: tuple[HeadInput, ...], start_inputs: tuple[HeadInput, ...], options: BoostingOptions
    ) -> None:
        self._start_inputs = start_inputs
        self._columns = [inputs.index(name) for name in start_inputs]
        self._is_monotone = tuple(name not in SHAPE_INPUTS for name in inputs)
        self._options = options

    def start(self, features: Matrix, labels: Matrix, weights: Matrix) -> LogisticHead:
        return fit_head(self._start_inputs, features[:, self._columns], labels, weights)

    def booster(self, start: LogisticHead, features: Matrix, labels: Matrix, weights: Matrix) -> Booster:
        return Booster(features, labels, weights, self._odds(start, features), self._is_monotone, self._options)

    def count(self, features: Matrix, labels: Matrix, weights: Matrix, groups: Sequence[str]) -> int:
        """The number of trees, from 0, with the smallest loss on all groups, each left out once."""
        losses = [
            self._losses_without(is_left_out, features, labels, weights)
            for is_left_out in _folds(groups)
            if 0.0 < labels[~is_left_out].sum() < (~is_left_out).sum()
        ]
        return int(np.argmin(np.sum(losses, axis=0))) if losses else 0

    def _losses_without(
        self, is_left_out: NDArray[np.bool_], features: Matrix, labels: Matrix, weights: Matrix
    ) -> Matrix:
        """The loss on the rows left out, after each number of trees from 0; shape (TREES_MAX + 1,)."""
        kept, out = ~is_left_out, is_left_out
        start = self.start(features[kept], labels[kept], weights[kept])
        booster = self.booster(start, features[kept], labels[kept], weights[kept])
        odds = self._odds(start, features[out])
        losses = [_loss(odds, labels[out], weights[out])]
        rows = [tuple(map(float, row)) for row in features[out]]
        for _ in range(TREES_MAX):
            tree = booster.grow()
            odds += np.asarray([tree.value_of(row) for row in rows])
            losses.append(_loss(odds, labels[out], weights[out]))
        return np.asarray(losses)

    def _odds(self, start: LogisticHead, features: Matrix) -> Matrix:
        return np.asarray([start.log_odds(tuple(map(float, row))) for row in features[:, self._columns]])


def _loss(odds: Matrix, labels: Matrix, weights: Matrix) -> float:
    return float(weights @ (np.logaddexp(0.0, odds) - labels * odds))


def _folds(groups: Sequence[str]) -> list[NDArray[np.bool_]]:
    """Which rows each fold leaves out; none with a single group."""
    names = sorted(set(groups))
    if len(names) < 2:
        return []
    fold_of = {name: place % FOLDS_MAX for place, name in enumerate(names)}
    folds = np.asarray([fold_of[name] for name in groups])
    return [folds == fold for fold in range(min(FOLDS_MAX, len(names)))]
