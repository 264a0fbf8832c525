"""The logistic relevance head: a weighted sum of a few standardised inputs."""

from __future__ import annotations

import math

import msgspec

from recalld.models.policy.head_inputs import SHAPE_INPUTS, HeadInput
from recalld.models.policy.sigmoid import sigmoid


class LogisticHead(msgspec.Struct, frozen=True, kw_only=True, tag_field="type", tag="logistic"):
    """relevance = sigmoid(intercept + Σ weight · (input - mean) / scale).

    Raises:
        ValueError: Lengths differ, there is no input or one twice, a number is not finite, a scale not positive, or
            the weight of an input that is no `SHAPE_INPUTS` negative.
    """

    inputs: tuple[HeadInput, ...]
    weights: tuple[float, ...]
    means: tuple[float, ...]
    scales: tuple[float, ...]
    intercept: float

    def __post_init__(self) -> None:
        count = len(self.inputs)
        if not count or len(set(self.inputs)) != count:
            message = "head.inputs must name at least one input, each once"
            raise ValueError(message)
        if not len(self.weights) == len(self.means) == len(self.scales) == count:
            message = f"head.weights, head.means and head.scales must each have {count} values, one per input"
            raise ValueError(message)
        if not all(map(math.isfinite, (*self.weights, *self.means, *self.scales, self.intercept))):
            message = "head: every number must be finite; fit the head again"
            raise ValueError(message)
        sensitive = [weight for name, weight in zip(self.inputs, self.weights, strict=True) if name not in SHAPE_INPUTS]
        if min(sensitive, default=0.0) < 0 or min(self.scales) <= 0:
            message = "head.weights must not be negative and head.scales must be positive; fit the head again"
            raise ValueError(message)

    def relevance(self, values: tuple[float, ...]) -> float:
        """Relevance for one value per input, in order."""
        return sigmoid(self.log_odds(values))

    def log_odds(self, values: tuple[float, ...]) -> float:
        """The same before the sigmoid."""
        terms = zip(self.weights, values, self.means, self.scales, strict=True)
        return self.intercept + sum([weight * (value - mean) / scale for weight, value, mean, scale in terms])

    def shifted(self, log_odds: float) -> LogisticHead:
        """The head with every relevance moved by so much."""
        return msgspec.structs.replace(self, intercept=self.intercept + log_odds)
