"""How provisioning is shown: a bar on a terminal, a line for each stage elsewhere."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, TaskID, TextColumn, TimeRemainingColumn, TransferSpeedColumn
from rich.progress import Progress as ProgressBars

from recalld.models.inference.provision.progress import Progress, ProgressListener, Stage, silent

_QUIET_STAGES = frozenset({Stage.INSTALLED, Stage.FAILED})
"""The command itself reports how it ended."""


@contextmanager
def progress_listener(*, is_silent: bool, console: Console | None = None) -> Iterator[ProgressListener]:
    """A listener for `ensure`, while the block runs.

    Args:
        is_silent: Show nothing, as with `--json`.
        console: Where to show it; standard error by default, so that standard output holds results only.
    """
    out = console or Console(stderr=True)
    if is_silent:
        yield silent
    elif out.is_terminal:
        with _bars(out) as bars:
            yield _BarListener(bars)
    else:
        yield _LineListener(out)


def _bars(console: Console) -> ProgressBars:
    return ProgressBars(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        DownloadColumn(),
        TransferSpeedColumn(),
        TimeRemainingColumn(),
        console=console,
        transient=True,
    )


class _BarListener:
    """One bar for each model; without a known size it only pulses."""

    def __init__(self, bars: ProgressBars) -> None:
        self._bars = bars
        self._tasks: dict[str, TaskID] = {}

    def __call__(self, progress: Progress, /) -> None:
        task = self._tasks.get(progress.model_id)
        if task is None:
            task = self._tasks[progress.model_id] = self._bars.add_task("", total=None)
        description = f"{progress.model_id}: {progress.text}"
        if progress.stage in _QUIET_STAGES:
            self._bars.remove_task(self._tasks.pop(progress.model_id))
        else:
            self._bars.update(task, description=description, total=progress.bytes_total, completed=progress.bytes_done)


class _LineListener:
    """One line whenever a model enters another stage, or the text changes outside of a download."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._last: tuple[str, Stage, str] | None = None

    def __call__(self, progress: Progress, /) -> None:
        text = "" if progress.stage is Stage.DOWNLOADING else progress.text
        now = (progress.model_id, progress.stage, text)
        if progress.stage in _QUIET_STAGES or now == self._last:
            return
        self._last = now
        self._console.print(f"{progress.model_id}: {progress.text}", markup=False, highlight=False, soft_wrap=True)
