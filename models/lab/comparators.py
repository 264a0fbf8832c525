"""The numbers of the designs that the gate is compared with, fitted where the gate's own were."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

import msgspec

from recalld.models.policy.head_inputs import HeadInput
from recalld.models.policy.logistic_head import LogisticHead

FEATURES_WITH_ASKS = (
    HeadInput.COSINE,
    HeadInput.CUE_COSINE,
    HeadInput.ASK_COSINE,
    HeadInput.ASK_MEAN,
    HeadInput.QUERY_LENGTH,
    HeadInput.IS_QUESTION,
    HeadInput.NAMES_HELD,
)
FEATURES_WITHOUT_ASKS = tuple(
    name for name in FEATURES_WITH_ASKS if name not in {HeadInput.ASK_COSINE, HeadInput.ASK_MEAN}
)


class Comparators(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Thresholds and heads of the compared designs.

    Attributes:
        provenance: In words: what data, with which command.
        target_retention: The share of servable rows that each threshold keeps on that data.
        three_views: Of the sigmoid of the largest logit over the views without a cue.
        cues: The same over all views.
        best_ask: Of the cosine of the nearest ask.
        contrast_z: Of standard deviations above the mean of the list.
        features: Of what the heads make of everything but the cross-encoder.
        with_asks: Head for records with asks.
        without_asks: Head for the others.
    """

    provenance: str
    target_retention: float
    three_views: float
    cues: float
    best_ask: float
    contrast_z: float
    features: float
    with_asks: LogisticHead
    without_asks: LogisticHead


@cache
def shipped_comparators() -> Comparators:
    """Those that come with the package; `tests/calibration/fit_comparators.py` fits them."""
    return msgspec.json.decode(
        (files("recalld.models.lab") / "data" / "comparators.json").read_bytes(), type=Comparators
    )
