"""What a fit takes from the segments of its turns without looking at a label: scales, directions, phrases."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from recalld.models.calibration.admission_turns import JudgedTurn
from recalld.models.policy.judge.features import Matrix, raw_features, scaled
from recalld.models.policy.judge.model import unpack_prototypes
from recalld.models.policy.judge.phrases import Phrases
from recalld.models.policy.stop_words import LANGUAGES

GAMMA = 1.0
"""In units of one over the median squared length of the scaled features."""
COMPONENTS = 40
"""Directions of an embedding that are kept."""
SEGMENT_WEIGHT, TURN_WEIGHT, FLAG_WEIGHT = 1.0, 0.7, 0.6
"""How much each block counts in a distance. These, gamma and the number of components were found by leaving one style
out. So was that texts are embedded without the query prefix: with it nothing is gained, and each costs more."""
PHRASE_SEGMENTS_MIN = 3
"""Fewest segments that hold a phrase for it to count: names occur in one turn, frames in many."""
FREQUENT_MIN = 100
"""Segments from which on a phrase counts as frequent: products are taken together over frequent phrases, one by one
over the others."""


@dataclass(frozen=True, kw_only=True, slots=True)
class SeenFeatures:
    """Features of segments and what makes them of vectors and flags; see `JudgeModel`.

    Attributes:
        rows: Shape (segments, features), scaled, as they are after packing.
    """

    languages: tuple[str, ...]
    language_means: Matrix
    basis: Matrix
    means: Matrix
    scales: Matrix
    rows: Matrix
    gamma: float


def seen_features(turns: Sequence[JudgedTurn]) -> SeenFeatures:
    """The features of all segments, in the order of the turns; each turn must have one at least."""
    languages, language_means = _language_means(turns)
    places = [languages.index(turn.language) for turn in turns]
    basis = _basis(
        np.vstack([turn.vectors[:-1] - language_means[place, 0] for turn, place in zip(turns, places, strict=True)])
    )
    raw = np.vstack([_raw(turn, language_means[place], basis) for turn, place in zip(turns, places, strict=True)])
    means, scales = _scaling(raw, len(basis))
    rows = unpack_prototypes(scaled(raw, means, scales))
    return SeenFeatures(
        languages=languages,
        language_means=language_means,
        basis=basis,
        means=means,
        scales=scales,
        rows=rows,
        gamma=GAMMA / float(np.median((rows**2).sum(axis=1))),
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class PhraseRows:
    """The phrases of many segments as one sparse matrix, of which only those that count are columns.

    Attributes:
        known: Shape (columns,), ascending: the ids of the phrases that count.
        count: How many segments.
        segments: Shape (entries,): the row of each entry.
        columns: Shape (entries,): its column.
        values: Shape (entries,).
    """

    known: NDArray[np.uint32]
    count: int
    segments: NDArray[np.int64]
    columns: NDArray[np.int64]
    values: Matrix

    @classmethod
    def of(cls, phrases: Sequence[Phrases]) -> PhraseRows:
        """Put the phrases of segments together."""
        ids = np.concatenate([each.ids for each in phrases])
        found, columns, counts = np.unique(ids, return_inverse=True, return_counts=True)
        counts_enough = counts >= PHRASE_SEGMENTS_MIN
        kept = counts_enough[columns]
        return cls(
            known=found[counts_enough],
            count=len(phrases),
            segments=np.repeat(np.arange(len(phrases)), [len(each.ids) for each in phrases])[kept],
            columns=(np.cumsum(counts_enough) - 1)[columns[kept]],
            values=np.concatenate([each.values for each in phrases])[kept],
        )

    def combined(self, places: NDArray[np.int64], weights: Matrix) -> Matrix:
        """The weighted sum of some segments: shape (columns,). `weights` has shape (places,)."""
        of_segment = np.zeros(self.count)
        of_segment[places] = weights
        entries = of_segment[self.segments] * self.values
        result: Matrix = np.bincount(self.columns, weights=entries, minlength=len(self.known)).astype(np.float64)
        return result

    def sums(self, places: NDArray[np.int64], weights: Matrix) -> Matrix:
        """The weighted sum of the phrases of some segments: shape (places,). `weights` has shape (columns,)."""
        entries = weights[self.columns] * self.values
        result: Matrix = np.bincount(self.segments, weights=entries, minlength=self.count).astype(np.float64)
        return result[places]

    def products(self, places: NDArray[np.int64]) -> NDArray[np.float32]:
        """The product of each two of some segments: shape (places, places)."""
        place_of = np.full(self.count, -1)
        place_of[places] = np.arange(len(places))
        kept = place_of[self.segments] >= 0
        order = np.argsort(self.columns[kept], kind="stable")
        rows = place_of[self.segments[kept]][order]
        values = self.values[kept][order].astype(np.float32)
        counts = np.bincount(self.columns[kept], minlength=len(self.known))
        ends = np.cumsum(counts)
        frequent = np.flatnonzero(counts >= FREQUENT_MIN)
        together = np.zeros((len(places), len(frequent)), dtype=np.float32)
        for column, phrase in enumerate(frequent):
            part = slice(ends[phrase] - counts[phrase], ends[phrase])
            together[rows[part], column] = values[part]
        result: NDArray[np.float32] = together @ together.T
        for phrase in np.flatnonzero((counts > 0) & (counts < FREQUENT_MIN)):
            part = slice(ends[phrase] - counts[phrase], ends[phrase])
            result[np.ix_(rows[part], rows[part])] += np.outer(values[part], values[part])
        return result


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
