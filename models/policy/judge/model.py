"""The judge's model: how much a segment is like segments that state a fact, and like segments that do not.

score = intercept + slope · (Σ weight_k · exp(-gamma · |x - prototype_k|²) + Σ weight_p · value_p): a weighted sum over
prototypes, which are segments of the fit, and one over the phrases of the segment. Both are one kernel machine, whose
kernel is the sum of two (C. E. Rasmussen and C. K. I. Williams, Gaussian Processes for Machine Learning, 2006, 4.2.4).
A sum over flags cannot tell "no longer", a fact of one's own team, from "no longer" in a log: a flag means another
thing beside others. A distance knows no single word: phrases do.
Cost: one product of (segments, features) with (features, prototypes), and one look-up a phrase.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import msgspec
import numpy as np
from numpy.typing import NDArray

from recalld.models.policy.judge.features import CLIP, Matrix, raw_features, scaled
from recalld.models.policy.judge.flags import FLAG_NAMES
from recalld.models.policy.judge.phrases import Phrases
from recalld.models.policy.stop_words import DEFAULT_LANGUAGE

Kernel = NDArray[np.float32]

_STEP = CLIP / 127.0
"""Prototypes are kept as signed bytes in units of this."""


class JudgeModel(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A fitted model. Numbers in many are little-endian float32 bytes; prototypes signed bytes.

    Attributes:
        flags: The flags it was fitted with, in order; they must be `FLAG_NAMES`.
        dims: Width of an embedding.
        components: How many directions of it are kept.
        languages: Languages with means of their own.
        language_means: Shape (languages, 2, dims): mean vector of segments and of turns.
        basis: Shape (components, dims).
        means: Shape (features,).
        scales: Shape (features,).
        prototypes: Shape (prototypes, features).
        weights: Shape (prototypes,).
        gamma: How fast likeness falls with the squared distance.
        slope: Makes log-odds of the sum.
        intercept: In log-odds.
        phrase_ids: Shape (phrases,), little-endian unsigned integers of 32 bits, ascending; see `phrases.Phrases`.
            None in a record of before they were read.
        phrase_weights: Shape (phrases,).

    Raises:
        ValueError: Sizes differ, a number is not finite, or the flags are others than those this code reads.
    """

    flags: tuple[str, ...]
    dims: int
    components: int
    languages: tuple[str, ...]
    language_means: bytes
    basis: bytes
    means: bytes
    scales: bytes
    prototypes: bytes
    weights: bytes
    gamma: float
    slope: float
    intercept: float
    phrase_ids: bytes = b""
    phrase_weights: bytes = b""

    def __post_init__(self) -> None:
        if self.flags != tuple(map(str, FLAG_NAMES)):
            message = "judge.flags are not the flags that this version reads; fit the judge again"
            raise ValueError(message)
        features = 2 * self.components + len(self.flags)
        count = len(self.weights) // 4
        sizes = (
            len(self.language_means) == 8 * self.dims * len(self.languages),
            len(self.basis) == 4 * self.dims * self.components,
            len(self.means) == len(self.scales) == 4 * features,
            count > 0 and len(self.prototypes) == count * features,
            len(self.phrase_ids) == len(self.phrase_weights) and len(self.phrase_ids) % 4 == 0,
        )
        if not all(sizes) or DEFAULT_LANGUAGE not in self.languages:
            message = f"judge: sizes do not fit {features} features and {count} prototypes; fit the judge again"
            raise ValueError(message)
        if (np.diff(_ids(self.phrase_ids).astype(np.int64)) <= 0).any():
            message = "judge.phrase_ids must ascend; fit the judge again"
            raise ValueError(message)
        numbers = (self.gamma, self.slope, self.intercept)
        is_finite = all(
            np.isfinite(_floats(each)).all()
            for each in (self.basis, self.means, self.scales, self.weights, self.phrase_weights)
        )
        if not is_finite or not all(map(math.isfinite, numbers)) or self.gamma <= 0 or self.slope <= 0:
            message = "judge: every number must be finite, gamma and slope positive; fit the judge again"
            raise ValueError(message)


@dataclass(frozen=True, kw_only=True, slots=True)
class Judge:
    """A model ready for use."""

    means_of: Mapping[str, tuple[Matrix, Matrix]]
    basis: Matrix
    means: Matrix
    scales: Matrix
    prototypes: Kernel
    squares: Kernel
    weights: Matrix
    phrase_ids: NDArray[np.uint32]
    phrase_weights: Matrix
    gamma: float
    slope: float
    intercept: float

    @classmethod
    def of(cls, model: JudgeModel) -> Judge:
        """Unpack a model."""
        of_languages = _floats(model.language_means).reshape(len(model.languages), 2, model.dims)
        features = 2 * model.components + len(model.flags)
        prototypes = _bytes(model.prototypes).reshape(-1, features) * np.float32(_STEP)
        return cls(
            means_of={
                name: (of_languages[place, 0], of_languages[place, 1]) for place, name in enumerate(model.languages)
            },
            basis=_floats(model.basis).reshape(model.components, model.dims),
            means=_floats(model.means),
            scales=_floats(model.scales),
            prototypes=prototypes,
            squares=squared_lengths(prototypes),
            weights=_floats(model.weights),
            phrase_ids=_ids(model.phrase_ids),
            phrase_weights=_floats(model.phrase_weights),
            gamma=model.gamma,
            slope=model.slope,
            intercept=model.intercept,
        )

    def log_odds(
        self, segments: Matrix, turn: Matrix, flags: Matrix, phrases: Sequence[Phrases], language: str
    ) -> Matrix:
        """How likely each segment states a fact worth storing, in log-odds.

        Args:
            segments: As for `raw_features`.
            turn: As there.
            flags: As there.
            phrases: Those of each segment.
            language: Of the turn.
        """
        means = self.means_of.get(language) or self.means_of[DEFAULT_LANGUAGE]
        seen = scaled(raw_features(segments, turn, flags, *means, self.basis), self.means, self.scales)
        by_likeness = likeness(seen, self.prototypes, self.squares, self.gamma) @ self.weights
        by_wording = np.asarray([weigh(each, self.phrase_ids, self.phrase_weights) for each in phrases])
        result: Matrix = self.intercept + self.slope * (by_likeness + by_wording)
        return result


def weigh(phrases: Phrases, known: NDArray[np.uint32], weights: Matrix) -> float:
    """The sum of the phrases' values, each times its weight; a phrase that is not known weighs nothing.

    Args:
        phrases: Of a segment.
        known: Shape (known,), ascending.
        weights: Shape (known,).
    """
    if not len(known):
        return 0.0
    places = np.minimum(np.searchsorted(known, phrases.ids), len(known) - 1)
    return float(np.where(known[places] == phrases.ids, weights[places] * phrases.values, 0.0).sum())


def likeness(rows: Matrix, prototypes: Kernel, squares: Kernel, gamma: float) -> Kernel:
    """exp(-gamma · squared distance) of each row to each prototype, in single precision.

    Args:
        rows: Shape (rows, features).
        prototypes: Shape (prototypes, features).
        squares: Shape (prototypes,): their `squared_lengths`.
        gamma: See `JudgeModel`.

    Returns:
        Shape (rows, prototypes).
    """
    own = rows.astype(np.float32)
    distances = own @ prototypes.T
    distances *= np.float32(-2.0)
    distances += squared_lengths(own)[:, None]
    distances += squares
    np.maximum(distances, np.float32(0.0), out=distances)
    distances *= np.float32(-gamma)
    result: Kernel = np.exp(distances, out=distances)
    return result


def squared_lengths(rows: Kernel) -> Kernel:
    """Of each row: shape (rows,)."""
    result: Kernel = np.einsum("ij,ij->i", rows, rows)
    return result


def pack_floats(values: Matrix) -> bytes:
    """Numbers as a record keeps them."""
    return np.ascontiguousarray(values, dtype="<f4").tobytes()


def pack_prototypes(rows: Matrix) -> bytes:
    """Scaled features as a record keeps them."""
    return np.rint(rows / _STEP).astype(np.int8).tobytes()


def unpack_prototypes(rows: Matrix) -> Matrix:
    """What is left of scaled features after packing, so that a fit sees what will be used."""
    return np.rint(rows / _STEP) * _STEP


def _floats(values: bytes) -> Matrix:
    return np.frombuffer(values, dtype="<f4").astype(np.float64)


def pack_ids(values: NDArray[np.uint32]) -> bytes:
    """Ids as a record keeps them."""
    return np.ascontiguousarray(values, dtype="<u4").tobytes()


def _ids(values: bytes) -> NDArray[np.uint32]:
    return np.frombuffer(values, dtype="<u4").astype(np.uint32)


def _bytes(values: bytes) -> Kernel:
    return np.frombuffer(values, dtype=np.int8).astype(np.float32)
