"""Drawing what the ledger counted, with matplotlib where it is installed."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

from recalld.daemon.evaluation.figure import drawn
from recalld.protocol.stats_items import GateTime, LedgerReport, Share

if TYPE_CHECKING:
    from matplotlib.axes import Axes

BARS_MAX: Final = 14
"""Bars of one panel: the largest; more cannot be read."""
_INCHES: Final = (13.0 / 3, 4.6)


def draw_stats(report: LedgerReport, path: Path) -> None:
    """Draw three panels: how recalls ended, what the gates let through, and the time of every step.

    Call `plot.check_plot` before.

    Args:
        report: Of a window.
        path: A `.svg` or `.png` that is made or replaced.

    Raises:
        OSError: The file cannot be written.
    """
    recalls = [(f"{each.decision}: {each.reason}", each.share) for each in report.decisions if each.op == "recall"]
    steps = [] if report.compound is None else [(each.gate, each.passed) for each in report.compound.steps]
    with drawn(path, count=3, inches=_INCHES) as panels:
        _draw_shares(panels[0], recalls, "recalls by decision and reason")
        _draw_shares(panels[1], steps, "passed, of what reached each gate")
        _draw_times(panels[2], report.times)


def _draw_shares(panel: Axes, rows: list[tuple[str, Share]], title: str) -> None:
    shown = rows[:BARS_MAX]
    shares = [share for _, share in shown]
    panel.barh(
        [name for name, _ in shown],
        [share.rate for share in shares],
        xerr=[[share.rate - share.low for share in shares], [share.high - share.rate for share in shares]],
        color="C0",
        ecolor="0.4",
    )
    panel.set_xlim(0, 1)
    panel.invert_yaxis()
    panel.set_title(title)


def _draw_times(panel: Axes, times: tuple[GateTime, ...]) -> None:
    names = [each.gate for each in times]
    for label, marker, values in (
        ("p50", "o", [each.p50_ms for each in times]),
        ("p95", "s", [each.p95_ms for each in times]),
        ("p99", "^", [each.p99_ms for each in times]),
    ):
        panel.plot(values, names, marker, label=label)
    if times:
        panel.set_xscale("log")
        panel.legend()
    panel.invert_yaxis()
    panel.set_title("time of each step, ms")
