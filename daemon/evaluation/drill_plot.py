"""Drawing what turns lose when the gates are forced, with matplotlib where it is installed."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final

from recalld.daemon.evaluation.figure import drawn
from recalld.models.lab.drill_report import DrillArm, DrillSet

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_PANEL_INCHES: Final = (4.8, 4.0)


def draw_drill(sets: Mapping[str, DrillSet], path: Path) -> None:
    """Draw one panel for each set: every arm as a point of silence and retention, with its intervals.

    Call `plot.check_plot` before.

    Args:
        sets: At least one.
        path: A `.svg` or `.png` that is made or replaced.

    Raises:
        OSError: The file cannot be written.
    """
    with drawn(path, count=len(sets), inches=_PANEL_INCHES) as panels:
        for panel, (name, report) in zip(panels, sets.items(), strict=True):
            _draw_set(panel, name, report)


def _draw_set(panel: Axes, name: str, report: DrillSet) -> None:
    for place, (arm, rates) in enumerate(report.arms.items()):
        _draw_point(
            panel,
            arm,
            (rates.silence.low, rates.silence.rate, rates.silence.high),
            (rates.retention.low, rates.retention.rate, rates.retention.high),
            colour=f"C{place}",
            marker="*" if arm == DrillArm.SHIPPED.value else "o",
        )
    placebo = report.random_skip
    _draw_point(
        panel,
        DrillArm.RANDOM_SKIP.value,
        (placebo.silence.low, placebo.silence.mean, placebo.silence.high),
        (placebo.retention.low, placebo.retention.mean, placebo.retention.high),
        colour="0.5",
        marker="x",
    )
    panel.set_title(f"{name}: {report.verdict.value}")
    panel.set_xlabel("silence when nothing is relevant")
    panel.set_ylabel("retention when something is")
    panel.set_xlim(-0.04, 1.04)
    panel.set_ylim(-0.04, 1.04)
    panel.grid(visible=True, alpha=0.3)
    panel.legend(loc="lower left", fontsize=6)


def _draw_point(
    panel: Axes,
    label: str,
    silence: tuple[float, float, float],
    retention: tuple[float, float, float],
    *,
    colour: str,
    marker: str,
) -> None:
    """A point, each coordinate with the ends of its interval around it."""
    panel.errorbar(
        [silence[1]],
        [retention[1]],
        xerr=[[max(0.0, silence[1] - silence[0])], [max(0.0, silence[2] - silence[1])]],
        yerr=[[max(0.0, retention[1] - retention[0])], [max(0.0, retention[2] - retention[1])]],
        fmt=marker,
        markersize=10 if marker == "*" else 5,
        color=colour,
        elinewidth=0.8,
        label=label,
    )
