"""`recalld eval`: what the gate does on labelled rows, beside simpler and rejected designs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from recalld.daemon.cli.commands.eval_view import write_report
from recalld.daemon.cli.commands.plotting import checked_plot
from recalld.daemon.cli.common import Common, settings_options
from recalld.daemon.cli.errors import usage_error
from recalld.daemon.cli.output import write_json
from recalld.daemon.cli.parameters import path
from recalld.daemon.evaluation.bench import bench_settings
from recalld.daemon.evaluation.calibration_used import calibration_used
from recalld.daemon.evaluation.meter import Meter
from recalld.daemon.evaluation.plot import draw
from recalld.daemon.evaluation.run import EvalInput, evaluate
from recalld.daemon.evaluation.run import Progress as OnProgress
from recalld.daemon.evaluation.sets import EvalSet, builtin_sets, read_sets
from recalld.daemon.own_calibration.models import load_pair_models
from recalld.daemon.own_calibration.rows import RowError
from recalld.models.lab.arms import ArmName
from recalld.models.lab.comparators import shipped_comparators
from recalld.models.lab.report import EvalReport


def arm_names(value: str) -> tuple[ArmName, ...]:
    """Convert names of arms, separated by commas."""
    known = [name.value for name in ArmName]
    wanted = [name.strip() for name in value.split(",") if name.strip()]
    strange = [name for name in wanted if name not in known]
    if strange or not wanted:
        message = f"{strange[0] if strange else value!r} is no arm; give some of {', '.join(known)}"
        raise click.BadParameter(message)
    return tuple(dict.fromkeys(map(ArmName, wanted)))


@click.command("eval")
@click.argument("files", metavar="[FILE]...", nargs=-1, type=path)
@click.option("--stores", "store_files", type=path, multiple=True, help="Records of the stores that rows name.")
@click.option("--builtin", is_flag=True, help="Also measure on the sources that come with the package.")
@click.option("--arms", type=arm_names, help="What to compare, separated by commas. Default: everything.")
@click.option("--compound", is_flag=True, help="Also tell what each gate lets through alone, and all of them together.")
@click.option("--plot", "plot_path", type=path, help="Draw silence against retention into FILE.svg or FILE.png.")
@settings_options
@click.pass_obj
def command(
    common: Common,
    *,
    files: tuple[Path, ...],
    store_files: tuple[Path, ...],
    builtin: bool,
    arms: tuple[ArmName, ...] | None,
    compound: bool,
    plot_path: Path | None,
) -> None:
    """Measure the gate on labelled rows, in FILEs of one JSON object a line.

    Silence, retention and precision with their counts and intervals, of the gate that would run now and of the designs
    it is compared with. Needs the models and no daemon. docs/measuring.md says what a row and each figure is.
    """
    if not files and not builtin:
        message = "name at least one FILE of labelled rows, or give --builtin"
        raise usage_error(message)
    if plot_path is not None:
        checked_plot(plot_path)
    sets = read_evaluated(files, store_files, is_builtin=builtin)
    settings = common.settings
    given = EvalInput(
        arms=arms or tuple(ArmName),
        bench=bench_settings(settings),
        comparators=shipped_comparators(),
        has_compound=compound,
    )
    meter = Meter(load_pair_models(settings.models))
    with rows_bar(is_silent=common.as_json) as on_progress:
        evaluated = evaluate(given, sets, meter, on_progress)
    report = EvalReport(sets={each.name: each.report for each in evaluated}, calibration=calibration_used(settings))
    if plot_path is not None:
        draw(evaluated, plot_path)
    if common.as_json:
        write_json(report)
    else:
        write_report(report)


def read_evaluated(files: tuple[Path, ...], store_files: tuple[Path, ...], *, is_builtin: bool) -> list[EvalSet]:
    """The sets of some files, and those of the package where they are asked for.

    Raises:
        CommandError: A line is no labelled row; the message names file, line and field.
        OSError: A file cannot be read.
    """
    try:
        sets = read_sets(files, store_files)
    except RowError as error:
        raise usage_error(str(error)) from error
    return [*sets, *builtin_sets()] if is_builtin else sets


@contextmanager
def rows_bar(*, is_silent: bool, console: Console | None = None) -> Iterator[OnProgress]:
    """A listener for `evaluate`, while the block runs: a bar for each set on a terminal, nothing elsewhere.

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
        tasks = {}

        def show(name: str, done: int, total: int) -> None:
            if name not in tasks:
                tasks[name] = bars.add_task(name, total=total)
            bars.update(tasks[name], completed=done)

        yield show


def _nothing(_name: str, _done: int, _total: int) -> None:
    """Show nothing."""
