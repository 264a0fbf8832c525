"""The relevance head: from raw evidence to one number in [0, 1].

Guards: the user's attention against memories that are near but do not help.
Cost: a dozen multiplications. Fails: typed; a score that is missing or not a number never becomes a relevance.
Error rates: in the calibration record the head comes from; without one, the threshold is the model's default.

A head is a logistic function of a few standardised inputs with weights that are never negative, so relevance never
falls when an input rises. A model has several heads, best informed first: with asks, without asks, with the logit
alone. The first head whose inputs are all known judges. Logits are clipped to the range the cross-encoder can produce,
so that bounds on an unscored candidate hold for every score it could get.
"""

from __future__ import annotations

import enum
import math
from typing import assert_never

import msgspec

from recalld.models.domain.recall import Evidence

LOGIT_MIN, LOGIT_MAX = -12.0, 12.0
"""The range of the cross-encoders in use: measured logits lie within [-11.6, 11.2]."""


_EDGE = 1e-12


class HeadInput(enum.StrEnum):
    """What a head may look at."""

    LOGIT = "logit"
    COSINE = "cosine"
    CUE_COSINE = "cue_cosine"
    """The record's own cosine stands in for it when the record has no cue: its text is then its only heading."""
    ASK_COSINE = "ask_cosine"


class LogisticHead(msgspec.Struct, frozen=True, kw_only=True):
    """relevance = sigmoid(intercept + Σ weight · (input - mean) / scale).

    Raises:
        ValueError: Lengths differ, there is no input or one twice, a number is not finite, a weight negative, a scale
            not positive.
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
        if min(self.weights) < 0 or min(self.scales) <= 0:
            message = "head.weights must not be negative and head.scales must be positive; fit the head again"
            raise ValueError(message)

    def relevance(self, values: tuple[float, ...]) -> float:
        """Relevance for one value per input, in order."""
        terms = zip(self.weights, values, self.means, self.scales, strict=True)
        return sigmoid(self.intercept + sum(weight * (value - mean) / scale for weight, value, mean, scale in terms))


LOGIT_HEAD = LogisticHead(inputs=(HeadInput.LOGIT,), weights=(1.0,), means=(0.0,), scales=(1.0,), intercept=0.0)
"""Without calibration: the sigmoid of the best logit, once."""


class RelevanceModel(msgspec.Struct, frozen=True, kw_only=True):
    """Heads, best informed first, and the one threshold that their relevance is held against.

    Raises:
        ValueError: The threshold is not inside (0, 1), the margin not positive, or the last head needs more than the
            logit (then some candidate could find no head).
    """

    heads: tuple[LogisticHead, ...]
    threshold: float
    calibration_id: str = ""
    """Empty: not calibrated."""
    margin: float | None = None
    """How far, in log-odds, an item's relevance may lie behind the best one's; None: any distance. What is dragged
    along far behind a good answer is seldom wanted, though alone it might be."""

    def __post_init__(self) -> None:
        check_threshold(self.threshold)
        if self.margin is not None and not 0.0 < self.margin < math.inf:
            message = f"margin must be a positive number of log-odds or absent, got {self.margin}"
            raise ValueError(message)
        if not self.heads or self.heads[-1].inputs != (HeadInput.LOGIT,):
            message = "heads must end with one that needs the logit alone"
            raise ValueError(message)


class Bounds(msgspec.Struct, frozen=True, kw_only=True):
    """The relevance a candidate can still reach, from its evidence without a logit."""

    lowest: float
    highest: float

    def decides(self, threshold: float) -> bool:
        """Whether every possible logit leads to the same side of the threshold, so that scoring can be skipped."""
        return self.lowest >= threshold or self.highest < threshold


def uncalibrated(threshold: float) -> RelevanceModel:
    """The model without a calibration record: the best logit's sigmoid against a default threshold.

    Raises:
        ValueError: The threshold is not inside (0, 1).
    """
    return RelevanceModel(heads=(LOGIT_HEAD,), threshold=threshold)


def check_threshold(threshold: float) -> float:
    """The threshold itself. It is a probability, never a percentage or a logit, and is never clamped.

    Raises:
        ValueError: It is not inside (0, 1).
    """
    if not 0.0 < threshold < 1.0:
        message = f"threshold must be inside (0, 1), got {threshold}; it is compared with a sigmoid, e.g. 0.02"
        raise ValueError(message)
    return threshold


def relevance(evidence: Evidence, model: RelevanceModel) -> float | None:
    """Relevance in [0, 1], or None when the candidate was not scored (no logit)."""
    if evidence.logit is None:
        return None
    return _relevance_at(evidence, model, evidence.logit)


def bounds(evidence: Evidence, model: RelevanceModel) -> Bounds:
    """What relevance can still become, whatever the logit; a logit that is already there is a lower bound."""
    lowest_logit = LOGIT_MIN if evidence.logit is None else evidence.logit
    return Bounds(
        lowest=_relevance_at(evidence, model, lowest_logit),
        highest=_relevance_at(evidence, model, LOGIT_MAX),
    )


def sigmoid(logit: float) -> float:
    """1 / (1 + exp(-logit)), without overflow."""
    if logit >= 0:
        return 1.0 / (1.0 + math.exp(-logit))
    grown = math.exp(logit)
    return grown / (1.0 + grown)


def log_odds(share: float) -> float:
    """log(p / (1 - p)), with p kept a little inside (0, 1)."""
    inside = min(max(share, _EDGE), 1.0 - _EDGE)
    return math.log(inside / (1.0 - inside))


def head_inputs(evidence: Evidence, inputs: tuple[HeadInput, ...]) -> tuple[float, ...] | None:
    """The values a head looks at, logits clipped; None if one of them is unknown or not a number."""
    values = [_input(evidence, name) for name in inputs]
    known = [value for value in values if value is not None and math.isfinite(value)]
    return tuple(known) if len(known) == len(inputs) else None


def _relevance_at(evidence: Evidence, model: RelevanceModel, logit: float) -> float:
    scored = msgspec.structs.replace(evidence, logit=logit)
    for head in model.heads:
        values = head_inputs(scored, head.inputs)
        if values is not None:
            return head.relevance(values)
    message = f"the logit must be a finite number here, got {logit}"
    raise ValueError(message)


def _input(evidence: Evidence, name: HeadInput) -> float | None:
    match name:
        case HeadInput.LOGIT:
            logit = evidence.logit
            return None if logit is None or math.isnan(logit) else min(max(logit, LOGIT_MIN), LOGIT_MAX)
        case HeadInput.COSINE:
            return evidence.cosine
        case HeadInput.CUE_COSINE:
            return evidence.cosine if evidence.cue_cosine is None else evidence.cue_cosine
        case HeadInput.ASK_COSINE:
            return evidence.ask_cosine
        case _:
            assert_never(name)
