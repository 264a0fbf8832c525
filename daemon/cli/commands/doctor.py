"""`recalld doctor`: is everything well, and if not, what is to be done?"""

from __future__ import annotations

import sqlite3

import click
from rich.text import Text

from recalld.daemon.cli.common import Common, settings_options
from recalld.daemon.cli.consoles import table_console
from recalld.daemon.cli.errors import CommandError
from recalld.daemon.cli.output import printable, write_error, write_json
from recalld.daemon.clock import SystemClock
from recalld.daemon.config import ConfigError, Settings
from recalld.daemon.doctor import CheckResult, DoctorReport, Status, run_doctor
from recalld.daemon.doctor.database import rebuild_full_text_index
from recalld.daemon.exit_codes import DoctorExit, ExitCode
from recalld.models.domain.errors import ErrorCode

_STYLES = {
    Status.PASS: "green",
    Status.INFO: "cyan",
    Status.WARN: "yellow",
    Status.FAIL: "bold red",
    Status.CRASH: "bold magenta",
}


@click.command("doctor")
@click.option(
    "--deep", is_flag=True, help="Also check every page and word, and store, recall and forget a test memory."
)
@click.option("--rebuild-index", is_flag=True, help="First make the full-text index anew from the memories.")
@settings_options
@click.pass_obj
def command(common: Common, *, deep: bool, rebuild_index: bool) -> int:
    """Check the whole installation, with the daemon up or down.

    Exit code 0: all well; 1: warnings; 2: failures; 3: the doctor could not run.
    """
    try:
        settings = common.settings
        if rebuild_index:
            _rebuild(settings)
    except ConfigError as error:
        write_error(CommandError("config_error", error.message, ExitCode.CONFIG), as_json=common.as_json)
        return DoctorExit.COULD_NOT_RUN
    report = run_doctor(
        settings, environment=common.environment, connect=common.client, clock=SystemClock(), is_deep=deep
    )
    if common.as_json:
        write_json(report)
    else:
        _show(report)
    return report.exit_code


def _rebuild(settings: Settings) -> None:
    try:
        rebuild_full_text_index(settings.storage.data_dir)
    except sqlite3.Error as error:
        message = f"the full-text index could not be made anew ({error}); it is as it was"
        code = ErrorCode.STORAGE_UNAVAILABLE.value
        raise CommandError(code, message, ExitCode.TEMPORARY) from error


def _show(report: DoctorReport) -> None:
    out = table_console()
    width = max((len(result.name) for result in report.results), default=0)
    for result in report.results:
        out.print(_line(result, width))
        if result.remedy and result.status is not Status.PASS:
            out.print(Text(f"{'':7}{'':{width}}  → {printable(result.remedy)}", style="dim"))
    counted = ", ".join(f"{count} {status}" for status, count in report.counts.items() if count)
    out.print(Text(f"{counted}; {report.not_checked} not checked"))


def _line(result: CheckResult, width: int) -> Text:
    line = Text(f"{result.status.value.upper():5}  ", style=_STYLES[result.status])
    line.append(f"{result.name:{width}}  ", style="default")
    line.append(printable(result.seen), style="default")
    return line
