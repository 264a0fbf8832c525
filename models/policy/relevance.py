"""The relevance head: from raw evidence to one number in [0, 1].

Guards: the user's attention against memories that are near but do not help.
Cost: a dozen multiplications. Fails: typed; a score that is missing or not a number never becomes a relevance.
Error rates: in the calibration record the head comes from; without one, the threshold is the model's default.

A head is a logistic function of a few standardised inputs, with or without small trees on top (`policy.tree_head`). The
weights of all that speaks for relevance are never negative, and no tree falls along it, so relevance never falls when
such an input rises; only the shape of the query, which says how much the others mean, may speak either way. A model has
several heads, best informed first: with asks, without asks, with the logit alone. The first head whose inputs are all
known judges. Logits are clipped to the range the cross-encoder can produce, so that bounds on an unscored candidate
hold for every score it could get.
"""

from __future__ import annotations

import math

import msgspec

from recalld.models.domain.recall import Evidence
from recalld.models.domain.records import MemoryKind
from recalld.models.policy.head_inputs import LOGIT_MAX, LOGIT_MIN, HeadInput, head_inputs
from recalld.models.policy.logistic_head import LogisticHead
from recalld.models.policy.tree_head import TreeHead

LOGIT_HEAD = LogisticHead(inputs=(HeadInput.LOGIT,), weights=(1.0,), means=(0.0,), scales=(1.0,), intercept=0.0)
"""Without calibration: the sigmoid of the best logit, once."""

RelevanceHead = LogisticHead | TreeHead
"""What turns inputs into a relevance; their names in a calibration record are `logistic` and `trees`."""


class KindThreshold(msgspec.Struct, frozen=True, kw_only=True):
    """A threshold of its own for one kind of memory.

    Raises:
        ValueError: The threshold is not inside (0, 1).
    """

    kind: MemoryKind
    threshold: float
    positives: int
    """Relevant memories of the kind it was fitted on."""

    def __post_init__(self) -> None:
        check_threshold(self.threshold)


class RelevanceModel(msgspec.Struct, frozen=True, kw_only=True):
    """Heads, best informed first, and the one threshold that their relevance is held against.

    Raises:
        ValueError: The threshold is not inside (0, 1), the margin not positive, a kind has two thresholds, or the last
            head needs more than the logit (then some candidate could find no head).
    """

    heads: tuple[RelevanceHead, ...]
    threshold: float
    calibration_id: str = ""
    """Empty: not calibrated."""
    margin: float | None = None
    """How far, in log-odds, an item's relevance may lie behind the best one's; None: any distance. What is dragged
    along far behind a good answer is seldom wanted, though alone it might be."""
    kind_thresholds: tuple[KindThreshold, ...] = ()
    """Kinds whose memories are held against another threshold; all others against `threshold`."""

    def __post_init__(self) -> None:
        check_threshold(self.threshold)
        if self.margin is not None and not 0.0 < self.margin < math.inf:
            message = f"margin must be a positive number of log-odds or absent, got {self.margin}"
            raise ValueError(message)
        if not self.heads or self.heads[-1].inputs != (HeadInput.LOGIT,):
            message = "heads must end with one that needs the logit alone"
            raise ValueError(message)
        if len({each.kind for each in self.kind_thresholds}) != len(self.kind_thresholds):
            message = "kind_thresholds must name each kind once"
            raise ValueError(message)

    def threshold_of(self, kind: MemoryKind | None) -> float:
        """The threshold for memories of a kind; None: of a kind that is not known."""
        return next((each.threshold for each in self.kind_thresholds if each.kind is kind), self.threshold)


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
    return _relevance_at(evidence, model)


def bounds(evidence: Evidence, model: RelevanceModel) -> Bounds:
    """What relevance can still become, whatever the logit; a logit that is already there is a lower bound.

    Exact for a candidate that is not scored: every head that may judge rises with each of its logits, so that its ends
    are where all of them are at an end.
    """
    return Bounds(
        lowest=_relevance_at(evidence, model, LOGIT_MIN if evidence.logit is None else None),
        highest=_relevance_at(evidence, model, LOGIT_MAX),
    )


def _relevance_at(evidence: Evidence, model: RelevanceModel, logit: float | None = None) -> float:
    """Relevance with the evidence's own logits, or with `logit` in place of each of them."""
    for head in model.heads:
        values = head_inputs(evidence, head.inputs, logit=logit)
        if values is not None:
            return head.relevance(values)
    message = f"the logit must be a finite number here, got {evidence.logit if logit is None else logit}"
    raise ValueError(message)
