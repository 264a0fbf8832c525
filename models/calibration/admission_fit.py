"""Fitting the local judge: weights by kernel ridge regression, log-odds and thresholds on styles left out.

The problem has one solution, and which rows take part is chosen by counting: the same rows give the same record. What
needs no label (means, scales, directions, which phrases count) is taken from all rows, those left out included.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import msgspec
import numpy as np
from numpy.typing import NDArray

from recalld.models.calibration.admission_features import PhraseRows, seen_features
from recalld.models.calibration.admission_turns import JudgedTurn
from recalld.models.calibration.intervals import Proportion, wilson
from recalld.models.calibration.kernel_ridge import KernelRidge
from recalld.models.policy.judge.features import Matrix
from recalld.models.policy.judge.find import JudgeThresholds, found_places
from recalld.models.policy.judge.flags import FLAG_NAMES
from recalld.models.policy.judge.model import (
    Judge,
    JudgeModel,
    likeness,
    pack_floats,
    pack_ids,
    pack_prototypes,
    squared_lengths,
)

PROTOTYPES_MAX = 12_000
"""Segments that a model is fitted on and keeps; half of them state a fact where there are so many."""
RIDGE = 0.2
"""Penalty of a row of weight 1; the likeness of a row to itself is 1."""
PHRASES_SHARE = 0.5
"""How much the likeness of two segments in wording counts beside that in features. Share and ridge were found by
leaving styles out."""
NEIGHBOUR_WEIGHT = 0.3
"""How much a segment beside a stated fact counts: much of it is about the fact, and neither right nor wrong."""
PRECISION_BALANCED, PRECISION_STRICT = 0.80, 0.92
"""Share of turns with a find on which it is right that the two thresholds ask for, on styles left out. The rates in a
record are counted on those same turns, so that a style that nobody has seen may do a little worse."""
WRITTEN_MIN = 20
"""Fewest turns with a find on which a share is believed."""
_OFFSET = -0.6
"""What the regression starts from: most segments state nothing."""
_JITTER = 1e-6
_NEWTON_STEPS = 50


class StyleReport(msgspec.Struct, frozen=True, kw_only=True):
    """How a judge fitted on all other styles did on this one, at one threshold.

    Attributes:
        precision: Of the turns on which it found something, those on which all of it was right.
        recall: Of the turns that state something, those on which something right was found.
    """

    style: str
    precision: Proportion
    recall: Proportion


class JudgeFit:
    """A fit on all turns, from which the model and the scores of every style left out are read."""

    def __init__(self, turns: Sequence[JudgedTurn]) -> None:
        """Fit.

        Raises:
            ValueError: No segment, or none with, or none without a fact.
        """
        self._counts = [len(turn.labels) for turn in turns]
        self._styles = np.repeat([turn.row.style for turn in turns], self._counts)
        labels = np.asarray([label for turn in turns for label in turn.labels], dtype=bool)
        if not 0 < int(labels.sum()) < len(labels):
            message = "the rows must hold turns that state facts and turns that state none"
            raise ValueError(message)
        self._seen = seen_features([turn for turn in turns if turn.texts.segments])
        self._phrases = PhraseRows.of([phrases for turn in turns for phrases in turn.phrases])
        self._chosen = _spread(labels)
        self._prototypes = self._seen.rows[self._chosen].astype(np.float32)
        near = np.asarray([bool(turn.facts) and not label for turn in turns for label in turn.labels])[self._chosen]
        self._ridge = KernelRidge(
            self._likeness(self._chosen) + PHRASES_SHARE * self._phrases.products(self._chosen),
            RIDGE / np.where(near, NEIGHBOUR_WEIGHT, 1.0),
            np.where(labels[self._chosen], 1.0, -1.0) - _OFFSET,
        )

    def model(self) -> JudgeModel:
        """A model whose score is the regression's own; `in_log_odds` makes log-odds of it."""
        return self._model(self._ridge.duals)

    def model_without(self, style: str) -> JudgeModel:
        """The model of the fit that has not seen a style: its prototypes are there, and weigh nothing."""
        return self._model(self._duals_without(style))

    def _model(self, duals: Matrix) -> JudgeModel:
        seen = self._seen
        return JudgeModel(
            flags=tuple(map(str, FLAG_NAMES)),
            dims=seen.basis.shape[1],
            components=len(seen.basis),
            languages=seen.languages,
            language_means=pack_floats(seen.language_means),
            basis=pack_floats(seen.basis),
            means=pack_floats(seen.means),
            scales=pack_floats(seen.scales),
            prototypes=pack_prototypes(seen.rows[self._chosen]),
            weights=pack_floats(duals),
            phrase_ids=pack_ids(self._phrases.known),
            phrase_weights=pack_floats(self._phrase_weights(duals)),
            gamma=seen.gamma,
            slope=1.0,
            intercept=_OFFSET,
        )

    def held_out_scores(self, on_style: Callable[[str], None] = lambda _style: None) -> list[tuple[float, ...]]:
        """The score of each segment by a fit without the style of its turn, in the order of the turns.

        Raises:
            ValueError: There are fewer than two styles.
        """
        names = sorted(set(self._styles.tolist()))
        if len(names) < 2:
            message = f"leaving one style out needs rows of two styles or more, got {', '.join(names) or 'none'}"
            raise ValueError(message)
        scores = np.empty(len(self._styles))
        for style in names:
            own = np.flatnonzero(self._styles == style)
            duals = self._duals_without(style)
            by_wording = self._phrases.sums(own, self._phrase_weights(duals))
            scores[own] = _OFFSET + self._likeness(own) @ duals + by_wording
            on_style(style)
        return [tuple(map(float, each)) for each in np.split(scores, np.cumsum(self._counts)[:-1])]

    def _duals_without(self, style: str) -> Matrix:
        return self._ridge.without(np.flatnonzero(self._styles[self._chosen] == style))

    def _likeness(self, places: NDArray[np.int64]) -> NDArray[np.float32]:
        """Of some segments to the prototypes, by features: shape (places, prototypes)."""
        squares = squared_lengths(self._prototypes)
        return likeness(self._seen.rows[places], self._prototypes, squares, self._seen.gamma)

    def _phrase_weights(self, duals: Matrix) -> Matrix:
        return PHRASES_SHARE * self._phrases.combined(self._chosen, duals)


def score(turn: JudgedTurn, judge: Judge) -> tuple[float, ...]:
    """The score of each segment."""
    if not turn.texts.segments:
        return ()
    odds = judge.log_odds(turn.vectors[:-1], turn.vectors[-1], turn.flags, turn.phrases, turn.language)
    return tuple(map(float, odds))


def in_log_odds(model: JudgeModel, turns: Sequence[JudgedTurn], scores: Sequence[tuple[float, ...]]) -> JudgeModel:
    """The model with slope and intercept that make log-odds of held-out scores (J. Platt, 1999)."""
    values = np.asarray([value for each in scores for value in each])
    labels = np.asarray([label for turn in turns for label in turn.labels], dtype=np.float64)
    slope, intercept = _platt(values, labels)
    return msgspec.structs.replace(model, slope=model.slope * slope, intercept=intercept + slope * model.intercept)


def log_odds_of(model: JudgeModel, scores: Sequence[tuple[float, ...]]) -> list[tuple[float, ...]]:
    """Held-out scores as log-odds, on the scale of a model from `in_log_odds`."""
    # The fits' own scores start from `_OFFSET` and have slope 1; the model's intercept moved with its slope.
    shift = model.intercept - model.slope * _OFFSET
    return [tuple(model.slope * value + shift for value in each) for each in scores]


def rates_at(
    turns: Sequence[JudgedTurn], scores: Sequence[tuple[float, ...]], threshold: float, *, style: str = ""
) -> StyleReport:
    """Precision and recall over turns; a turn is right when everything found in it states a labelled fact."""
    written = right = served = stating = 0
    for turn, each in zip(turns, scores, strict=True):
        found = [turn.is_right[place] for place in found_places(each, threshold)]
        written += bool(found)
        right += bool(found) and all(found)
        served += any(found)
        stating += bool(turn.row.facts)
    return StyleReport(style=style, precision=wilson(right, written), recall=wilson(served, stating))


def choose_thresholds(turns: Sequence[JudgedTurn], scores: Sequence[tuple[float, ...]]) -> JudgeThresholds:
    """The lowest thresholds at which held-out precision reaches the two targets, as far as any does."""
    return JudgeThresholds(
        balanced=threshold_for(turns, scores, PRECISION_BALANCED), strict=threshold_for(turns, scores, PRECISION_STRICT)
    )


def threshold_for(turns: Sequence[JudgedTurn], scores: Sequence[tuple[float, ...]], target: float) -> float:
    """The lowest threshold from which on precision over turns is at least `target`.

    Where none is, the one that leaves `WRITTEN_MIN` turns: the most careful one that rests on something.
    """
    best = sorted(
        ((max(each), turn.is_right[int(np.argmax(each))]) for turn, each in zip(turns, scores, strict=True) if each),
        reverse=True,
    )
    chosen = best[min(WRITTEN_MIN, len(best)) - 1][0]
    right = 0
    for place, (value, is_right) in enumerate(best, start=1):
        right += is_right
        if place >= WRITTEN_MIN and right / place >= target:
            chosen = value
    return chosen


def _spread(labels: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Which rows become prototypes: evenly spread over those with and those without a fact, half each if they reach."""
    stating, others = np.flatnonzero(labels), np.flatnonzero(~labels)
    of_stating = min(len(stating), PROTOTYPES_MAX // 2)
    of_others = min(len(others), PROTOTYPES_MAX - of_stating)
    chosen = [
        each[np.linspace(0, len(each) - 1, count).astype(int)]
        for each, count in ((stating, of_stating), (others, of_others))
    ]
    return np.unique(np.concatenate(chosen))


def _platt(values: Matrix, labels: Matrix) -> tuple[float, float]:
    """Slope and intercept of the logistic regression of labels on values, by Newton's method."""
    design = np.column_stack((values, np.ones(len(values))))
    point: Matrix = np.zeros(2)
    for _ in range(_NEWTON_STEPS):
        probability = 1.0 / (1.0 + np.exp(-(design @ point)))
        gradient = design.T @ (probability - labels)
        curvature = (design.T * (probability * (1.0 - probability))) @ design + _JITTER * np.eye(2)
        step = np.linalg.solve(curvature, gradient)
        point = np.asarray(point - step, dtype=np.float64)
        if float(np.abs(step).max()) < 1e-9:
            break
    return float(point[0]), float(point[1])
