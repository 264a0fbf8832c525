"""How a calibration is shown while it runs: a bar for each stage on a terminal, nothing elsewhere."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeRemainingColumn

from recalld.daemon.own_calibration.run import CalibrationStage, StageProgress


@contextmanager
def stage_bars(*, is_silent: bool, console: Console | None = None) -> Iterator[StageProgress]:
    """A listener for `calibrate`, while the block runs.

    Args:
        is_silent: Show nothing, as with `--json`.
        console: Where to show it; standard error by default, so that standard output holds results only.
    """
    out = console or Console(stderr=True)
    if is_silent or not out.is_terminal:
        yield _nothing
        return
    columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=out, transient=True) as bars:
        tasks: dict[CalibrationStage, TaskID] = {}

        def show(stage: CalibrationStage, done: int, total: int) -> None:
            if stage not in tasks:
                tasks[stage] = bars.add_task(stage.value, total=total)
            bars.update(tasks[stage], completed=done)

        yield show


def _nothing(_stage: CalibrationStage, _done: int, _total: int) -> None:
    """Show nothing."""
