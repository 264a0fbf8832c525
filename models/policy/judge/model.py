"""The judge's model: how much a segment is like segments that state a fact, and like segments that do not.

score = intercept + slope · Σ weight_k · exp(-gamma · |x - prototype_k|²): a weighted sum over prototypes, which are
segments of the fit (a radial basis function network; C. K. I. Williams and M. Seeger, 2001, for choosing some of many).
A sum over the features themselves cannot tell "no longer", a fact of one's own team, from "no longer" in a log: a flag
means another thing beside others.
Cost: one product of (segments, features) with (features, prototypes).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import msgspec
import numpy as np

from recalld.models.policy.judge.features import CLIP, Matrix, raw_features, scaled
from recalld.models.policy.judge.flags import FLAG_NAMES
from recalld.models.policy.stop_words import DEFAULT_LANGUAGE

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
        )
        if not all(sizes) or DEFAULT_LANGUAGE not in self.languages:
            message = f"judge: sizes do not fit {features} features and {count} prototypes; fit the judge again"
            raise ValueError(message)
        numbers = (self.gamma, self.slope, self.intercept)
        is_finite = all(
            np.isfinite(_floats(each)).all() for each in (self.basis, self.means, self.scales, self.weights)
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
    prototypes: Matrix
    weights: Matrix
    gamma: float
    slope: float
    intercept: float

    @classmethod
    def of(cls, model: JudgeModel) -> Judge:
        """Unpack a model."""
        of_languages = _floats(model.language_means).reshape(len(model.languages), 2, model.dims)
        features = 2 * model.components + len(model.flags)
        return cls(
            means_of={
                name: (of_languages[place, 0], of_languages[place, 1]) for place, name in enumerate(model.languages)
            },
            basis=_floats(model.basis).reshape(model.components, model.dims),
            means=_floats(model.means),
            scales=_floats(model.scales),
            prototypes=np.frombuffer(model.prototypes, dtype=np.int8).reshape(-1, features).astype(np.float64) * _STEP,
            weights=_floats(model.weights),
            gamma=model.gamma,
            slope=model.slope,
            intercept=model.intercept,
        )

    def log_odds(self, segments: Matrix, turn: Matrix, flags: Matrix, language: str) -> Matrix:
        """How likely each segment states a fact worth storing, in log-odds; shapes as for `raw_features`."""
        means = self.means_of.get(language) or self.means_of[DEFAULT_LANGUAGE]
        seen = scaled(raw_features(segments, turn, flags, *means, self.basis), self.means, self.scales)
        result: Matrix = self.intercept + self.slope * (likeness(seen, self.prototypes, self.gamma) @ self.weights)
        return result


def likeness(rows: Matrix, prototypes: Matrix, gamma: float) -> Matrix:
    """exp(-gamma · squared distance) of each row to each prototype: shape (rows, prototypes)."""
    squares = (rows**2).sum(axis=1)[:, None] + (prototypes**2).sum(axis=1)[None, :] - 2.0 * rows @ prototypes.T
    result: Matrix = np.exp(-gamma * np.maximum(squares, 0.0))
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
