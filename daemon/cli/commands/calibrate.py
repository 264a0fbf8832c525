"""`recalld calibrate`: fit the gate to one's own labelled turns, and go back to what was before."""

from __future__ import annotations

import contextlib
import datetime as dt
from pathlib import Path

import click

from recalld.daemon.calibrating import running_keys, shipped_calibration
from recalld.daemon.cli.commands import calibrate_admission
from recalld.daemon.cli.commands.calibrate_options import fit_options
from recalld.daemon.cli.commands.calibrate_progress import stage_bars
from recalld.daemon.cli.commands.calibrate_view import calibrated_document, rolled_back_document, write_calibrated
from recalld.daemon.cli.commands.plotting import checked_plot
from recalld.daemon.cli.common import Common, settings_options
from recalld.daemon.cli.errors import CommandError, usage_error
from recalld.daemon.cli.output import printable, write_json
from recalld.daemon.cli.parameters import path
from recalld.daemon.clock import SystemClock
from recalld.daemon.evaluation.calibration_plot import draw_calibration
from recalld.daemon.exit_codes import ExitCode
from recalld.daemon.own_calibration.kept import (
    NothingToRollBackError,
    Refusal,
    install,
    note_refusal,
    roll_back,
)
from recalld.daemon.own_calibration.models import load_pair_models
from recalld.daemon.own_calibration.rows import RowError
from recalld.daemon.own_calibration.run import Calibrated, CalibrationInput, calibrate
from recalld.daemon.private_directories import DirectoryRefusedError
from recalld.models.calibration.fit_own import InsufficientDataError, OwnFitOptions
from recalld.models.calibration.record import dump_calibration

_INSUFFICIENT_DATA = "insufficient_data"
_NOTHING_TO_ROLL_BACK = "nothing_to_roll_back"
_UNSAFE_DIRECTORY = "unsafe_directory"


@click.command("calibrate")
@click.argument("files", metavar="[FILE]...", nargs=-1, type=path)
@click.option("--stores", "store_files", type=path, multiple=True, help="Records of the stores that rows name.")
@click.option("--builtin", is_flag=True, help="Also fit on the sources that come with the package.")
@fit_options
@click.option("--plot", "plot_path", type=path, help="Draw what to expect elsewhere into FILE.svg or FILE.png.")
@click.option("--out", type=path, help="Write the record there and leave in force what is.")
@click.option("--admission", is_flag=True, help="Fit the local judge of the write path; without FILE on shipped turns.")
@click.option(
    "--date", type=click.DateTime(["%Y-%m-%d"]), help="With --admission: the date in the record. Default: today."
)
@click.option("--rollback", is_flag=True, help="Put the record before the one in force back.")
@settings_options
@click.pass_obj
def command(
    common: Common,
    *,
    files: tuple[Path, ...],
    store_files: tuple[Path, ...],
    builtin: bool,
    options: OwnFitOptions,
    plot_path: Path | None,
    out: Path | None,
    admission: bool,
    date: dt.datetime | None,
    rollback: bool,
) -> None:
    """Fit the gate to labelled turns of one's own, in FILEs of one JSON object a line.

    Each FILE is a source. What to expect is reported on conversations, or sources, left out of the fit. The daemon runs
    with the new record from its next start on. Exit code 1 when there is too little data; nothing changes then.

    With --admission the local judge, which finds facts in what users say, is fitted instead; --out FILE writes it down.
    """
    if admission:
        if rollback or store_files or builtin or plot_path is not None:
            message = "--admission takes no --rollback, no --stores, no --builtin and no --plot"
            raise usage_error(message)
        calibrate_admission.run(common, files, out, None if date is None else date.date().isoformat())
        return
    if date is not None:
        message = "--date goes with --admission"
        raise usage_error(message)
    if rollback:
        if files or builtin or out is not None or plot_path is not None:
            message = "--rollback takes no FILE, no --builtin, no --out and no --plot"
            raise usage_error(message)
        _roll_back(common)
        return
    if not files and not builtin:
        message = "name at least one FILE of labelled turns, or give --builtin or --rollback"
        raise usage_error(message)
    _check_paths(plot_path, out)
    given = CalibrationInput(
        files=files,
        store_files=store_files,
        keys=running_keys(common.settings),
        floors=shipped_calibration().floors,
        date=_today(),
        options=options,
        has_builtin=builtin,
    )
    made = _fit(common, given, keeps_refusal=out is None)
    _keep(common, made, plot_path, out)


def _check_paths(plot_path: Path | None, out: Path | None) -> None:
    """Say at once what would only be found out after minutes of scoring."""
    if plot_path is not None:
        checked_plot(plot_path)
    if out is not None and not out.parent.is_dir():
        message = f"--out: {out.parent} is no directory; make it first, or name another"
        raise usage_error(message)


def _keep(common: Common, made: Calibrated, plot_path: Path | None, out: Path | None) -> None:
    """Put a new record where it belongs, and say what to expect of it."""
    if out is None:
        where = _install(common.settings.storage.data_dir, made)
    else:
        out.write_bytes(dump_calibration(made.record))
        where = out
    if plot_path is not None:
        draw_calibration(made.record, plot_path)
    if common.as_json:
        write_json(calibrated_document(made, where, is_installed=out is None))
    else:
        write_calibrated(made, where, is_installed=out is None)


def _fit(common: Common, given: CalibrationInput, *, keeps_refusal: bool) -> Calibrated:
    settings = common.settings
    models = load_pair_models(settings.models)
    try:
        with stage_bars(is_silent=common.as_json) as on_progress:
            return calibrate(given, models, on_progress)
    except RowError as error:
        raise usage_error(str(error)) from error
    except InsufficientDataError as error:
        if keeps_refusal:
            with contextlib.suppress(OSError):  # the refusal itself is what matters
                note_refusal(settings.storage.data_dir, Refusal(date=given.date, reason=str(error)))
        raise CommandError(_INSUFFICIENT_DATA, str(error), ExitCode.FAILURE) from error


def _today() -> str:
    return dt.datetime.fromtimestamp(SystemClock().now_ms() / 1000, tz=dt.UTC).date().isoformat()


def _install(data_dir: Path, made: Calibrated) -> Path:
    try:
        return install(data_dir, made.record)
    except DirectoryRefusedError as error:
        raise CommandError(_UNSAFE_DIRECTORY, str(error), ExitCode.CONFIG) from error


def _roll_back(common: Common) -> None:
    try:
        done = roll_back(common.settings.storage.data_dir)
    except NothingToRollBackError as error:
        raise CommandError(_NOTHING_TO_ROLL_BACK, str(error), ExitCode.FAILURE) from error
    if common.as_json:
        write_json(rolled_back_document(done))
        return
    now = printable(done.current_id) or "the shipped calibration"
    click.echo(
        f"{printable(done.removed_id) or 'An unreadable record'} is out of force; {now} is from the next start on."
    )
