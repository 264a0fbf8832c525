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
from collections.abc import Iterator

import msgspec

from recalld.models.domain.recall import Evidence
from recalld.models.domain.records import MemoryKind
from recalld.models.policy.head_inputs import LOGIT_MAX, LOGIT_MIN, PAIR_INPUTS, HeadInput, InputReader, with_logits
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
    candidates_max: int | None = None
    """Candidates that it was fitted to judge, the first ones of fusion; None: as many as the configuration allows, in
    the order of what each can still reach."""

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
        if self.candidates_max is not None and self.candidates_max < 1:
            message = f"candidates_max must be at least 1 or absent, got {self.candidates_max}"
            raise ValueError(message)

    @property
    def looks_at_pairs(self) -> bool:
        """Whether some head needs `Evidence.pair`."""
        return any(not PAIR_INPUTS.isdisjoint(head.inputs) for head in self.heads)

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


class _HeadInUse:
    """A head with its reader, and its logits at the ends of their range."""

    def __init__(self, head: RelevanceHead) -> None:
        self.reader = InputReader(head.inputs)
        self.relevance = head.relevance
        self.lowest_logits = self.reader.logits_at(LOGIT_MIN)
        self.highest_logits = self.reader.logits_at(LOGIT_MAX)


class RelevanceReader:
    """A relevance model in use: what is the same for all candidates of a recall is worked out once.

    Args:
        model: Its heads judge.
    """

    def __init__(self, model: RelevanceModel) -> None:
        self._heads = tuple(map(_HeadInUse, model.heads))

    def relevance(self, evidence: Evidence) -> float | None:
        """As `relevance`."""
        return None if evidence.logit is None else self._known(evidence)

    def bounds(self, evidence: Evidence) -> Bounds:
        """As `bounds`."""
        # Which head judges hangs on no logit, as long as they are numbers, and the last head looks at nothing else.
        head, fixed = next(self._able(evidence))
        highest = head.relevance(with_logits(fixed, head.highest_logits))
        if evidence.logit is not None:
            return Bounds(lowest=self._known(evidence), highest=highest)
        return Bounds(lowest=head.relevance(with_logits(fixed, head.lowest_logits)), highest=highest)

    def _known(self, evidence: Evidence) -> float:
        """Relevance with the evidence's own logits."""
        for head, fixed in self._able(evidence):
            values = head.reader.known(fixed, evidence)
            if values is not None:
                return head.relevance(values)
        message = f"the logit must be a finite number here, got {evidence.logit}"
        raise ValueError(message)

    def _able(self, evidence: Evidence) -> Iterator[tuple[_HeadInUse, tuple[float, ...]]]:
        """Yield the heads whose inputs but for logits are all known, best informed first, with these inputs."""
        for head in self._heads:
            fixed = head.reader.fixed(evidence)
            if fixed is not None:
                yield head, fixed


def relevance(evidence: Evidence, model: RelevanceModel) -> float | None:
    """Relevance in [0, 1], or None when the candidate was not scored (no logit)."""
    return RelevanceReader(model).relevance(evidence)


def bounds(evidence: Evidence, model: RelevanceModel) -> Bounds:
    """What relevance can still become, whatever the logit; a logit that is already there is a lower bound.

    Exact for a candidate that is not scored: every head that may judge rises with each of its logits, so that its ends
    are where all of them are at an end.
    """
    return RelevanceReader(model).bounds(evidence)
