"""`recalld calibrate --admission`: fit the local judge of the write path to labelled turns."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import click
import msgspec
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from recalld.daemon.calibrating import embedder_key_of
from recalld.daemon.cli.common import Common
from recalld.daemon.cli.errors import CommandError, usage_error
from recalld.daemon.cli.output import printable, write_columns, write_json
from recalld.daemon.clock import SystemClock
from recalld.daemon.exit_codes import ExitCode
from recalld.models.calibration.admission_calibrate import AdmissionInfo, Steps, calibrate_admission
from recalld.models.calibration.admission_data import (
    AdmissionDataError,
    AdmissionRow,
    agreement,
    parse_rows,
    shipped_content,
    undisputed,
)
from recalld.models.calibration.admission_fit import StyleReport
from recalld.models.calibration.admission_record import AdmissionRecord, dump_admission_record, rows_sha256
from recalld.models.calibration.intervals import Proportion
from recalld.models.inference.loading import load_bi_encoder
from recalld.models.policy.judge.find import JudgeThresholds

_INSUFFICIENT_DATA = "insufficient_data"


class AdmissionDocument(msgspec.Struct, frozen=True, kw_only=True):
    """A new record of the judge, for programs.

    Attributes:
        id: Of the record.
        path: Where it was written; empty: nowhere.
        turns: Turns it was fitted on.
        positives: Of these, turns that state something.
        disputed: Rows that were left out.
        kappa: Agreement of the two readers of the rows beyond chance; None: no row was read twice.
        thresholds: What counts as a find, and what may become a record.
        balanced: On styles left out of the fit, one at a time, at the balanced threshold; first all of them.
        strict: The same at the strict threshold.
    """

    id: str
    path: str
    turns: int
    positives: int
    disputed: int
    kappa: float | None
    thresholds: JudgeThresholds
    balanced: tuple[StyleReport, ...]
    strict: tuple[StyleReport, ...]


def run(common: Common, files: Sequence[Path], out: Path | None, date: str | None) -> None:
    """Fit on the given files, or on the shipped rows; print what to expect and, with `out`, write the record."""
    contents = {path.name: _content(path) for path in files} if files else shipped_content()
    rows = _rows(contents)
    made = _fit(common, rows, contents, date or _today(), is_own=bool(files))
    if out is not None:
        out.write_bytes(dump_admission_record(made))
    if common.as_json:
        write_json(_document(made, agreement(rows), out))
    else:
        _write(made, agreement(rows), out)


def _fit(
    common: Common, rows: Sequence[AdmissionRow], contents: dict[str, bytes], date: str, *, is_own: bool
) -> AdmissionRecord:
    models = common.settings.models
    embedder = load_bi_encoder(models.dir, models.embedder)
    info = AdmissionInfo(
        id=f"{'own' if is_own else 'shipped'}-judge-{date}",
        date=date,
        provenance=f"Fitted by `recalld calibrate --admission` on {', '.join(sorted(contents))}.",
        embedder_key=embedder_key_of(models.embedder),
        corpus_sha256=rows_sha256(contents),
    )
    embed = cache(lambda text: embedder.embed(text, is_query=False))
    try:
        with _bars(len(undisputed(rows)), len({row.style for row in rows}), is_silent=common.as_json) as steps:
            return calibrate_admission(rows, embed, info, steps)
    except ValueError as error:
        raise CommandError(_INSUFFICIENT_DATA, str(error), ExitCode.FAILURE) from error


def _content(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        message = f"{path}: {error.strerror}"
        raise usage_error(message) from error


def _rows(contents: dict[str, bytes]) -> list[AdmissionRow]:
    try:
        return [row for name, content in contents.items() for row in parse_rows(content, name)]
    except AdmissionDataError as error:
        raise usage_error(str(error)) from error


def _today() -> str:
    return dt.datetime.fromtimestamp(SystemClock().now_ms() / 1000, tz=dt.UTC).date().isoformat()


@contextmanager
def _bars(turns: int, styles: int, *, is_silent: bool, console: Console | None = None) -> Iterator[Steps]:
    """Bars on a terminal, on standard error; nothing elsewhere."""
    out = console or Console(stderr=True)
    if is_silent or not out.is_terminal:
        yield Steps()
        return
    columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=out, transient=True) as bars:
        embedding = bars.add_task("embedding turns", total=turns)
        leaving = bars.add_task("leaving one style out", total=styles)
        yield Steps(on_turn=lambda: bars.advance(embedding), on_style=lambda _style: bars.advance(leaving))


def _document(made: AdmissionRecord, kappa: float | None, out: Path | None) -> AdmissionDocument:
    return AdmissionDocument(
        id=made.id,
        path=str(out) if out is not None else "",
        turns=made.n,
        positives=made.positives,
        disputed=made.disputed,
        kappa=kappa,
        thresholds=made.thresholds,
        balanced=made.balanced,
        strict=made.strict,
    )


def _write(made: AdmissionRecord, kappa: float | None, out: Path | None) -> None:
    click.echo(f"{printable(made.id)}: {made.n} turns, {made.positives} that state something; {made.disputed} disputed")
    if kappa is not None:
        click.echo(f"Agreement of the two readers of the turns beyond chance (kappa): {kappa:.3f}, an upper bound.")
    click.echo("The judge alone, each style judged by a fit on the others:")
    for name, threshold, reports in (
        ("balanced", made.thresholds.balanced, made.balanced),
        ("strict", made.thresholds.strict, made.strict),
    ):
        click.echo(f"\n{name}, from log-odds {threshold:.2f} on")
        rows = [(printable(each.style), _share(each.precision), _share(each.recall)) for each in reports]
        write_columns([("style", "precision over turns", "recall over turns"), *rows])
    where = f"Written to {printable(str(out))}." if out is not None else "Not written: give --out FILE."
    click.echo(f"\n{where}")


def _share(share: Proportion) -> str:
    return f"{share.value:.2f} ({share.low:.2f} to {share.high:.2f}), {share.successes} of {share.n}"
