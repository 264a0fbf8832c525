"""The logistic function and its inverse, without overflow."""

from __future__ import annotations

import math

_EDGE = 1e-12


def sigmoid(logit: float) -> float:
    """1 / (1 + exp(-logit)), without overflow."""
    if logit >= 0:
        return 1.0 / (1.0 + math.exp(-logit))
    grown = math.exp(logit)
    return grown / (1.0 + grown)


def log_odds(share: float) -> float:
    """log(p / (1 - p)), with p kept a little inside (0, 1)."""
    inside = min(max(share, _EDGE), 1.0 - _EDGE)
    return math.log(inside / (1.0 - inside))
