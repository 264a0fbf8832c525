"""Judges that have not seen what they judge: one for each style of the package's turns, fitted on the others."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final

import msgspec

from recalld.daemon.evaluation.meter import Meter
from recalld.models.calibration.admission_calibrate import prepare_rows
from recalld.models.calibration.admission_data import AdmissionRow
from recalld.models.calibration.admission_fit import JudgeFit
from recalld.models.policy.judge.model import Judge, JudgeModel

EMBEDDING: Final = "embedding turns"
FITTING: Final = "fitting without each style"


def held_out_judges(
    shipped: JudgeModel, rows: Sequence[AdmissionRow], meter: Meter, on_progress: Callable[[str, int, int], None]
) -> dict[str, Judge]:
    """For each turn of the package the judge that was fitted without its style, by the id of the turn.

    The log-odds are on the scale of the shipped judge, so that its thresholds hold. One fit serves all styles; it
    takes memory with the square of the segments, see `KernelRidge`.

    Args:
        shipped: Its model.
        rows: None of them disputed.
        meter: The embedder.
        on_progress: Told what is done.

    Raises:
        ValueError: None of the rows states a fact, or all of them do.
    """
    done = iter(range(1, len(rows) + 1))
    turns = prepare_rows(
        rows, lambda text: meter.embed(text, is_query=False), lambda: on_progress(EMBEDDING, next(done), len(rows))
    )
    styles = sorted({row.style for row in rows})
    on_progress(FITTING, 0, len(styles))
    fit = JudgeFit(turns)
    common = Judge.of(fit.model())
    judges: dict[str, Judge] = {}
    for number, style in enumerate(styles, start=1):
        scaled = msgspec.structs.replace(fit.model_without(style), slope=shipped.slope, intercept=shipped.intercept)
        # The prototypes are the same for all, and by far the largest part.
        judge = replace(Judge.of(scaled), prototypes=common.prototypes, squares=common.squares)
        judges |= {row.id: judge for row in rows if row.style == style}
        on_progress(FITTING, number, len(styles))
    return judges
