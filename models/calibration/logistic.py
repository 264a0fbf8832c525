"""A small deterministic logistic regression whose weights are not negative where a head may not fall."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from recalld.models.policy.head_inputs import SHAPE_INPUTS, HeadInput
from recalld.models.policy.logistic_head import LogisticHead

L2 = 1e-3
"""Penalty on each standardised weight, per row: enough to keep separable data finite, too little to move a fit on
hundreds."""
STEPS_MAX = 100
TOLERANCE = 1e-9
_ARMIJO = 1e-4
_HALVINGS_MAX = 40

Matrix = NDArray[np.float64]
_Loss = Callable[[Matrix], float]


def fit_head(
    inputs: tuple[HeadInput, ...], features: Matrix, labels: Matrix, weights: Matrix, *, l2: float = L2
) -> LogisticHead:
    """Fit a head by projected Newton steps (D. P. Bertsekas, 1982): exact zeros for inputs that do not help.

    The problem is convex, so the result depends on nothing but the data.

    Args:
        inputs: What each column is.
        features: Shape (rows, inputs), raw.
        labels: Shape (rows,), 0 or 1, both present.
        weights: Shape (rows,), how much each row counts, positive.
        l2: Penalty on each standardised weight, per row, from 0.

    Raises:
        ValueError: Shapes differ, a value is not finite, or only one label occurs.
    """
    rows, columns = features.shape
    if columns != len(inputs) or labels.shape != (rows,) or weights.shape != (rows,):
        message = f"shapes must agree: {features.shape}, {labels.shape}, {weights.shape} for {len(inputs)} inputs"
        raise ValueError(message)
    if not (np.isfinite(features).all() and set(np.unique(labels)) == {0.0, 1.0}):
        message = "features must be finite and labels must hold both 0 and 1"
        raise ValueError(message)
    means = features.mean(axis=0)
    scales = features.std(axis=0)
    scales[scales < 1e-12] = 1.0  # a constant column says nothing; its weight ends at zero
    design = np.column_stack(((features - means) / scales, np.ones(rows)))
    # Free are the intercept and what speaks for nothing by itself.
    lower = np.asarray([*(-np.inf if name in SHAPE_INPUTS else 0.0 for name in inputs), -np.inf])
    solution = _minimise(design, labels, weights / weights.sum(), lower, l2)
    return LogisticHead(
        inputs=inputs,
        weights=tuple(map(float, solution[:-1])),
        means=tuple(map(float, means)),
        scales=tuple(map(float, scales)),
        intercept=float(solution[-1]),
    )


def _minimise(design: Matrix, labels: Matrix, weights: Matrix, lower: Matrix, l2: float) -> Matrix:
    """Minimise the penalised loss over weights of at least `lower`; the last one is the intercept, without penalty."""
    size = design.shape[1]
    penalty = np.full(size, l2)
    penalty[-1] = 0.0
    point = np.zeros(size)
    for _ in range(STEPS_MAX):
        probability = _sigmoid(design @ point)
        gradient = design.T @ (weights * (probability - labels)) + penalty * point
        free = (point > lower) | (gradient < 0)
        if float(np.abs(gradient[free]).max(initial=0.0)) < TOLERANCE:
            break
        curvature = weights * probability * (1.0 - probability)
        hessian = (design.T * curvature) @ design + np.diag(penalty + 1e-12)
        step = np.zeros(size)
        step[free] = np.linalg.solve(hessian[np.ix_(free, free)], gradient[free])
        point = _search(point, step, gradient, lower, lambda trial: _loss(trial, design, labels, weights, penalty))
    return point


def _search(point: Matrix, step: Matrix, gradient: Matrix, lower: Matrix, loss: _Loss) -> Matrix:
    """Halve the projected step until the loss falls enough (Armijo's rule)."""
    start = loss(point)
    size = 1.0
    for _ in range(_HALVINGS_MAX):
        trial = np.maximum(point - size * step, lower)
        if loss(trial) <= start + _ARMIJO * float(gradient @ (trial - point)):
            return trial
        size /= 2.0
    return point


def _loss(point: Matrix, design: Matrix, labels: Matrix, weights: Matrix, penalty: Matrix) -> float:
    margin = design @ point
    return float(weights @ (np.logaddexp(0.0, margin) - labels * margin) + 0.5 * (penalty * point) @ point)


def _sigmoid(margin: Matrix) -> Matrix:
    return np.exp(-np.logaddexp(0.0, -margin))
