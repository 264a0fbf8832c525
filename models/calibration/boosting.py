"""Small gradient-boosted trees that never fall along a monotone input, for fits on a few hundred turns.

Newton boosting of the logistic loss (J. Friedman, 2001; T. Chen and C. Guestrin, 2016, equations 5 to 7) over inputs
cut into bins. A split on a monotone input is only allowed where the left value is not above the right one, and the
midpoint between them bounds everything below, as LightGBM's basic method does; so every tree is monotone by itself.
There is no chance in it: the same rows give the same trees.
"""

from __future__ import annotations

import msgspec
import numpy as np
from numpy.typing import NDArray

from recalld.models.policy.tree_head import LEAF, RegressionTree

BINS_MAX = 32
_BINS = BINS_MAX + 1
_HESSIAN_MIN = 1e-6
_GAIN_MIN = 1e-9

Matrix = NDArray[np.float64]
Bins = NDArray[np.intp]


class BoostingOptions(msgspec.Struct, frozen=True, kw_only=True):
    """How to grow trees.

    Attributes:
        depth_max: Splits on the way to a leaf, at most.
        learning_rate: What each tree's values are multiplied by.
        l2: Penalty on a leaf's value, in rows.
        leaf_rows_min: Rows on each side of a split, at least.
    """

    depth_max: int = 2
    learning_rate: float = 0.1
    l2: float = 5.0
    leaf_rows_min: int = 40


class _Split(msgspec.Struct, frozen=True, kw_only=True):
    column: int
    last_left: int
    """The last bin that goes left."""
    left_value: float
    right_value: float


class _Node(msgspec.Struct, frozen=True, kw_only=True):
    """Rows, and the range in which the values below must lie."""

    place: int
    depth: int
    rows: Bins
    lowest: float
    highest: float
    value: float


class Booster:
    """Grows trees on one set of rows, one at a time.

    Args:
        features: Shape (rows, inputs), finite.
        labels: Shape (rows,), 0 or 1.
        weights: Shape (rows,), how much each row counts, positive; their mean is made 1.
        start: Shape (rows,), log-odds before the first tree.
        is_monotone: For each input, whether no tree may fall along it.
        options: How to grow trees.
    """

    def __init__(
        self,
        features: Matrix,
        labels: Matrix,
        weights: Matrix,
        start: Matrix,
        is_monotone: tuple[bool, ...],
        options: BoostingOptions,
    ) -> None:
        self._labels = labels
        self._weights = weights / weights.mean()
        self._is_monotone = np.asarray(is_monotone)
        self._options = options
        self._cuts = [_cuts(column) for column in features.T]
        self._bins = np.column_stack(
            [np.searchsorted(cuts, column, side="left") for cuts, column in zip(self._cuts, features.T, strict=True)]
        )
        self._flat_bins = self._bins + np.arange(len(self._cuts)) * _BINS
        self._odds = start.copy()

    def grow(self) -> RegressionTree:
        """One more tree, fitted to what the trees so far leave over."""
        probability = np.exp(-np.logaddexp(0.0, -self._odds))
        gradient = self._weights * (probability - self._labels)
        hessian = np.maximum(self._weights * probability * (1.0 - probability), _HESSIAN_MIN)
        nodes = _Growing()
        root = _Node(
            place=nodes.add(), depth=0, rows=np.arange(len(self._labels)), lowest=-np.inf, highest=np.inf, value=0.0
        )
        open_nodes = [root]
        while open_nodes:
            node = open_nodes.pop(0)
            split = self._best_split(node, gradient, hessian) if node.depth < self._options.depth_max else None
            if split is None:
                value = self._options.learning_rate * node.value
                nodes.close(node.place, value)
                self._odds[node.rows] += value
            else:
                open_nodes += self._children(node, split, nodes)
        return nodes.tree()

    def _children(self, node: _Node, split: _Split, nodes: _Growing) -> tuple[_Node, _Node]:
        goes_left = self._bins[node.rows, split.column] <= split.last_left
        left, right = nodes.divide(node.place, split.column, float(self._cuts[split.column][split.last_left]))
        middle = (split.left_value + split.right_value) / 2.0
        is_bounded = bool(self._is_monotone[split.column])
        return (
            _Node(
                place=left,
                depth=node.depth + 1,
                rows=node.rows[goes_left],
                lowest=node.lowest,
                highest=middle if is_bounded else node.highest,
                value=split.left_value,
            ),
            _Node(
                place=right,
                depth=node.depth + 1,
                rows=node.rows[~goes_left],
                lowest=middle if is_bounded else node.lowest,
                highest=node.highest,
                value=split.right_value,
            ),
        )

    def _best_split(self, node: _Node, gradient: Matrix, hessian: Matrix) -> _Split | None:
        """The split of a node that lowers the loss most, over all inputs and cuts at once; None if none does."""
        gradients, hessians, rows = (
            self._below(node, amounts) for amounts in (gradient, hessian, np.ones(len(self._labels)))
        )
        left, right = gradients[:, :-1], gradients[:, -1:] - gradients[:, :-1]
        left_weight = hessians[:, :-1] + self._options.l2
        right_weight = hessians[:, -1:] - hessians[:, :-1] + self._options.l2
        left_values = np.clip(-left / left_weight, node.lowest, node.highest)
        right_values = np.clip(-right / right_weight, node.lowest, node.highest)
        whole_weight = hessians[:, -1:] + self._options.l2
        whole = np.clip(-gradients[:, -1:] / whole_weight, node.lowest, node.highest)
        gains = (
            _loss_drop(left, left_weight, left_values)
            + _loss_drop(right, right_weight, right_values)
            - _loss_drop(gradients[:, -1:], whole_weight, whole)
        )
        is_large_enough = np.minimum(rows[:, :-1], rows[:, -1:] - rows[:, :-1]) >= self._options.leaf_rows_min
        is_allowed = is_large_enough & ((left_values <= right_values) | ~self._is_monotone[:, np.newaxis])
        gains = np.where(is_allowed, gains, -np.inf)
        column, last_left = divmod(int(np.argmax(gains)), gains.shape[1])
        if not gains[column, last_left] > _GAIN_MIN:
            return None
        return _Split(
            column=column,
            last_left=last_left,
            left_value=float(left_values[column, last_left]),
            right_value=float(right_values[column, last_left]),
        )

    def _below(self, node: _Node, amounts: Matrix) -> Matrix:
        """For each input and bin the sum over the node's rows up to that bin; shape (inputs, bins)."""
        inputs = len(self._cuts)
        flat = self._flat_bins[node.rows].ravel()
        sums = np.bincount(flat, np.repeat(amounts[node.rows], inputs), inputs * _BINS)
        return np.cumsum(sums.reshape(inputs, _BINS), axis=1)


class _Growing:
    """The arrays of a tree that is not finished."""

    def __init__(self) -> None:
        self._feature: list[int] = []
        self._threshold: list[float] = []
        self._left: list[int] = []
        self._right: list[int] = []
        self._value: list[float] = []

    def add(self) -> int:
        self._feature.append(LEAF)
        self._threshold.append(0.0)
        self._left.append(LEAF)
        self._right.append(LEAF)
        self._value.append(0.0)
        return len(self._feature) - 1

    def divide(self, place: int, feature: int, threshold: float) -> tuple[int, int]:
        left, right = self.add(), self.add()
        self._feature[place], self._threshold[place] = feature, threshold
        self._left[place], self._right[place] = left, right
        return left, right

    def close(self, place: int, value: float) -> None:
        self._value[place] = value

    def tree(self) -> RegressionTree:
        return RegressionTree(
            feature=tuple(self._feature),
            threshold=tuple(self._threshold),
            left=tuple(self._left),
            right=tuple(self._right),
            value=tuple(self._value),
        )


def _cuts(column: Matrix) -> Matrix:
    """Where a column may be split: between neighbouring values, at quantiles if there are many."""
    distinct = np.unique(column)
    if len(distinct) > BINS_MAX:
        distinct = np.unique(np.quantile(column, np.linspace(0.0, 1.0, BINS_MAX + 1), method="lower"))
    return (distinct[:-1] + distinct[1:]) / 2.0


def _loss_drop(gradient: Matrix, weight: Matrix, value: Matrix) -> Matrix:
    """How much a leaf's value lowers the loss to second order: -(G v + (H + l2) v² / 2)."""
    return -(gradient * value + 0.5 * weight * value * value)
