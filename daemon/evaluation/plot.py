"""Drawing the trade between silence and retention, with matplotlib where it is installed."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from recalld.daemon.evaluation.figure import drawn
from recalld.daemon.evaluation.run import Evaluated
from recalld.models.lab.arms import ArmName
from recalld.models.lab.curve import trade_off
from recalld.models.lab.report import ArmReport

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FORMATS: Final = (".svg", ".png")
CURVES: Final = (ArmName.GATE, ArmName.ONE_VIEW, ArmName.BEST_ASK, ArmName.FEATURES)
"""Arms whose other thresholds are drawn, too; more lines than these cannot be told apart."""
_PANEL_INCHES: Final = (5.2, 4.4)
_LINES_MIN: Final = 2


class PlotUnavailableError(RuntimeError):
    """The drawing library is not installed; the message says how to get it."""


def check_plot(path: Path) -> None:
    """Say at once what would only be found out after minutes of scoring.

    Raises:
        ValueError: The name ends in none of `FORMATS`, or it is a directory, or its directory is not there.
        PlotUnavailableError: matplotlib is not installed.
    """
    if path.suffix.lower() not in FORMATS:
        message = f"{path} ends in neither .svg nor .png; name the file by what it is to be"
        raise ValueError(message)
    if not path.parent.is_dir():
        message = f"{path.parent} is no directory; make it first, or name another"
        raise ValueError(message)
    if path.is_dir():
        message = f"{path} is a directory; name a file in it"
        raise ValueError(message)
    try:
        import matplotlib as mpl  # noqa: PLC0415 - optional, and slow to import
    except ImportError as error:
        message = "--plot needs matplotlib, which is not installed; `pip install 'recalld[plot]'` brings it"
        raise PlotUnavailableError(message) from error
    mpl.use("agg")  # draws into files, wherever it runs


def draw(evaluated: Sequence[Evaluated], path: Path) -> None:
    """Draw one panel for each set: every arm as a point with its intervals, and curves over the thresholds of some.

    Args:
        evaluated: At least one set.
        path: A `.svg` or `.png` that is made or replaced.

    Raises:
        OSError: The file cannot be written.
    """
    with drawn(path, count=len(evaluated), inches=_PANEL_INCHES) as panels:
        for panel, each in zip(panels, evaluated, strict=True):
            _draw_set(panel, each)


def _draw_set(panel: Axes, each: Evaluated) -> None:
    rows = each.report.rows
    colours = {name: f"C{place % 10}" for place, name in enumerate(each.results)}
    for name in CURVES:
        if name in each.results:
            _draw_curve(panel, each, name, colours[name])
    for name in each.results:
        _draw_point(panel, name, each.report.arms[name.value], colours[name])
    panel.set_title(f"{each.name}: {rows.answerable} answerable, {rows.nothing_relevant} with nothing relevant")
    panel.set_xlabel("silence when nothing is relevant")
    panel.set_ylabel("retention when something is")
    panel.set_xlim(-0.02, 1.02)
    panel.set_ylim(-0.02, 1.02)
    panel.grid(visible=True, alpha=0.3)
    panel.legend(loc="lower left", fontsize=6)


def _draw_curve(panel: Axes, each: Evaluated, name: ArmName, colour: str) -> None:
    points = trade_off(each.results[name])
    if len(points) < _LINES_MIN:
        return
    silence = [point.silence.rate for point in points]
    panel.plot(silence, [point.retention.rate for point in points], color=colour, linewidth=1.0)
    if name is ArmName.GATE:
        low, high = [point.retention.low for point in points], [point.retention.high for point in points]
        panel.fill_between(silence, low, high, color=colour, alpha=0.15, linewidth=0.0)


def _draw_point(panel: Axes, name: ArmName, arm: ArmReport, colour: str) -> None:
    silence, retention = arm.silence, arm.retention
    is_gate = name is ArmName.GATE
    panel.errorbar(
        [silence.rate],
        [retention.rate],
        xerr=[[silence.rate - silence.low], [silence.high - silence.rate]],
        yerr=[[retention.rate - retention.low], [retention.high - retention.rate]],
        fmt="*" if is_gate else "o",
        markersize=11 if is_gate else 4,
        color=colour,
        elinewidth=0.8,
        label=f"{name.value} (operating point)" if is_gate else name.value,
    )
