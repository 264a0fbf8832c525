"""From labelled turns to a judge's calibration record: prepare, leave one style out, fit, report."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import msgspec

from recalld.models.calibration.admission_data import AdmissionRow, undisputed
from recalld.models.calibration.admission_fit import (
    JudgeFit,
    StyleReport,
    choose_thresholds,
    in_log_odds,
    log_odds_of,
    rates_at,
)
from recalld.models.calibration.admission_record import AdmissionRecord
from recalld.models.calibration.admission_turns import Embed, JudgedTurn, prepare_row

Scores = Sequence[tuple[float, ...]]
ALL_STYLES = "all"


class Steps(msgspec.Struct, frozen=True, kw_only=True):
    """Who is told how far a calibration is.

    Attributes:
        on_turn: After each turn that was embedded.
        on_style: After each style that was left out.
    """

    on_turn: Callable[[], None] = lambda: None
    on_style: Callable[[str], None] = lambda _style: None


class AdmissionInfo(msgspec.Struct, frozen=True, kw_only=True):
    """What a fit cannot know by itself; see `AdmissionRecord`."""

    id: str
    date: str
    provenance: str
    embedder_key: str
    corpus_sha256: str


def calibrate_admission(
    rows: Sequence[AdmissionRow], embed: Embed, info: AdmissionInfo, steps: Steps | None = None
) -> AdmissionRecord:
    """Fit a judge. Deterministic: the same rows, on the same machine, give the same record.

    Args:
        rows: Labelled turns, disputed ones included.
        embed: Embeds without the query prefix.
        info: Goes into the record.
        steps: Told of progress.

    Raises:
        ValueError: Too few styles, or nothing to learn from.
    """
    told = steps or Steps()
    turns = prepare_rows(undisputed(rows), embed, told.on_turn)
    fit = JudgeFit(turns)
    scores = fit.held_out_scores(told.on_style)
    model = in_log_odds(fit.model(), turns, scores)
    odds = log_odds_of(model, scores)
    thresholds = choose_thresholds(turns, odds)
    return AdmissionRecord(
        id=info.id,
        date=info.date,
        provenance=info.provenance,
        embedder_key=info.embedder_key,
        corpus_sha256=info.corpus_sha256,
        n=len(turns),
        positives=sum(bool(turn.row.facts) for turn in turns),
        disputed=len(rows) - len(turns),
        thresholds=thresholds,
        balanced=by_style(turns, odds, thresholds.balanced),
        strict=by_style(turns, odds, thresholds.strict),
        model=model,
    )


def prepare_rows(
    rows: Sequence[AdmissionRow], embed: Embed, on_turn: Callable[[], None] = lambda: None
) -> list[JudgedTurn]:
    """Every row as the judge sees it."""
    turns: list[JudgedTurn] = []
    for row in rows:
        turns.append(prepare_row(row, embed))
        on_turn()
    return turns


def by_style(turns: Sequence[JudgedTurn], scores: Scores, threshold: float) -> tuple[StyleReport, ...]:
    """Both rates over all turns, then for each style."""
    groups: Mapping[str, list[int]] = {
        style: [place for place, turn in enumerate(turns) if turn.row.style == style]
        for style in sorted({turn.row.style for turn in turns})
    }
    return (
        rates_at(turns, scores, threshold, style=ALL_STYLES),
        *(
            rates_at([turns[each] for each in places], [scores[each] for each in places], threshold, style=style)
            for style, places in groups.items()
        ),
    )
