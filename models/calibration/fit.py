"""Fitting a calibration: heads, threshold and floors from labelled turns, and an honest report.

Turns are never split by row: the report leaves out one whole source at a time, or, when there is only one source, one
fifth of its conversations.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import numpy as np

from recalld.models.calibration.labelled import LabelledTurn, retention, silence
from recalld.models.calibration.logistic import fit_head
from recalld.models.calibration.record import CalibrationKeys, CalibrationRecord, SourceReport
from recalld.models.calibration.threshold import choose_floors, choose_margin, choose_threshold
from recalld.models.policy.relevance import HeadInput, LogisticHead, RelevanceModel, head_inputs, log_odds

HEADS = (
    (HeadInput.LOGIT, HeadInput.CUE_COSINE, HeadInput.ASK_COSINE),
    (HeadInput.LOGIT, HeadInput.COSINE),
    (HeadInput.LOGIT,),
)
"""With asks, without asks, without vectors."""
OWN_CANDIDATES_MIN = 50
"""Candidates of its own that a later head needs for an intercept of its own."""
FOLDS = 5
_SHIFT_MAX = 10.0
_BISECTIONS = 60
_ANY_THRESHOLD = 0.5


class CalibrationInfo(msgspec.Struct, frozen=True, kw_only=True):
    """What a fit cannot know by itself; see `CalibrationRecord`."""

    id: str
    date: str
    provenance: str
    keys: CalibrationKeys
    corpus_id: str
    corpus_sha256: str


def fit_calibration(
    turns: Sequence[LabelledTurn], *, info: CalibrationInfo, target_retention: float = 0.95
) -> CalibrationRecord:
    """Fit heads, threshold and floors, and report how they do here and on sources left out.

    Deterministic: the same turns give the same record.

    Raises:
        ValueError: The target is not in (0, 1], or some head finds no relevant or no irrelevant candidate to learn
        from.
    """
    if not 0.0 < target_retention <= 1.0:
        message = f"target_retention must be in (0, 1], got {target_retention}"
        raise ValueError(message)
    model = fit_model(turns, target_retention=target_retention)
    return CalibrationRecord(
        id=info.id,
        date=info.date,
        provenance=info.provenance,
        keys=info.keys,
        corpus_id=info.corpus_id,
        corpus_sha256=info.corpus_sha256,
        n=len(turns),
        positives=sum(turn.is_answerable for turn in turns),
        target_retention=target_retention,
        retention=retention(turns, model),
        silence=silence(turns, model),
        held_out=report_held_out(turns, target_retention=target_retention),
        floors=choose_floors(turns),
        heads=model.heads,
        threshold=model.threshold,
        margin=model.margin,
    )


def fit_model(turns: Sequence[LabelledTurn], *, target_retention: float) -> RelevanceModel:
    """Fit every head and one threshold over all of them.

    A later head learns its weights from all candidates that have its inputs, and its intercept from those it will
    really judge: the ones that no earlier head can. They are relevant less often than the others, because fewer texts
    of theirs could nominate them, and without that correction they would pass far too easily.
    """
    heads: list[LogisticHead] = []
    for inputs in HEADS:
        head = _fit_one(turns, inputs)
        heads.append(_calibrated_in_the_large(turns, head, earlier=heads) if heads else head)
    model = RelevanceModel(heads=tuple(heads), threshold=_ANY_THRESHOLD)
    cut = msgspec.structs.replace(model, threshold=choose_threshold(turns, model, target_retention=target_retention))
    return msgspec.structs.replace(cut, margin=choose_margin(turns, cut))


def report_held_out(turns: Sequence[LabelledTurn], *, target_retention: float) -> tuple[SourceReport, ...]:
    """Fit on all groups but one, try on that one; empty when there is only one group."""
    groups = _groups(turns)
    if len(groups) < 2:
        return ()
    reports: list[SourceReport] = []
    for name, held_out in groups.items():
        others = [turn for other, group in groups.items() if other != name for turn in group]
        model = fit_model(others, target_retention=target_retention)
        reports.append(
            SourceReport(
                source=name,
                threshold=model.threshold,
                retention=retention(held_out, model),
                silence=silence(held_out, model),
            )
        )
    return tuple(reports)


def _groups(turns: Sequence[LabelledTurn]) -> dict[str, list[LabelledTurn]]:
    """By source, or, of a single source, by conversation in at most `FOLDS` folds."""
    groups: dict[str, list[LabelledTurn]] = {}
    sources = sorted({turn.source for turn in turns})
    conversations = sorted({turn.conversation for turn in turns})
    folds = {conversation: f"fold {place % FOLDS + 1}" for place, conversation in enumerate(conversations)}
    for turn in turns:
        name = turn.source if len(sources) > 1 else folds[turn.conversation]
        groups.setdefault(name, []).append(turn)
    return groups


def _fit_one(turns: Sequence[LabelledTurn], inputs: tuple[HeadInput, ...]) -> LogisticHead:
    """Fit one head on the candidates that have its inputs; each turn counts the same, whatever its candidates."""
    features: list[tuple[float, ...]] = []
    labels: list[float] = []
    weights: list[float] = []
    for turn in turns:
        for candidate in turn.candidates:
            values = head_inputs(candidate.evidence, inputs)
            if values is not None:
                features.append(values)
                labels.append(float(candidate.is_relevant))
                weights.append(1.0 / len(turn.candidates))
    if not 0.0 < sum(labels) < len(labels):
        message = f"the head over {', '.join(inputs)} needs relevant and irrelevant candidates that have these inputs"
        raise ValueError(message)
    return fit_head(inputs, np.asarray(features), np.asarray(labels), np.asarray(weights))


def _calibrated_in_the_large(
    turns: Sequence[LabelledTurn], head: LogisticHead, *, earlier: Sequence[LogisticHead]
) -> LogisticHead:
    """Move the intercept until the mean relevance of the head's own candidates equals their share of relevant ones.

    With fewer than `OWN_CANDIDATES_MIN` candidates of its own the head stays as it is.
    """
    relevances: list[float] = []
    labels: list[float] = []
    for turn in turns:
        for candidate in turn.candidates:
            if any(head_inputs(candidate.evidence, other.inputs) is not None for other in earlier):
                continue
            values = head_inputs(candidate.evidence, head.inputs)
            if values is not None:
                relevances.append(head.relevance(values))
                labels.append(float(candidate.is_relevant))
    if len(labels) < OWN_CANDIDATES_MIN:
        return head
    # Half a success and half a failure more: a share of 0 or 1 among few would move the intercept without bound.
    share = (sum(labels) + 0.5) / (len(labels) + 1.0)
    odds = np.asarray([log_odds(value) for value in relevances])
    low, high = -_SHIFT_MAX, _SHIFT_MAX
    for _ in range(_BISECTIONS):
        middle = (low + high) / 2.0
        if float(np.mean(1.0 / (1.0 + np.exp(-(odds + middle))))) < share:
            low = middle
        else:
            high = middle
    return msgspec.structs.replace(head, intercept=head.intercept + (low + high) / 2.0)
