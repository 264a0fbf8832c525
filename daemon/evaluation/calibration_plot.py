"""Drawing what to expect of a calibration on what it has not seen, with matplotlib where it is installed."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

from recalld.daemon.evaluation.figure import drawn
from recalld.models.calibration.intervals import Proportion
from recalld.models.calibration.record import CalibrationRecord

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_INCHES: Final = (6.4, 5.0)
_NAME_MAX: Final = 40


def draw_calibration(record: CalibrationRecord, path: Path) -> None:
    """Draw silence and retention of each group left out, and of the data of the fit, with intervals and the target.

    Call `plot.check_plot` before.

    Args:
        record: With what a fit on the rest did on each group left out.
        path: A `.svg` or `.png` that is made or replaced.

    Raises:
        OSError: The file cannot be written.
    """
    with drawn(path, count=1, inches=_INCHES) as (panel,):
        for place, each in enumerate(record.held_out):
            _draw_point(panel, f"without {each.source}", each.silence, each.retention, f"C{place % 10}", "o")
        _draw_point(panel, "data of the fit", record.silence, record.retention, "black", "*")
        panel.axhline(record.target_retention, color="0.4", linestyle="--", linewidth=0.8, label="target")
        panel.set_title(f"{record.id}: {record.n} turns, {record.positives} with something relevant")
        panel.set_xlabel("silence when nothing is relevant")
        panel.set_ylabel("help kept, of what the floor alone serves")
        panel.set_xlim(-0.02, 1.02)
        panel.set_ylim(-0.02, 1.04)
        panel.grid(visible=True, alpha=0.3)
        panel.legend(loc="lower left", fontsize=6)


def _draw_point(panel: Axes, label: str, silence: Proportion, retention: Proportion, colour: str, marker: str) -> None:
    panel.errorbar(
        [silence.value],
        [retention.value],
        xerr=[[silence.value - silence.low], [silence.high - silence.value]],
        yerr=[[retention.value - retention.low], [retention.high - retention.value]],
        fmt=marker,
        markersize=10 if marker == "*" else 5,
        color=colour,
        elinewidth=0.8,
        label=label if len(label) <= _NAME_MAX else f"{label[: _NAME_MAX - 1]}…",
    )
