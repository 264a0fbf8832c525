"""Fitting a calibration: heads, threshold and floors from labelled turns, and an honest report.

Turns are never split by row: the report leaves out one whole source at a time, or, when there is only one source, one
fifth of its conversations.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping, Sequence

import msgspec
import numpy as np

from recalld.models.calibration.labelled import LabelledTurn, retention, silence
from recalld.models.calibration.logistic import L2, fit_head
from recalld.models.calibration.record import CalibrationKeys, CalibrationRecord, SourceReport
from recalld.models.calibration.threshold import (
    best_scores,
    choose_floors,
    choose_kind_thresholds,
    choose_margin,
    choose_threshold,
    threshold_keeping,
)
from recalld.models.calibration.trees import fit_tree_head
from recalld.models.policy.head_inputs import HeadInput, head_inputs
from recalld.models.policy.logistic_head import LogisticHead
from recalld.models.policy.relevance import RelevanceHead, RelevanceModel
from recalld.models.policy.sigmoid import log_odds

_QUERY_SHAPE = (HeadInput.QUERY_LENGTH, HeadInput.IS_OPEN_QUESTION, HeadInput.IS_PERSONAL)
HEADS = (
    (
        HeadInput.LOGIT,
        HeadInput.LOGIT_ABOVE_ZERO,
        HeadInput.CUE_COSINE,
        HeadInput.ASK_COSINE,
        HeadInput.ASK_MEAN,
        *_QUERY_SHAPE,
    ),
    (HeadInput.LOGIT, HeadInput.LOGIT_ABOVE_ZERO, HeadInput.COSINE, *_QUERY_SHAPE),
    (HeadInput.LOGIT,),
)
"""With asks, without asks, without vectors: the inputs that still helped on sources left out of the fit."""
_OWN_SHAPE = (
    HeadInput.IS_QUESTION,
    HeadInput.OTHER_NAMES,
    HeadInput.NAMES_HELD,
    HeadInput.RECORD_ASKS,
    HeadInput.TIME_FIT,
)
OWN_HEADS = (
    (HeadInput.LOGIT, HeadInput.ASK_COSINE, *_OWN_SHAPE),
    (HeadInput.LOGIT, HeadInput.COSINE, *_OWN_SHAPE),
    (HeadInput.LOGIT,),
)
"""For a calibration on one's own data. Who puts question marks and who does not, and what a name in a record means, is
much the same from one day to the next, but not from one person to another, so the shipped heads do without."""
OWN_HEADS_WIDE = (
    (*HEADS[0], *_OWN_SHAPE),
    (*HEADS[1], *_OWN_SHAPE),
    HEADS[2],
)
"""The same with all that the shipped heads look at as well: for much data of many kinds. On little, each more input
costs more on conversations left out of the fit than it wins."""
TREE_INPUTS = (
    HeadInput.LOGIT_AS_GIVEN,
    HeadInput.LOGIT_REWRITTEN,
    HeadInput.COSINE,
)
"""What trees look at besides the inputs of the logistic head they correct."""
OWN_BYSTANDER_WEIGHT = 0.05
"""For a calibration on one's own data. Found on the sources written for this project, one left out at a time."""
OWN_L2 = 3e-2
"""For a calibration on one's own data: there are fewer turns, so weights are held back more."""
OWN_CANDIDATES_MIN = 50
"""Candidates of its own that a later head needs for an intercept of its own."""
FOLDS = 5
_SHIFT_MAX = 10.0
_BISECTIONS = 60
_ANY_THRESHOLD = 0.5
_NEVER = -30.0
"""Log-odds of what never passes."""


class HeadKind(enum.StrEnum):
    """What a head is made of."""

    LOGISTIC = "logistic"
    TREES = "trees"
    """A logistic head corrected by trees over `TREE_INPUTS` as well; the last head, over the logit alone, has none."""


class FitOptions(msgspec.Struct, frozen=True, kw_only=True):
    """How to fit.

    Attributes:
        target_retention: The share of answerable turns to keep.
        heads: The inputs of each head, best informed first; the last one needs the logit alone.
        has_kind_thresholds: Whether kinds of memory with enough positives get thresholds of their own.
        head: What the heads are made of.
        bystander_weight: How much an irrelevant candidate counts on a turn that has a relevant one, in (0, 1]. Neither
            retention nor silence depends on such: less weight leaves the fit to what they do depend on.
        has_held_out_threshold: Whether the threshold is chosen on scores from heads that have not seen the turn's group
            (source or, of a single source, conversation). Heads score what they were fitted on too high, trees more so
            than weighted sums, and a threshold chosen there then keeps less than the target elsewhere.
        l2: Penalty on each weight of a logistic head; see `logistic.fit_head`.

    Raises:
        ValueError: The weight is not in (0, 1].
    """

    target_retention: float = 0.95
    heads: tuple[tuple[HeadInput, ...], ...] = HEADS
    has_kind_thresholds: bool = False
    head: HeadKind = HeadKind.LOGISTIC
    bystander_weight: float = 1.0
    has_held_out_threshold: bool = False
    l2: float = L2

    def __post_init__(self) -> None:
        if not 0.0 < self.bystander_weight <= 1.0:
            message = (
                f"bystander_weight must be in (0, 1], got {self.bystander_weight}; 1 counts all candidates the same"
            )
            raise ValueError(message)


DEFAULT_OPTIONS = FitOptions()


class Trial(msgspec.Struct, frozen=True, kw_only=True):
    """A group of turns, and the model that was fitted on all the others."""

    name: str
    turns: tuple[LabelledTurn, ...]
    model: RelevanceModel


class CalibrationInfo(msgspec.Struct, frozen=True, kw_only=True):
    """What a fit cannot know by itself; see `CalibrationRecord`."""

    id: str
    date: str
    provenance: str
    keys: CalibrationKeys
    corpus_id: str
    corpus_sha256: str


def fit_calibration(
    turns: Sequence[LabelledTurn],
    *,
    info: CalibrationInfo,
    options: FitOptions = DEFAULT_OPTIONS,
    bare_turns: Sequence[LabelledTurn] = (),
) -> CalibrationRecord:
    """Fit heads, threshold and floors, and report how they do here and on sources left out.

    Deterministic: the same turns give the same record.

    Args:
        turns: What to fit on.
        info: Goes into the record.
        options: How to fit.
        bare_turns: The same turns over the same memories without cues and asks, for the heads that judge such; see
            `fit_model`.

    Raises:
        ValueError: The target is not in (0, 1], or some head finds no relevant or no irrelevant candidate to learn
        from.
    """
    if not 0.0 < options.target_retention <= 1.0:
        message = f"target_retention must be in (0, 1], got {options.target_retention}"
        raise ValueError(message)
    model = fit_model(turns, options, bare_turns=bare_turns)
    return CalibrationRecord(
        id=info.id,
        date=info.date,
        provenance=info.provenance,
        keys=info.keys,
        corpus_id=info.corpus_id,
        corpus_sha256=info.corpus_sha256,
        n=len(turns),
        positives=sum(turn.is_answerable for turn in turns),
        target_retention=options.target_retention,
        retention=retention(turns, model),
        silence=silence(turns, model),
        held_out=report_held_out(turns, options, bare_turns=bare_turns),
        floors=choose_floors(turns),
        heads=model.heads,
        threshold=model.threshold,
        margin=model.margin,
        kind_thresholds=model.kind_thresholds,
    )


def fit_model(
    turns: Sequence[LabelledTurn], options: FitOptions, *, bare_turns: Sequence[LabelledTurn] = ()
) -> RelevanceModel:
    """Fit every head and one threshold over all of them; a head whose inputs no candidate has is left out.

    The first head learns from `turns`. The later ones, which judge memories without asks, learn from `bare_turns`, and
    their intercepts are moved until the one threshold keeps the same share of those. Without bare turns they learn
    their weights from all candidates that have their inputs, and their intercepts from those they will really judge:
    the ones that no earlier head can. Those are relevant less often than the others, because fewer texts of theirs
    could nominate them, and without that correction they would pass far too easily.
    """
    heads = fit_heads(turns, options, bare_turns)
    model = RelevanceModel(heads=heads, threshold=_ANY_THRESHOLD)
    target = options.target_retention
    threshold = _held_out_threshold(turns, options, bare_turns) if options.has_held_out_threshold else None
    if threshold is None:
        threshold = choose_threshold(turns, model, target_retention=target)
    if bare_turns:
        later = (_moved_to(threshold, head, bare_turns, target_retention=target) for head in model.heads[1:])
        model = msgspec.structs.replace(model, heads=(model.heads[0], *later))
    cut = msgspec.structs.replace(
        model,
        threshold=threshold,
        kind_thresholds=choose_kind_thresholds(turns, model, target_retention=target)
        if options.has_kind_thresholds
        else (),
    )
    return msgspec.structs.replace(cut, margin=choose_margin(turns, cut))


def fit_heads(
    turns: Sequence[LabelledTurn], options: FitOptions, bare_turns: Sequence[LabelledTurn] = ()
) -> tuple[RelevanceHead, ...]:
    """Fit every head of the options, without a threshold; see `fit_model`.

    Raises:
        ValueError: Some head finds no relevant or no irrelevant candidate to learn from, or there is no candidate.
    """
    heads: list[RelevanceHead] = []
    for place, inputs in enumerate(options.heads):
        head = _fit_one(bare_turns if place and bare_turns else turns, inputs, options)
        if head is not None:
            is_first_or_moved_below = not heads or bool(bare_turns)
            heads.append(head if is_first_or_moved_below else _calibrated_in_the_large(turns, head, earlier=heads))
    if not heads:
        message = "no turn has a scored candidate: there is nothing to fit heads on"
        raise ValueError(message)
    return tuple(heads)


def _held_out_threshold(
    turns: Sequence[LabelledTurn], options: FitOptions, bare_turns: Sequence[LabelledTurn]
) -> float | None:
    """The threshold that keeps the target of turns judged by heads without their group; None with a single group."""
    groups, bare_groups = _groups(turns), _groups(bare_turns)
    if len(groups) < 2:
        return None
    scores: dict[str, list[float]] = {}
    for name, held_out in groups.items():
        bare = _all_but(bare_groups, name) if bare_groups else []
        heads = fit_heads(_all_but(groups, name), options, bare)
        model = RelevanceModel(heads=heads, threshold=_ANY_THRESHOLD)
        for source, found in best_scores(held_out, model).items():
            scores.setdefault(source, []).extend(found)
    return threshold_keeping(scores, target_retention=options.target_retention)


def _moved_to(
    threshold: float, head: RelevanceHead, turns: Sequence[LabelledTurn], *, target_retention: float
) -> RelevanceHead:
    """The head with an intercept at which `threshold` keeps the target's share of the turns, judged by it alone."""
    logit_alone = LogisticHead(inputs=(HeadInput.LOGIT,), weights=(0.0,), means=(0.0,), scales=(1.0,), intercept=_NEVER)
    alone = (head,) if head.inputs == logit_alone.inputs else (head, logit_alone)
    own = choose_threshold(
        turns, RelevanceModel(heads=alone, threshold=_ANY_THRESHOLD), target_retention=target_retention
    )
    return head.shifted(log_odds(threshold) - log_odds(own))


def report_held_out(
    turns: Sequence[LabelledTurn], options: FitOptions, *, bare_turns: Sequence[LabelledTurn] = ()
) -> tuple[SourceReport, ...]:
    """Fit on all groups but one, try on that one; empty when there is only one group."""
    return tuple(
        SourceReport(
            source=trial.name,
            threshold=trial.model.threshold,
            retention=retention(trial.turns, trial.model),
            silence=silence(trial.turns, trial.model),
        )
        for trial in leave_one_out(turns, options, bare_turns=bare_turns)
    )


def leave_one_out(
    turns: Sequence[LabelledTurn], options: FitOptions, *, bare_turns: Sequence[LabelledTurn] = ()
) -> tuple[Trial, ...]:
    """Fit on all groups but one, for each of them; empty when there is only one group."""
    groups = _groups(turns)
    bare_groups = _groups(bare_turns)
    if len(groups) < 2:
        return ()
    return tuple(
        Trial(
            name=name,
            turns=tuple(held_out),
            model=fit_model(
                _all_but(groups, name), options, bare_turns=_all_but(bare_groups, name) if bare_groups else ()
            ),
        )
        for name, held_out in groups.items()
    )


def _all_but(groups: Mapping[str, Sequence[LabelledTurn]], name: str) -> list[LabelledTurn]:
    return [turn for other in groups if other != name for turn in groups[other]]


def _groups(turns: Sequence[LabelledTurn]) -> dict[str, list[LabelledTurn]]:
    """By source, or, of a single source, by conversation in at most `FOLDS` folds."""
    groups: dict[str, list[LabelledTurn]] = {}
    sources = sorted({turn.source for turn in turns})
    conversations = sorted({turn.conversation for turn in turns})
    folds = {conversation: f"fold {place % FOLDS + 1}" for place, conversation in enumerate(conversations)}
    for turn in turns:
        name = turn.source if len(sources) > 1 else folds[turn.conversation]
        groups.setdefault(name, []).append(turn)
    return groups


def _fit_one(
    turns: Sequence[LabelledTurn], start_inputs: tuple[HeadInput, ...], options: FitOptions
) -> RelevanceHead | None:
    """Fit one head on the candidates that have its inputs; each turn counts the same, whatever its candidates."""
    has_trees = options.head is HeadKind.TREES and start_inputs != (HeadInput.LOGIT,)
    inputs = tuple(dict.fromkeys((*start_inputs, *TREE_INPUTS))) if has_trees else start_inputs
    features: list[tuple[float, ...]] = []
    labels: list[float] = []
    weights: list[float] = []
    groups: list[str] = []
    for name, turn in ((name, turn) for name, group in _groups(turns).items() for turn in group):
        for candidate in turn.candidates:
            values = head_inputs(candidate.evidence, inputs)
            if values is not None:
                features.append(values)
                labels.append(float(candidate.is_relevant))
                is_bystander = turn.is_servable and not candidate.is_relevant
                weights.append((options.bystander_weight if is_bystander else 1.0) / len(turn.candidates))
                groups.append(name)
    if not labels:
        return None
    if not 0.0 < sum(labels) < len(labels):
        message = f"the head over {', '.join(inputs)} needs relevant and irrelevant candidates that have these inputs"
        raise ValueError(message)
    rows, found, counts = np.asarray(features), np.asarray(labels), np.asarray(weights)
    if has_trees:
        return fit_tree_head(inputs, start_inputs, rows, found, counts, groups)
    return fit_head(inputs, rows, found, counts, l2=options.l2)


def _calibrated_in_the_large(
    turns: Sequence[LabelledTurn], head: RelevanceHead, *, earlier: Sequence[RelevanceHead]
) -> RelevanceHead:
    """Move the intercept until the mean relevance of the head's own candidates equals their share of relevant ones.

    With fewer than `OWN_CANDIDATES_MIN` candidates of its own the head stays as it is.
    """
    relevances: list[float] = []
    labels: list[float] = []
    for turn in turns:
        for candidate in turn.candidates:
            if any(head_inputs(candidate.evidence, other.inputs) is not None for other in earlier):
                continue
            values = head_inputs(candidate.evidence, head.inputs)
            if values is not None:
                relevances.append(head.relevance(values))
                labels.append(float(candidate.is_relevant))
    if len(labels) < OWN_CANDIDATES_MIN:
        return head
    # Half a success and half a failure more: a share of 0 or 1 among few would move the intercept without bound.
    share = (sum(labels) + 0.5) / (len(labels) + 1.0)
    odds = np.asarray([log_odds(value) for value in relevances])
    low, high = -_SHIFT_MAX, _SHIFT_MAX
    for _ in range(_BISECTIONS):
        middle = (low + high) / 2.0
        if float(np.mean(1.0 / (1.0 + np.exp(-(odds + middle))))) < share:
            low = middle
        else:
            high = middle
    return head.shifted((low + high) / 2.0)
