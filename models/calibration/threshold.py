"""Choosing the threshold and the floors."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from recalld.models.calibration.labelled import LabelledTurn, best_relevant, passes
from recalld.models.domain.recall import Evidence
from recalld.models.domain.records import MemoryKind
from recalld.models.policy.floor import FloorResult, FloorValues, passes_floor
from recalld.models.policy.relevance import KindThreshold, RelevanceModel, relevance
from recalld.models.policy.sigmoid import log_odds

FLOOR_RETENTION = 0.99
"""Share of relevant candidates that the floor must let through: it only saves time, the gate decides."""
MARGIN_KEPT = 0.99
"""Share of the relevant candidates above the threshold that the margin must leave: it only tidies up."""
MARGIN_STEP = 0.25
KIND_POSITIVES_MIN = 60
"""Relevant memories of a kind below which it gets no threshold of its own: of fewer than so many, the share that a
threshold keeps is known no better than to a tenth either way."""
_FLOOR_STEPS = 200
_EDGE = 1e-9
_COSINE_EDGE = 0.999


def choose_threshold(turns: Sequence[LabelledTurn], model: RelevanceModel, *, target_retention: float) -> float:
    """The highest threshold whose retention, averaged over the sources, still meets the target.

    Silence never falls as the threshold rises, so the highest one is the most silent one. The average over sources
    keeps a large source from deciding for the small ones.

    Raises:
        ValueError: No turn has a relevant candidate.
    """
    return threshold_keeping(best_scores(turns, model), target_retention=target_retention)


def best_scores(turns: Sequence[LabelledTurn], model: RelevanceModel) -> dict[str, list[float]]:
    """For each source the highest relevance among the relevant candidates, of each turn that has any."""
    by_source: dict[str, list[float]] = {}
    for turn in turns:
        if turn.is_servable:
            by_source.setdefault(turn.source, []).append(best_relevant(turn, model))
    return by_source


def threshold_keeping(by_source: Mapping[str, Sequence[float]], *, target_retention: float) -> float:
    """The highest threshold that keeps the target of the scores, averaged over the sources; see `choose_threshold`.

    Raises:
        ValueError: There is no source.
    """
    if not by_source:
        message = "no turn has a relevant candidate: there is nothing to choose a threshold on"
        raise ValueError(message)
    ranked = [np.sort(np.asarray(scores)) for scores in by_source.values()]

    def macro_retention(threshold: float) -> float:
        kept = [1.0 - np.searchsorted(scores, threshold, side="left") / len(scores) for scores in ranked]
        return math.fsum(map(float, kept)) / len(kept)

    reachable = sorted({float(score) for scores in ranked for score in scores}, reverse=True)
    best = next(score for score in reachable if macro_retention(score) >= target_retention - _EDGE)
    return min(max(best, _EDGE), 1.0 - _EDGE)


def choose_kind_thresholds(
    turns: Sequence[LabelledTurn], model: RelevanceModel, *, target_retention: float
) -> tuple[KindThreshold, ...]:
    """For each kind with `KIND_POSITIVES_MIN` relevant memories, the highest threshold that keeps the target of them.

    Of each turn and kind the best relevant memory counts.
    """
    by_kind: dict[MemoryKind, list[float]] = {}
    for turn in turns:
        best: dict[MemoryKind, float] = {}
        for item in turn.candidates:
            value = relevance(item.evidence, model)
            if item.is_relevant and item.kind is not None and value is not None:
                best[item.kind] = max(value, best.get(item.kind, value))
        for kind, value in best.items():
            by_kind.setdefault(kind, []).append(value)
    chosen: list[KindThreshold] = []
    for kind, values in sorted(by_kind.items()):
        if len(values) >= KIND_POSITIVES_MIN:
            lost = math.floor((1.0 - target_retention) * len(values) + _EDGE)
            threshold = min(max(sorted(values)[lost], _EDGE), 1.0 - _EDGE)
            chosen.append(KindThreshold(kind=kind, threshold=threshold, positives=len(values)))
    return tuple(chosen)


def choose_floors(turns: Sequence[LabelledTurn], *, retention: float = FLOOR_RETENTION) -> FloorValues:
    """The highest common quantile of record, cue and ask cosine that keeps `retention` of the relevant candidates.

    A candidate passes with its best channel, so each channel may stand far above its own minimum. A channel that never
    occurs gets a floor that nothing passes.

    Raises:
        ValueError: No relevant candidate has a cosine.
    """
    evidence = [item.evidence for turn in turns for item in turn.candidates if item.is_relevant]
    measured = [each for each in evidence if each.cosine is not None]
    if not measured:
        message = "no relevant candidate has a cosine: there is nothing to choose a floor on"
        raise ValueError(message)
    for step in range(_FLOOR_STEPS, 0, -1):
        floors = _floors_at(measured, step / _FLOOR_STEPS)
        kept = sum(passes_floor(each, floors) is FloorResult.PASSED for each in measured)
        if kept >= retention * len(measured):
            return floors
    return _floors_at(measured, 0.0)


def _floors_at(evidence: Sequence[Evidence], quantile: float) -> FloorValues:
    def floor(cosines: list[float | None]) -> float:
        known = [cosine for cosine in cosines if cosine is not None]
        value = float(np.quantile(known, quantile, method="lower")) if known else _COSINE_EDGE
        return min(max(value, -_COSINE_EDGE), _COSINE_EDGE)

    return FloorValues(
        record=floor([each.cosine for each in evidence]),
        cue=floor([each.cue_cosine for each in evidence]),
        ask=floor([each.ask_cosine for each in evidence]),
    )


def choose_margin(turns: Sequence[LabelledTurn], model: RelevanceModel) -> float | None:
    """The smallest margin behind the best item that costs almost no relevant memory; None when any would.

    Of the relevant candidates that pass the threshold, `MARGIN_KEPT` must still pass.
    """
    distances: list[float] = []
    for turn in turns:
        passed = [
            (value, item.is_relevant)
            for item in turn.candidates
            if (value := relevance(item.evidence, model)) is not None and passes(item, model)
        ]
        best = max((log_odds(value) for value, _ in passed), default=0.0)
        distances += [best - log_odds(value) for value, is_relevant in passed if is_relevant]
    if not distances:
        return None
    needed = float(np.quantile(np.asarray(distances), MARGIN_KEPT, method="higher"))
    return max(math.ceil(needed / MARGIN_STEP) * MARGIN_STEP, MARGIN_STEP)
