"""Fitting a calibration on one's own conversations: few turns, one style, and a target that must hold tomorrow.

What the target keeps is a share of the turns that the similarity floor alone would have served with its first three
records: a gate is asked to take away noise, not help. Everything is chosen on conversations that the heads have not
seen: folds of whole conversations are judged by heads of the other folds, and what heads look at, how many candidates
they judge and the threshold come from these scores.

The threshold is the Harrell-Davis estimate (F. E. Harrell, C. E. Davis, 1982) of the quantile of the held-out scores:
a mean of all of them, weighted by how likely each is to be the quantile. Where a single score is taken, chance decides:
with a hundred positives its neighbours lie far apart. From `LOWER_BOUND_POSITIVES_MIN` scores on there is volume enough
to ask for more: the lower end of the interval of the share that is kept must meet the target.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence

import msgspec
import numpy as np

from recalld.models.calibration.fit import (
    OWN_BYSTANDER_WEIGHT,
    OWN_HEADS,
    OWN_HEADS_WIDE,
    OWN_L2,
    FitOptions,
    HeadKind,
    fit_heads,
)
from recalld.models.calibration.intervals import wilson
from recalld.models.calibration.labelled import LabelledTurn, best_relevant, best_score
from recalld.models.calibration.logistic import Matrix
from recalld.models.calibration.threshold import choose_kind_thresholds, choose_margin
from recalld.models.policy.head_inputs import HeadInput
from recalld.models.policy.relevance import RelevanceModel
from recalld.models.policy.sigmoid import log_odds, sigmoid

FLOOR_ITEMS = 3
"""Records that the floor alone hands over by default."""
FOLDS_MAX = 5
CHOICES = (3, 5)
"""How many candidates a gate may be fitted to judge. Without asks each takes up to three pairs, and five times three
are what the gate's time holds."""
CHOICES_WITH_ASKS = (3, 5, 8)
"""The same where records have asks: each then takes one pair."""
SILENCE_LOSS_MAX = 0.02
"""Silence on conversations left out of the fit that may be given for judging more candidates, which serves more turns.
So much is within what a few hundred turns can tell."""
LOWER_BOUND_POSITIVES_MIN = 400
"""From so many positives on, asking for the lower end of the interval costs no more than two points of retention."""
HEAD_CHOICES = (OWN_HEADS, OWN_HEADS_WIDE)
"""What heads may look at. More is taken where it wins more than `SILENCE_LOSS_MAX`."""
_ASKS_SHARE_MIN = 0.5
LOG_ODDS_MAX = 9.0
"""Beyond, a score is as good as 0 or 1."""
_STEPS_PER_WEIGHT = 40
_EDGE = 1e-9
_ANY_THRESHOLD = 0.5

Progress = Callable[[int, int], None]
"""Called with what is done and all of it."""


class InsufficientDataError(ValueError):
    """Too little to fit on; the message has the counts."""


class Volume(msgspec.Struct, frozen=True, kw_only=True):
    """How much there is to fit on.

    Attributes:
        turns: Labelled turns.
        positives: Of these, turns that the floor alone serves: those the threshold is chosen on.
        negatives: Turns with nothing relevant.
        conversations: Whole conversations, the folds of the fit.
    """

    turns: int
    positives: int
    negatives: int
    conversations: int


VOLUME_MIN = Volume(turns=200, positives=30, negatives=30, conversations=2)
"""Below, a threshold is chance: of 30 positives, one is all that a target of 95 % may lose."""


class OwnFitOptions(msgspec.Struct, frozen=True, kw_only=True):
    """How to fit.

    Attributes:
        target_retention: The share to keep of the turns that the floor alone serves.
        candidates_max: Candidates to judge; None: chosen, see `SILENCE_LOSS_MAX`.
        head: What the heads are made of.
        volume_min: What there must be at least.
        lower_bound_positives_min: From so many positives on, the lower end of the interval must meet the target; see
            `lower_bound_volume` where it always shall.
        has_kind_thresholds: Whether kinds of memory with enough relevant ones get thresholds of their own, which are
            chosen on the data of the fit.

    Raises:
        ValueError: The target is not inside (0, 1), or `candidates_max` below 1.
    """

    target_retention: float = 0.95
    candidates_max: int | None = None
    head: HeadKind = HeadKind.LOGISTIC
    volume_min: Volume = VOLUME_MIN
    lower_bound_positives_min: int = LOWER_BOUND_POSITIVES_MIN
    has_kind_thresholds: bool = False

    def __post_init__(self) -> None:
        if not 0.0 < self.target_retention < 1.0:
            message = f"target_retention must be inside (0, 1), got {self.target_retention}; 0.95 is usual"
            raise ValueError(message)
        if self.candidates_max is not None and self.candidates_max < 1:
            message = f"candidates_max must be at least 1, got {self.candidates_max}"
            raise ValueError(message)


DEFAULT_OPTIONS = OwnFitOptions()


_Heads = tuple[tuple[HeadInput, ...], ...]


class _Scores(msgspec.Struct, frozen=True, kw_only=True):
    """Turns judged by heads that have not seen their conversation."""

    heads: _Heads
    candidates_max: int
    threshold: float
    silence: float


def volume_of(turns: Sequence[LabelledTurn]) -> Volume:
    """What there is to fit on."""
    return Volume(
        turns=len(turns),
        positives=sum(is_floor_served(turn) for turn in turns),
        negatives=sum(not turn.is_answerable for turn in turns),
        conversations=len({turn.conversation for turn in turns}),
    )


def lower_bound_volume(target_retention: float) -> Volume:
    """What there must be at least for the lower end of the interval to meet a target: so many that lose nothing.

    Args:
        target_retention: Inside (0, 1).
    """
    positives = VOLUME_MIN.positives
    while wilson(positives, positives).low < target_retention:
        positives += 1
    return msgspec.structs.replace(VOLUME_MIN, positives=positives)


def check_volume(volume: Volume, least: Volume = VOLUME_MIN) -> None:
    """Refuse to fit on too little.

    Raises:
        InsufficientDataError: Some count is below its minimum; the message names each of them.
    """
    short = [
        f"{name} {found} of {needed}"
        for name, found, needed in (
            ("turns", volume.turns, least.turns),
            ("turns with something relevant among the nearest three", volume.positives, least.positives),
            ("turns with nothing relevant", volume.negatives, least.negatives),
            ("conversations", volume.conversations, least.conversations),
        )
        if found < needed
    ]
    if short:
        message = f"too little data: {', '.join(short)}; label more turns, of more conversations"
        raise InsufficientDataError(message)


def fit_own(
    turns: Sequence[LabelledTurn], options: OwnFitOptions = DEFAULT_OPTIONS, *, on_progress: Progress | None = None
) -> RelevanceModel:
    """Fit heads, the number of candidates to judge, and a threshold.

    Deterministic: the same turns give the same model, in whatever order they come.

    Args:
        turns: With candidates in the gate's order, and each one's place in the floor's.
        options: How to fit.
        on_progress: Called after each trial with the trials done and all of them.

    Raises:
        InsufficientDataError: See `check_volume`.
        ValueError: No candidate is relevant, or all are.
    """
    check_volume(volume_of(turns), options.volume_min)
    ordered = sorted(turns, key=lambda turn: (turn.source, turn.conversation, turn.turn_id))
    choices = list(itertools.product(HEAD_CHOICES, _choices(ordered, options)))
    found: list[_Scores] = []
    for heads, candidates_max in choices:
        found.append(_try(ordered, options, heads, candidates_max))
        if on_progress is not None:
            on_progress(len(found), len(choices) + 1)
    chosen = _choose(found)
    cut = first_candidates(ordered, chosen.candidates_max)
    model = msgspec.structs.replace(
        _fit(cut, options, chosen.heads), threshold=chosen.threshold, candidates_max=chosen.candidates_max
    )
    if on_progress is not None:
        on_progress(len(choices) + 1, len(choices) + 1)
    if options.has_kind_thresholds:
        kinds = choose_kind_thresholds(cut, model, target_retention=options.target_retention)
        model = msgspec.structs.replace(model, kind_thresholds=kinds)
    return msgspec.structs.replace(model, margin=choose_margin(cut, model))


def is_floor_served(turn: LabelledTurn) -> bool:
    """Whether the floor alone hands over something relevant; where places are not told, any candidate counts."""
    return any(each.is_relevant and (each.place is None or each.place < FLOOR_ITEMS) for each in turn.candidates)


def quantile_threshold(
    scores: Sequence[float], *, target_retention: float, lower_bound_positives_min: int = LOWER_BOUND_POSITIVES_MIN
) -> float:
    """The threshold that keeps the target of turns like those that have these scores; see the module.

    Args:
        scores: The highest relevance of a relevant candidate, of each turn; in any order, -1 where there is none.
        target_retention: Inside (0, 1).
        lower_bound_positives_min: From so many scores on, the lower end of the interval must meet the target.

    Raises:
        ValueError: There are no scores.
    """
    if not scores:
        message = "no turn has a relevant candidate: there is nothing to choose a threshold on"
        raise ValueError(message)
    ranked = np.sort(np.asarray([_log_odds(score) for score in scores]))
    threshold = sigmoid(float(_quantile_weights(len(ranked), 1.0 - target_retention) @ ranked))
    if len(ranked) >= lower_bound_positives_min:
        threshold = min(threshold, _lower_bound_threshold(sorted(scores), target_retention))
    return min(max(threshold, _EDGE), 1.0 - _EDGE)


def _quantile_weights(count: int, share: float) -> Matrix:
    """What each of `count` ranked values weighs in the estimate of a quantile: the mass of a beta distribution."""
    edges = np.linspace(0.0, 1.0, count * _STEPS_PER_WEIGHT + 1)
    middles = (edges[1:] + edges[:-1]) / 2.0
    shape_a, shape_b = (count + 1) * share, (count + 1) * (1.0 - share)
    log_density = (shape_a - 1.0) * np.log(middles) + (shape_b - 1.0) * np.log1p(-middles)
    mass = np.exp(log_density - log_density.max()).reshape(count, _STEPS_PER_WEIGHT).sum(axis=1)
    weights: Matrix = mass / mass.sum()
    return weights


def _lower_bound_threshold(ranked: Sequence[float], target_retention: float) -> float:
    """The highest of the scores at which the lower end of the share that is kept still meets the target."""
    count = len(ranked)
    lost = math.floor((1.0 - target_retention) * count)
    while lost > 0 and wilson(count - lost, count).low < target_retention:
        lost -= 1
    return ranked[lost]


def _log_odds(score: float) -> float:
    """The score's log-odds within bounds, so that a single hopeless one does not draw the mean away."""
    return max(-LOG_ODDS_MAX, min(log_odds(min(max(score, _EDGE), 1.0 - _EDGE)), LOG_ODDS_MAX))


def _fit(turns: Sequence[LabelledTurn], options: OwnFitOptions, inputs: _Heads) -> RelevanceModel:
    heads = fit_heads(
        turns,
        FitOptions(
            target_retention=options.target_retention,
            heads=inputs,
            head=options.head,
            bystander_weight=OWN_BYSTANDER_WEIGHT,
            l2=OWN_L2,
        ),
    )
    return RelevanceModel(heads=heads, threshold=_ANY_THRESHOLD)


def _try(turns: Sequence[LabelledTurn], options: OwnFitOptions, heads: _Heads, candidates_max: int) -> _Scores:
    """The threshold and its silence when each fold is judged by heads of the others."""
    cut = first_candidates(turns, candidates_max)
    scores: list[float] = []
    quiet: list[float] = []
    for out in folds_of(turns):
        model = _fit([turn for place, turn in enumerate(cut) if place not in out], options, heads)
        scores += [best_relevant(cut[place], model) for place in out if is_floor_served(turns[place])]
        quiet += [best_score(cut[place], model) for place in out if not turns[place].is_answerable]
    threshold = quantile_threshold(
        scores,
        target_retention=options.target_retention,
        lower_bound_positives_min=options.lower_bound_positives_min,
    )
    return _Scores(
        heads=heads,
        candidates_max=candidates_max,
        threshold=threshold,
        silence=sum(score < threshold for score in quiet) / max(len(quiet), 1),
    )


def _choose(found: Sequence[_Scores]) -> _Scores:
    """The heads that look at less unless more wins clearly; of these the one that judges most at nearly the best."""
    best = [max(each.silence for each in found if each.heads == heads) for heads in HEAD_CHOICES]
    heads = HEAD_CHOICES[1] if best[1] > best[0] + SILENCE_LOSS_MAX else HEAD_CHOICES[0]
    silence_min = best[HEAD_CHOICES.index(heads)] - SILENCE_LOSS_MAX - _EDGE
    able = [each for each in found if each.heads == heads and each.silence >= silence_min]
    return max(able, key=lambda each: each.candidates_max)


def _choices(turns: Sequence[LabelledTurn], options: OwnFitOptions) -> tuple[int, ...]:
    if options.candidates_max is not None:
        return (options.candidates_max,)
    candidates = [each for turn in turns for each in turn.candidates]
    with_asks = sum(each.evidence.ask_cosine is not None for each in candidates)
    return CHOICES_WITH_ASKS if with_asks > _ASKS_SHARE_MIN * len(candidates) else CHOICES


def first_candidates(turns: Sequence[LabelledTurn], candidates_max: int) -> list[LabelledTurn]:
    """The turns with no more candidates than a gate judges."""
    return [msgspec.structs.replace(turn, candidates=turn.candidates[:candidates_max]) for turn in turns]


def folds_of(turns: Sequence[LabelledTurn]) -> list[frozenset[int]]:
    """The places of the turns of each of at most `FOLDS_MAX` folds; conversations stay whole, also across sources."""
    fold_of = {name: place % FOLDS_MAX for place, name in enumerate(sorted({turn.conversation for turn in turns}))}
    return [
        frozenset(place for place, turn in enumerate(turns) if fold_of[turn.conversation] == fold)
        for fold in sorted(set(fold_of.values()))
    ]
