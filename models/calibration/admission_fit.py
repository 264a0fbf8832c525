"""Fitting the local judge: prototypes and weights by ridge regression, log-odds and thresholds on styles left out.

The problem is convex and its start is chosen by counting, so that the same rows give the same record.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import msgspec
import numpy as np
from numpy.typing import NDArray

from recalld.models.calibration.admission_data import AdmissionRow
from recalld.models.calibration.intervals import Proportion, wilson
from recalld.models.domain.facts import Span
from recalld.models.policy.judge.features import FLAG_COUNT, Matrix, raw_features, scaled
from recalld.models.policy.judge.find import JudgeTexts, JudgeThresholds, found_places, judge_texts
from recalld.models.policy.judge.flags import FLAG_NAMES, read_flags, turn_language
from recalld.models.policy.judge.model import (
    Judge,
    JudgeModel,
    likeness,
    pack_floats,
    pack_prototypes,
    unpack_prototypes,
)
from recalld.models.policy.save_turn import SaveTurn, prepare_turn
from recalld.models.policy.stop_words import LANGUAGES

Embed = Callable[[str], NDArray[np.float32]]
"""Embeds one text without the query prefix: shape (dims,)."""

PROTOTYPES_MAX = 2_400
"""Segments that a model keeps, half of them stating a fact."""
GAMMA = 1.0
"""In units of one over the median squared length of the scaled features."""
RIDGE = 0.1
COMPONENTS = 40
"""Directions of an embedding that are kept."""
SEGMENT_WEIGHT, TURN_WEIGHT, FLAG_WEIGHT = 1.0, 0.7, 0.6
"""How much each block counts in a distance. These, gamma, ridge and the number of components were found by leaving one
style out. So was that texts are embedded without the query prefix: with it nothing is gained, and each costs more."""
NEIGHBOUR_WEIGHT = 0.3
"""How much a segment beside a stated fact counts: much of it is about the fact, and neither right nor wrong."""
OVERLAP_MIN = 0.5
"""Share of either, segment or quote, that has to be common to both, for the segment to state the fact."""
PRECISION_BALANCED, PRECISION_STRICT = 0.80, 0.90
"""Share of turns with a find on which it is right that the two thresholds ask for, on styles left out. The rates in a
record are counted on those same turns, so that a style that nobody has seen may do a little worse."""
WRITTEN_MIN = 20
"""Fewest turns with a find on which a share is believed."""
_OFFSET = -0.6
"""What the regression starts from: most segments state nothing."""
_JITTER = 1e-6
_NEWTON_STEPS = 50


class JudgedTurn(msgspec.Struct, frozen=True, kw_only=True):
    """A labelled turn as the judge sees it.

    Attributes:
        vectors: Shape (segments + 1, dims): of the segments and of the turn.
        flags: Shape (segments, flags).
        facts: Where facts are stated.
        labels: For each segment, whether it states one.
        is_right: For each segment, whether what is stored of it states one.
    """

    row: AdmissionRow
    turn: SaveTurn
    texts: JudgeTexts
    vectors: Matrix
    flags: Matrix
    language: str
    facts: tuple[Span, ...]
    labels: tuple[bool, ...]
    is_right: tuple[bool, ...]


class StyleReport(msgspec.Struct, frozen=True, kw_only=True):
    """How a judge fitted on all other styles did on this one, at one threshold.

    Attributes:
        precision: Of the turns on which it found something, those on which all of it was right.
        recall: Of the turns that state something, those on which something right was found.
    """

    style: str
    precision: Proportion
    recall: Proportion


def prepare_row(row: AdmissionRow, embed: Embed) -> JudgedTurn:
    """Cut a turn, embed its pieces, read its flags and label them."""
    turn = prepare_turn(row.text)
    texts = judge_texts(turn)
    facts = row.quoted(turn.text)
    return JudgedTurn(
        row=row,
        turn=turn,
        texts=texts,
        vectors=np.asarray([embed(text) for text in texts.texts], dtype=np.float64),
        flags=np.asarray(read_flags(turn, texts.segments), dtype=np.float64).reshape(len(texts.segments), FLAG_COUNT),
        language=turn_language(turn),
        facts=facts,
        labels=tuple(states_any(segment.span, facts) for segment in texts.segments),
        is_right=tuple(states_any(segment.whole, facts) for segment in texts.segments),
    )


def states_any(span: Span, facts: Sequence[Span]) -> bool:
    """Whether a part of a turn overlaps a stated fact by more than `OVERLAP_MIN` of either."""
    for fact in facts:
        common = min(span.end, fact.end) - max(span.start, fact.start)
        if common > OVERLAP_MIN * min(span.end - span.start, fact.end - fact.start):
            return True
    return False


def fit_judge(turns: Sequence[JudgedTurn]) -> JudgeModel:
    """Fit a model whose score is the regression's own; `in_log_odds` makes log-odds of it.

    Raises:
        ValueError: No segment, or none with, or none without a fact.
    """
    judged = [turn for turn in turns if turn.texts.segments]
    labels = np.asarray([label for turn in judged for label in turn.labels], dtype=bool)
    if not 0 < int(labels.sum()) < len(labels):
        message = "the rows must hold turns that state facts and turns that state none"
        raise ValueError(message)
    languages, language_means = _language_means(judged)
    places = [languages.index(turn.language) for turn in judged]
    basis = _basis(
        np.vstack([turn.vectors[:-1] - language_means[place, 0] for turn, place in zip(judged, places, strict=True)])
    )
    raw = np.vstack([_raw(turn, language_means[place], basis) for turn, place in zip(judged, places, strict=True)])
    components, dims = basis.shape
    means, scales = _scaling(raw, components)
    rows = unpack_prototypes(scaled(raw, means, scales))
    gamma = GAMMA / float(np.median((rows**2).sum(axis=1)))
    prototypes = rows[_spread(labels)]
    near = np.asarray([bool(turn.facts) and not label for turn in judged for label in turn.labels])
    weights = _ridge(
        likeness(rows, prototypes, gamma),
        likeness(prototypes, prototypes, gamma),
        np.where(labels, 1.0, -1.0) - _OFFSET,
        np.where(near, NEIGHBOUR_WEIGHT, 1.0),
    )
    return JudgeModel(
        flags=tuple(map(str, FLAG_NAMES)),
        dims=dims,
        components=components,
        languages=languages,
        language_means=pack_floats(language_means),
        basis=pack_floats(basis),
        means=pack_floats(means),
        scales=pack_floats(scales),
        prototypes=pack_prototypes(prototypes),
        weights=pack_floats(weights),
        gamma=gamma,
        slope=1.0,
        intercept=_OFFSET,
    )


def score(turn: JudgedTurn, judge: Judge) -> tuple[float, ...]:
    """The score of each segment."""
    if not turn.texts.segments:
        return ()
    return tuple(map(float, judge.log_odds(turn.vectors[:-1], turn.vectors[-1], turn.flags, turn.language)))


def held_out_scores(
    turns: Sequence[JudgedTurn], on_style: Callable[[str], None] = lambda _style: None
) -> list[tuple[float, ...]]:
    """The score of each segment by a model fitted without the style of its turn, in the order of the turns.

    Raises:
        ValueError: There are fewer than two styles, or a fit has nothing to learn from.
    """
    styles = sorted({turn.row.style for turn in turns})
    if len(styles) < 2:
        message = f"leaving one style out needs rows of two styles or more, got {', '.join(styles) or 'none'}"
        raise ValueError(message)
    scores: dict[str, tuple[float, ...]] = {}
    for style in styles:
        judge = Judge.of(fit_judge([turn for turn in turns if turn.row.style != style]))
        scores |= {turn.row.id: score(turn, judge) for turn in turns if turn.row.style == style}
        on_style(style)
    return [scores[turn.row.id] for turn in turns]


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


def _raw(turn: JudgedTurn, means: Matrix, basis: Matrix) -> Matrix:
    return raw_features(turn.vectors[:-1], turn.vectors[-1], turn.flags, means[0], means[1], basis)


def _basis(rows: Matrix) -> Matrix:
    """The principal directions of the rows, each with the sign that makes its largest entry positive."""
    _, directions = np.linalg.eigh(rows.T @ rows)
    kept = directions.T[::-1][:COMPONENTS]
    largest = kept[np.arange(len(kept)), np.abs(kept).argmax(axis=1)]
    result: Matrix = kept * np.sign(largest)[:, None]
    return result


def _language_means(turns: Sequence[JudgedTurn]) -> tuple[tuple[str, ...], Matrix]:
    """Mean vectors of every language; one without turns has those of all."""
    dims = turns[0].vectors.shape[1]
    means = np.empty((len(LANGUAGES), 2, dims))
    for place, language in enumerate(LANGUAGES):
        own = [turn for turn in turns if turn.language == language] or turns
        means[place, 0] = np.vstack([turn.vectors[:-1] for turn in own]).mean(axis=0)
        means[place, 1] = np.vstack([turn.vectors[-1:] for turn in own]).mean(axis=0)
    return LANGUAGES, means


def _scaling(raw: Matrix, components: int) -> tuple[Matrix, Matrix]:
    """Means and scales of the features; a feature that never varies has scale 0."""
    weights = np.concatenate(
        (
            np.full(components, SEGMENT_WEIGHT),
            np.full(components, TURN_WEIGHT),
            np.full(raw.shape[1] - 2 * components, FLAG_WEIGHT),
        )
    )
    deviations = raw.std(axis=0)
    varies = deviations > 1e-9
    return raw.mean(axis=0), np.where(varies, weights / np.where(varies, deviations, 1.0), 0.0)


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


def _ridge(design: Matrix, between: Matrix, targets: Matrix, row_weights: Matrix) -> Matrix:
    """Weights of the prototypes: least squares with the penalty RIDGE · weightsᵀ · between · weights."""
    weighted: Matrix = design * row_weights[:, None]
    left: Matrix = design.T @ weighted + RIDGE * between + _JITTER * np.eye(len(between))
    return np.asarray(np.linalg.solve(left, weighted.T @ targets), dtype=np.float64)


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
