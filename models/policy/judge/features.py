"""What the judge's model sees of a segment: its vector, its turn's vector and its flags, on one scale.

A vector says what a text is about in a language as much as what it says. So each is seen as what sets it apart from the
mean of its language: without that, every sentence of a language other than English is like every other one. And only
the directions in which segments differ most are kept: those left over tell one topic from another, not how it is meant.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from recalld.models.policy.judge.flags import FLAG_NAMES

Matrix = NDArray[np.float64]

CLIP: Final = 4.0
"""Standard deviations at which a feature is cut off: a flag that is set once in a thousand segments must not decide."""
FLAG_COUNT: Final = len(FLAG_NAMES)


def raw_features(
    segments: Matrix, turn: Matrix, flags: Matrix, mean_segment: Matrix, mean_turn: Matrix, basis: Matrix
) -> Matrix:
    """Vectors, along the directions in which segments differ most, and flags side by side, unscaled.

    Args:
        segments: Shape (segments, dims).
        turn: Shape (dims,): the vector of the turn as a whole.
        flags: Shape (segments, `FLAG_COUNT`).
        mean_segment: Shape (dims,): of the segments of this language.
        mean_turn: Shape (dims,): of its turns.
        basis: Shape (components, dims).

    Returns:
        Shape (segments, 2 · components + `FLAG_COUNT`).
    """
    own = (segments - mean_segment) @ basis.T
    turns = np.broadcast_to((turn - mean_turn) @ basis.T, own.shape)
    return np.hstack((own, turns, flags))


def scaled(raw: Matrix, means: Matrix, scales: Matrix) -> Matrix:
    """The features as the model compares them: shifted by `means`, multiplied by `scales`, cut off at `CLIP`.

    `scales` holds the weight of a feature's block over its standard deviation; 0 for one that never varies.
    """
    return np.clip((raw - means) * scales, -CLIP, CLIP)
