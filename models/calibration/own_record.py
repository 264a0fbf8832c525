"""From labelled turns of one's own to a calibration record, with an honest report of what to expect."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from recalld.models.calibration.fit import CalibrationInfo
from recalld.models.calibration.fit_own import (
    OwnFitOptions,
    Progress,
    Volume,
    first_candidates,
    fit_own,
    folds_of,
    is_floor_served,
    volume_of,
)
from recalld.models.calibration.intervals import Proportion, wilson
from recalld.models.calibration.labelled import LabelledTurn, best_score, is_kept, silence
from recalld.models.calibration.record import CalibrationRecord, SourceReport
from recalld.models.calibration.threshold import choose_floors
from recalld.models.policy.drift.histogram import Histogram, histogram_of
from recalld.models.policy.relevance import RelevanceModel

GROUPS_MIN = 3
"""Conversations, or folds of them, below which none can be left out: the fit on the rest needs two, to be tried on each
other."""
SOURCES_MIN = 2
"""Sources from which on one is left out at a time, if there is something to fit on without each of them."""
_PART_MIN = Volume(turns=1, positives=1, negatives=1, conversations=2)
"""What is left when a group is out need not be enough for a record."""


class Group(msgspec.Struct, frozen=True, kw_only=True):
    """Turns that are left out together."""

    name: str
    turns: tuple[LabelledTurn, ...]


def own_record(
    turns: Sequence[LabelledTurn],
    *,
    info: CalibrationInfo,
    options: OwnFitOptions,
    on_progress: Progress | None = None,
) -> CalibrationRecord:
    """Fit a record and report how it does here, and how a fit on the rest does on each group left out.

    Retention is that of the turns that the floor alone serves; see `fit_own`. Deterministic.

    Args:
        turns: With candidates in the floor's order, all of them scored.
        info: Goes into the record.
        options: How to fit.
        on_progress: Called after each group with the groups done and all groups.

    Raises:
        InsufficientDataError: There is too little; the message has the counts.
        ValueError: No candidate is relevant, or all are.
    """
    model = fit_own(turns, options)
    return CalibrationRecord(
        id=info.id,
        date=info.date,
        provenance=info.provenance,
        keys=info.keys,
        corpus_id=info.corpus_id,
        corpus_sha256=info.corpus_sha256,
        n=len(turns),
        positives=sum(turn.is_answerable for turn in turns),
        target_retention=options.target_retention,
        retention=floor_retention(turns, model),
        silence=_silence(turns, model),
        held_out=report_own_held_out(turns, options, on_progress=on_progress),
        floors=choose_floors(turns),
        heads=model.heads,
        threshold=model.threshold,
        margin=model.margin,
        kind_thresholds=model.kind_thresholds,
        candidates_max=model.candidates_max,
        is_own=True,
        scores=_score_sample(turns, model),
    )


def report_own_held_out(
    turns: Sequence[LabelledTurn], options: OwnFitOptions, *, on_progress: Progress | None = None
) -> tuple[SourceReport, ...]:
    """Fit without each group, try on it; empty when there are too few, see `GROUPS_MIN` and `SOURCES_MIN`.

    Args:
        turns: As for `own_record`.
        options: How to fit; the volume that it asks for is not asked of the parts.
        on_progress: Called after each group with the groups done and all groups.
    """
    groups = groups_of(turns)
    if not groups:
        return ()
    part_options = msgspec.structs.replace(options, volume_min=_PART_MIN)
    reports: list[SourceReport] = []
    for group in groups:
        model = fit_own([turn for other in groups if other is not group for turn in other.turns], part_options)
        reports.append(
            SourceReport(
                source=group.name,
                threshold=model.threshold,
                retention=floor_retention(group.turns, model),
                silence=_silence(group.turns, model),
            )
        )
        if on_progress is not None:
            on_progress(len(reports), len(groups))
    return tuple(reports)


def groups_of(turns: Sequence[LabelledTurn]) -> list[Group]:
    """What is left out at a time: a source, where there are several and no conversation is in two; else conversations.

    Many conversations are put together in folds; of too few, none is left out.
    """
    by_source: dict[str, list[LabelledTurn]] = {}
    for turn in turns:
        by_source.setdefault(turn.source, []).append(turn)
    conversations = [{turn.conversation for turn in mine} for mine in by_source.values()]
    is_apart = len(frozenset().union(*conversations)) == sum(map(len, conversations))
    if len(by_source) >= SOURCES_MIN and is_apart and all(_can_do_without(turns, name) for name in by_source):
        return [Group(name=name, turns=tuple(mine)) for name, mine in sorted(by_source.items())]
    folds = [[turns[place] for place in sorted(places)] for places in folds_of(turns)]
    if len(folds) < GROUPS_MIN:
        return []
    return [Group(name=", ".join(sorted({turn.conversation for turn in mine})), turns=tuple(mine)) for mine in folds]


def _can_do_without(turns: Sequence[LabelledTurn], source: str) -> bool:
    """Whether there is something to fit on, and to try it on, without a source."""
    rest = volume_of([turn for turn in turns if turn.source != source])
    return (
        rest.positives >= _PART_MIN.positives
        and rest.negatives >= _PART_MIN.negatives
        and rest.conversations >= _PART_MIN.conversations
    )


def floor_retention(turns: Sequence[LabelledTurn], model: RelevanceModel) -> Proportion:
    """Of the turns that the floor alone serves, those that keep a relevant memory."""
    served = [turn for turn in turns if is_floor_served(turn)]
    return wilson(sum(is_kept(turn, model) for turn in _judged(served, model)), len(served))


def _score_sample(turns: Sequence[LabelledTurn], model: RelevanceModel) -> Histogram:
    """The highest relevance of each turn with a candidate: what live recalls are compared with later."""
    return histogram_of([best_score(turn, model) for turn in _judged(turns, model) if turn.candidates])


def _silence(turns: Sequence[LabelledTurn], model: RelevanceModel) -> Proportion:
    return silence(_judged(turns, model), model)


def _judged(turns: Sequence[LabelledTurn], model: RelevanceModel) -> Sequence[LabelledTurn]:
    return turns if model.candidates_max is None else first_candidates(turns, model.candidates_max)
