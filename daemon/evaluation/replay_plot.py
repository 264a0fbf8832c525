"""Drawing precision against recall of every gate of a replay, with matplotlib where it is installed."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final

from recalld.daemon.evaluation.figure import drawn
from recalld.models.lab.replay_report import GateReport, ReplayReport
from recalld.models.lab.replay_summary import STACK

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.colors import Colormap

_PANEL_INCHES: Final = (5.2, 4.4)


def draw_replay(report: ReplayReport, path: Path) -> None:
    """Draw one panel for each set whose labels allow precision: every gate as a point with both intervals.

    Args:
        report: Of a replay; where no set allows precision, an empty panel says so.
        path: A `.svg` or `.png` that is made or replaced; see `plot.check_plot`.

    Raises:
        OSError: The file cannot be written.
    """
    import matplotlib.pyplot as plt  # noqa: PLC0415 - optional, and slow to import

    sets = {name: each.gates for name, each in report.sets.items() if not each.is_weak}
    with drawn(path, count=max(1, len(sets)), inches=_PANEL_INCHES) as panels:
        for panel, (name, gates) in zip(panels, sets.items(), strict=False):
            _draw_set(panel, name, gates, plt.get_cmap("tab20"))
        if not sets:
            panels[0].set_axis_off()
            panels[0].set_title("no set whose labels allow figures of precision")


def _draw_set(panel: Axes, name: str, gates: Mapping[str, GateReport], colours: Colormap) -> None:
    for place, (gate, each) in enumerate(gates.items()):
        if each.precision is not None and each.precision.n:
            _draw_gate(panel, gate, each, "black" if gate == STACK else colours(place))
    turns = next(iter(gates.values())).turns
    panel.set_title(f"{name}: {turns} turns")
    panel.set_xlabel("recall of labelled facts")
    panel.set_ylabel("precision of records")
    panel.set_xlim(-0.02, 1.02)
    panel.set_ylim(-0.02, 1.02)
    panel.grid(visible=True, alpha=0.3)
    panel.legend(loc="lower right", fontsize=6)


def _draw_gate(panel: Axes, name: str, gate: GateReport, colour: str | tuple[float, ...]) -> None:
    precision, recall = gate.precision, gate.recall
    if precision is None:
        return
    is_stack = name == STACK
    panel.errorbar(
        [recall.rate],
        [precision.rate],
        xerr=[[recall.rate - recall.low], [recall.high - recall.rate]],
        yerr=[[precision.rate - precision.low], [precision.high - precision.rate]],
        fmt="*" if is_stack else "o",
        markersize=11 if is_stack else 4,
        color=colour,
        elinewidth=0.8,
        label=f"{name} (operating point)" if is_stack else name,
    )
