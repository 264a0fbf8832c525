"""`recalld drill`: what labelled turns lose when the gates are forced shut, and when they are forced open."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Final

import click

from recalld.daemon.cli.commands.drill_view import write_drill
from recalld.daemon.cli.commands.eval import read_evaluated, rows_bar
from recalld.daemon.cli.commands.plotting import checked_plot
from recalld.daemon.cli.common import Common, settings_options
from recalld.daemon.cli.errors import usage_error
from recalld.daemon.cli.output import write_json
from recalld.daemon.cli.parameters import path
from recalld.daemon.evaluation.bench import bench_settings
from recalld.daemon.evaluation.calibration_used import calibration_used
from recalld.daemon.evaluation.drill import drill
from recalld.daemon.evaluation.drill_plot import draw_drill
from recalld.daemon.evaluation.meter import Meter
from recalld.daemon.exit_codes import ExitCode
from recalld.daemon.own_calibration.models import load_pair_models
from recalld.models.lab.drill_report import DrillReport, DrillVerdict

SEED: Final = 1
"""Of the placebo, so that the same rows give the same report."""


@click.command("drill")
@click.argument("files", metavar="[FILE]...", nargs=-1, type=path)
@click.option("--stores", "store_files", type=path, multiple=True, help="Records of the stores that rows name.")
@click.option("--builtin", is_flag=True, help="Also drill on the sources that come with the package.")
@click.option("--seed", type=int, default=SEED, show_default=True, help="Of the random silence.")
@click.option(
    "--plot", "plot_path", type=path, help="Draw silence and retention of each arm into FILE.svg or FILE.png."
)
@settings_options
@click.pass_obj
def command(
    common: Common,
    *,
    files: tuple[Path, ...],
    store_files: tuple[Path, ...],
    builtin: bool,
    seed: int,
    plot_path: Path | None,
) -> ExitCode:
    """Force the gates shut on labelled turns, and see what is lost, in FILEs of one JSON object a line.

    Beside it they are forced open, and turns are passed over at random as often as the gates do. Needs the models and
    no daemon, and changes nothing. Exit code 1 when, on any of the sets, nothing gets measurably worse with the gates
    shut. docs/measuring.md says what a row and each figure is.
    """
    if not files and not builtin:
        message = "name at least one FILE of labelled rows, or give --builtin"
        raise usage_error(message)
    if plot_path is not None:
        checked_plot(plot_path)
    sets = read_evaluated(files, store_files, is_builtin=builtin)
    settings = common.settings
    meter = Meter(load_pair_models(settings.models))
    with rows_bar(is_silent=common.as_json) as on_progress:
        drilled = drill(bench_settings(settings), sets, meter, random.Random(seed), on_progress)  # noqa: S311 - no secret
    report = DrillReport(sets={each.name: each.report for each in drilled}, calibration=calibration_used(settings))
    if plot_path is not None:
        draw_drill(report.sets, plot_path)
    if common.as_json:
        write_json(report)
    else:
        write_drill(report)
    is_earned = all(each.verdict is DrillVerdict.EARNS_ITS_PLACE for each in report.sets.values())
    return ExitCode.OK if is_earned else ExitCode.FAILURE
