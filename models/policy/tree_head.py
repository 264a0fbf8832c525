"""A relevance head with small regression trees: from what is known of a candidate to one number in [0, 1].

Guards: as the logistic head does, where one weighted sum does not tell turns apart: a cosine may mean much for a short
record and little for a long one.
Cost: at most `TREES_MAX` walks of three comparisons. Fails: typed, on load; a damaged tree never judges.
Error rates: in the calibration record the head comes from.

No tree falls along an input that speaks for relevance, so their sum does not either, and what a candidate can still
reach is found at the ends of the logit's range. This is checked of every tree that is read, not trusted.
"""

from __future__ import annotations

import math
from typing import Final

import msgspec

from recalld.models.policy.head_inputs import SHAPE_INPUTS, HeadInput
from recalld.models.policy.logistic_head import LogisticHead
from recalld.models.policy.sigmoid import sigmoid

TREES_MAX: Final = 60
DEPTH_MAX: Final = 3
LEAF: Final = -1
"""Stands for the feature and the children of a node that has none."""
_REMEDY: Final = "fit the head again"


class RegressionTree(msgspec.Struct, frozen=True, kw_only=True):
    """A binary tree as arrays with one place per node, the root first and children behind their parents.

    Attributes:
        feature: Which input a node asks for, by its place in the head's inputs; `LEAF` for a leaf.
        threshold: An input of at most this goes left; 0 for a leaf.
        left: Place of the left child; `LEAF` for a leaf.
        right: Place of the right child; `LEAF` for a leaf.
        value: Log-odds that a leaf adds; 0 for the other nodes.

    Raises:
        ValueError: The arrays are no such tree, it is deeper than `DEPTH_MAX`, or a number is not finite.
    """

    feature: tuple[int, ...]
    threshold: tuple[float, ...]
    left: tuple[int, ...]
    right: tuple[int, ...]
    value: tuple[float, ...]

    def __post_init__(self) -> None:
        count = len(self.feature)
        if not count or any(len(each) != count for each in (self.threshold, self.left, self.right, self.value)):
            message = f"tree.feature, threshold, left, right and value must be equally long and not empty; {_REMEDY}"
            raise ValueError(message)
        if not all(map(math.isfinite, (*self.threshold, *self.value))):
            message = f"tree.threshold and tree.value must be finite; {_REMEDY}"
            raise ValueError(message)
        depths = {0: 0}
        for place, feature in enumerate(self.feature):
            children = (self.left[place], self.right[place])
            if place not in depths or feature < LEAF or (feature == LEAF) != (children == (LEAF, LEAF)):
                message = (
                    f"tree node {place} must be the child of one before it, and a leaf without children; {_REMEDY}"
                )
                raise ValueError(message)
            if feature == LEAF:
                continue
            for child in children:
                if not place < child < count or child in depths:
                    message = f"tree.left and tree.right of node {place} must name later nodes, each once; {_REMEDY}"
                    raise ValueError(message)
                depths[child] = depths[place] + 1
        if max(depths.values()) > DEPTH_MAX:
            message = f"a tree must not be deeper than {DEPTH_MAX} splits; {_REMEDY}"
            raise ValueError(message)

    def value_of(self, inputs: tuple[float, ...]) -> float:
        """The value of the leaf that the inputs lead to."""
        features, thresholds, left, right = self.feature, self.threshold, self.left, self.right
        place, feature = 0, features[0]
        while feature >= 0:
            place = left[place] if inputs[feature] <= thresholds[place] else right[place]
            feature = features[place]
        return self.value[place]

    def falls_along(self, feature: int) -> bool:
        """Whether the tree may fall when this input rises: some leaf left of a split on it is above one right of it."""
        return any(
            max(self._leaves(self.left[place])) > min(self._leaves(self.right[place]))
            for place, own in enumerate(self.feature)
            if own == feature
        )

    def _leaves(self, place: int) -> tuple[float, ...]:
        if self.feature[place] == LEAF:
            return (self.value[place],)
        return (*self._leaves(self.left[place]), *self._leaves(self.right[place]))


class TreeHead(msgspec.Struct, frozen=True, kw_only=True, tag_field="type", tag="trees"):
    """relevance = sigmoid(log-odds of `start` + Σ tree(inputs)): a logistic head, corrected by trees.

    Attributes:
        inputs: What the trees look at; those of `start` are among them.
        start: What is known before the first tree.
        trees: What they add.

    Raises:
        ValueError: An input occurs twice, one of `start` is missing, there is no tree or more than `TREES_MAX`, or a
            tree asks for an input that is not there or falls along one that is no `SHAPE_INPUTS`.
    """

    inputs: tuple[HeadInput, ...]
    start: LogisticHead
    trees: tuple[RegressionTree, ...]

    def __post_init__(self) -> None:
        if len(set(self.inputs)) != len(self.inputs) or not set(self.start.inputs) <= set(self.inputs):
            message = f"head.inputs must name each input once, and all of head.start.inputs; {_REMEDY}"
            raise ValueError(message)
        if not 0 < len(self.trees) <= TREES_MAX:
            message = f"head.trees must hold 1 to {TREES_MAX} trees, got {len(self.trees)}; {_REMEDY}"
            raise ValueError(message)
        if max(max(tree.feature) for tree in self.trees) >= len(self.inputs):
            message = f"head.trees must ask for inputs below {len(self.inputs)}; {_REMEDY}"
            raise ValueError(message)
        rising = [place for place, name in enumerate(self.inputs) if name not in SHAPE_INPUTS]
        if any(tree.falls_along(place) for tree in self.trees for place in rising):
            message = f"head.trees must not fall along an input that speaks for relevance; {_REMEDY}"
            raise ValueError(message)

    def relevance(self, values: tuple[float, ...]) -> float:
        """Relevance for one value per input, in order."""
        return sigmoid(self.log_odds(values))

    def log_odds(self, values: tuple[float, ...]) -> float:
        """The same before the sigmoid."""
        own = tuple([values[self.inputs.index(name)] for name in self.start.inputs])
        return self.start.log_odds(own) + sum([tree.value_of(values) for tree in self.trees])

    def shifted(self, log_odds: float) -> TreeHead:
        """The head with every relevance moved by so much."""
        return msgspec.structs.replace(self, start=self.start.shifted(log_odds))
