"""What `recalld calibrate` prints."""

from __future__ import annotations

from pathlib import Path

import click
import msgspec

from recalld.daemon.cli.output import printable, write_columns
from recalld.daemon.own_calibration.kept import RolledBack
from recalld.daemon.own_calibration.run import Calibrated
from recalld.models.calibration.intervals import Proportion, wilson
from recalld.models.calibration.record import CalibrationRecord, SourceReport
from recalld.models.calibration.transfer import Transfer, transfer_of
from recalld.models.policy.relevance import KindThreshold


class CalibratedDocument(msgspec.Struct, frozen=True, kw_only=True):
    """A new record, for programs.

    Attributes:
        id: Of the record.
        path: Where it was written.
        is_installed: Whether the daemon runs with it from its next start on.
        turns: Turns it was fitted on.
        positives: Of these, turns with something relevant.
        disputed: Rows that were left out.
        candidates_max: Candidates that the gate will judge.
        threshold: What relevance is held against.
        retention: On the data of the fit, of the turns that the floor alone serves.
        silence: On the data of the fit.
        held_out: The same for what was left out of a fit on the rest, one group at a time.
        held_out_retention: All groups together.
        held_out_silence: All groups together.
        transfer: Whether the threshold survives a change of source, or of conversation.
        kind_thresholds: Kinds of memory with a threshold of their own.
    """

    id: str
    path: str
    is_installed: bool
    turns: int
    positives: int
    disputed: int
    candidates_max: int | None
    threshold: float
    retention: Proportion
    silence: Proportion
    held_out: tuple[SourceReport, ...]
    held_out_retention: Proportion
    held_out_silence: Proportion
    transfer: Transfer
    kind_thresholds: tuple[KindThreshold, ...]


class RolledBackDocument(msgspec.Struct, frozen=True, kw_only=True):
    """A rollback, for programs. `current_id`: the record in force from the next start on; empty: the shipped one."""

    removed_id: str
    current_id: str


def calibrated_document(made: Calibrated, path: Path, *, is_installed: bool) -> CalibratedDocument:
    """The record and what to expect of it."""
    record = made.record
    retention, silence = _together(record)
    return CalibratedDocument(
        id=record.id,
        path=str(path),
        is_installed=is_installed,
        turns=record.n,
        positives=record.positives,
        disputed=made.disputed,
        candidates_max=record.candidates_max,
        threshold=record.threshold,
        retention=record.retention,
        silence=record.silence,
        held_out=record.held_out,
        held_out_retention=retention,
        held_out_silence=silence,
        transfer=transfer_of(record),
        kind_thresholds=record.kind_thresholds,
    )


def rolled_back_document(done: RolledBack) -> RolledBackDocument:
    """What went and what came."""
    return RolledBackDocument(removed_id=done.removed_id, current_id=done.current_id)


def write_calibrated(made: Calibrated, path: Path, *, is_installed: bool) -> None:
    """Print the record and what to expect of it."""
    record = made.record
    click.echo(f"{printable(record.id)}: {record.n} turns, {record.positives} with something relevant")
    if made.disputed:
        click.echo(f"Left out as disputed: {made.disputed}")
    click.echo(f"Candidates judged: {record.candidates_max}; threshold {record.threshold:.4f}")
    for own in record.kind_thresholds:
        click.echo(f"  {own.kind.value}: {own.threshold:.4f}, chosen on {own.positives} relevant memories")
    rows = [("", "help kept", "silent when nothing helps")]
    rows += [
        (f"without {printable(each.source)}", _share(each.retention), _share(each.silence)) for each in record.held_out
    ]
    if record.held_out:
        retention, silence = _together(record)
        rows.append(("all of these", _share(retention), _share(silence)))
    rows.append(("data of the fit", _share(record.retention), _share(record.silence)))
    write_columns(rows)
    _write_transfer(transfer_of(record))
    click.echo(f"Written to {printable(str(path))}")
    if is_installed:
        click.echo("The daemon runs with it from its next start on; `recalld calibrate --rollback` goes back.")


def _write_transfer(transfer: Transfer) -> None:
    """Whether the threshold may be trusted on what it has not seen."""
    what = "source" if transfer.is_by_source else "conversation"
    if not transfer.groups:
        click.echo("With fewer than three conversations none can be left out: what to expect elsewhere is not known.")
    elif not transfer.broken:
        click.echo(f"On no {what} left out is anything measurably worse than promised.")
    else:
        click.echo(f"The threshold does not survive a change of {what}:")
        for each in transfer.broken:
            click.echo(f"  {printable(each.source)}: {each.promise.value} is {_share(each.found)} there")


def _together(record: CalibrationRecord) -> tuple[Proportion, Proportion]:
    shares = [(each.retention, each.silence) for each in record.held_out]
    return (
        wilson(sum(kept.successes for kept, _ in shares), sum(kept.n for kept, _ in shares)),
        wilson(sum(quiet.successes for _, quiet in shares), sum(quiet.n for _, quiet in shares)),
    )


def _share(share: Proportion) -> str:
    return f"{share.successes}/{share.n} = {share.value:.3f} [{share.low:.2f}, {share.high:.2f}]"
