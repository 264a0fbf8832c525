"""`recalld import`: take over an exported file, or plain texts of another program."""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import IO, Final

import click
import msgspec

from recalld.daemon.cli.common import Common, user_options
from recalld.daemon.cli.copied_ids import copied
from recalld.daemon.cli.errors import CommandError, usage_error
from recalld.daemon.cli.export_file import BadLine, Counts, GoodLine, Header, line_of, read_lines
from recalld.daemon.cli.output import printable, write_error_line, write_json
from recalld.daemon.cli.parameters import path
from recalld.daemon.cli.watched import Watched, watched
from recalld.daemon.cli.words import IMPORT_OUTCOMES, counted, in_words
from recalld.daemon.exit_codes import ExitCode
from recalld.models.domain.user_data import ImportOutcome
from recalld.protocol import portable_items, requests
from recalld.protocol.client.blocking import Client

STANDARD_INPUT: Final = "-"
BATCH_BYTES: Final = 1 << 19
"""A request is sent when it holds this much, or as many records as one may; both leave room in a frame."""
BAD_FILE: Final = "bad_file"
SHOWN_MAX: Final = 20
"""Bad lines and refused records that are named one by one; all are counted."""
_REFUSED: Final = (
    ImportOutcome.CONFLICT,
    ImportOutcome.TOMBSTONED,
    ImportOutcome.OVER_CAPACITY,
    ImportOutcome.SECRET,
)


class RefusedRecord(msgspec.Struct, frozen=True, kw_only=True):
    """A record that was not taken over."""

    line: int
    id: str
    outcome: str


class ImportDocument(msgspec.Struct, kw_only=True):
    """What became of a file, as `--json` prints it."""

    user: str
    is_dry_run: bool = False
    created: int = 0
    updated: int = 0
    unchanged: int = 0
    refused: Counter[str] = msgspec.field(default_factory=Counter)
    refused_records: list[RefusedRecord] = []
    """The first of them."""
    skipped_lines: int = 0
    """Bad lines that were left out."""

    def add(self, line: int, item: portable_items.ImportedItem) -> None:
        """Count what became of one record."""
        match item.outcome:
            case ImportOutcome.IMPORTED.value:
                self.created += 1
            case ImportOutcome.UPDATED.value:
                self.updated += 1
            case ImportOutcome.KNOWN.value:
                self.unchanged += 1
            case _:
                self.refused[item.outcome] += 1
                if len(self.refused_records) < SHOWN_MAX:
                    self.refused_records.append(RefusedRecord(line=line, id=item.record_id, outcome=item.outcome))


@click.command("import")
@click.argument("file", metavar="FILE", type=path)
@click.option("--dry-run", is_flag=True, help="Only say what would become of each record.")
@click.option("--skip-bad", is_flag=True, help="Leave lines out that cannot be read, instead of importing nothing.")
@click.option(
    "--new-ids", is_flag=True, help="Give the copies ids of their own: the originals are another user's here."
)
@user_options
@click.pass_obj
def command(common: Common, *, file: Path, dry_run: bool, skip_bad: bool, new_ids: bool) -> int:
    """Take over FILE (`-`: standard input): an export, or lines such as {"text": "Prefers tea"}.

    All lines are read before anything is written, and nothing is when one of them is bad. Importing a file twice
    changes nothing. What was forgotten here does not come back. An export of another user whose ids are in use here is
    not imported at all, but for --new-ids. Exit code 1 when a record was refused.
    """
    with _opened(file) as lines, watched(is_silent=common.as_json) as show:
        now_ms = common.clock.now_ms()
        checked = _check(lines, common, now_ms=now_ms, is_skipping=skip_bad)
        done = ImportDocument(user=common.user_name, is_dry_run=dry_run, skipped_lines=checked.skipped)
        reading = partial(_good_lines, lines, common.user_name, now_ms=now_ms, has_new_ids=new_ids)
        with common.client(timeout_s=120.0) as client:
            if checked.owner not in {"", common.user_name} and not new_ids and not dry_run:
                tried = ImportDocument(user=common.user_name, is_dry_run=True)
                _send_all(client, reading(), tried, show)
                _refuse_half(tried, checked.owner)
            _send_all(client, reading(), done, show)
    if common.as_json:
        write_json(done)
    else:
        _say(done)
    return ExitCode.FAILURE if done.refused else ExitCode.OK


def batches(lines: Iterator[GoodLine]) -> Iterator[tuple[GoodLine, ...]]:
    """Records, as many at a time as one request takes."""
    batch: list[GoodLine] = []
    size_bytes = 0
    for line in lines:
        line_bytes = len(line_of(line.record))
        if batch and (size_bytes + line_bytes > BATCH_BYTES or len(batch) == portable_items.PORTABLE_MAX):
            yield tuple(batch)
            batch, size_bytes = [], 0
        batch.append(line)
        size_bytes += line_bytes
    if batch:
        yield tuple(batch)


@contextmanager
def _opened(file: Path) -> Iterator[IO[bytes]]:
    """The file, at its beginning; standard input is put into a scratch file first, as it is read twice."""
    if str(file) != STANDARD_INPUT:
        with file.open("rb") as opened:
            yield opened
        return
    with tempfile.TemporaryFile() as scratch:
        shutil.copyfileobj(sys.stdin.buffer, scratch)
        scratch.seek(0)
        yield scratch


class _Checked(msgspec.Struct, frozen=True, kw_only=True):
    """What a first reading of the file came to.

    Attributes:
        skipped: Bad lines that are left out.
        owner: Whose records they were; empty: the file does not say.
    """

    skipped: int = 0
    owner: str = ""


def _good_lines(lines: IO[bytes], user: str, *, now_ms: int, has_new_ids: bool) -> Iterator[GoodLine]:
    """The records of the file from its beginning, with the ids that they are to have."""
    lines.seek(0)
    for each in read_lines(lines, user, now_ms=now_ms):
        if isinstance(each, GoodLine):
            yield GoodLine(line=each.line, record=copied(each.record, user)) if has_new_ids else each


def _refuse_half(tried: ImportDocument, owner: str) -> None:
    """Refuse to take over only that part of another user's records whose ids happen to be free.

    Raises:
        CommandError: Some are in use.
    """
    taken = tried.refused[ImportOutcome.CONFLICT.value]
    if taken:
        message = (
            f"nothing was imported: the file is an export of {printable(owner)!r}, and {counted(taken, 'id')} of it "
            f"stand for something else here; give the copies ids of their own with --new-ids"
        )
        raise CommandError(ImportOutcome.CONFLICT.value, message, ExitCode.FAILURE)


def _check(lines: IO[bytes], common: Common, *, now_ms: int, is_skipping: bool) -> _Checked:
    """Read every line.

    Raises:
        CommandError: A line is bad, or lines are missing, and they are not to be skipped.
    """
    header: Header | None = None
    seen = Counts()
    bad = 0
    first = ""
    for each in read_lines(lines, common.user_name, now_ms=now_ms):
        match each:
            case Header():
                header = each
            case GoodLine(record=record):
                seen.add(record)
            case BadLine(line=line, problem=problem):
                bad += 1
                if bad <= SHOWN_MAX and not common.as_json:
                    write_error_line(f"line {line}: {problem}")
                first = first or f"line {line}: {problem}"
    owner = "" if header is None else header.user
    if is_skipping:
        return _Checked(skipped=bad, owner=owner)
    if bad:
        message = (
            f"nothing was imported, as {counted(bad, 'line')} cannot be read, first {first}; mend them, or leave them "
            "out with --skip-bad"
        )
        raise CommandError(BAD_FILE, message, ExitCode.USAGE)
    if header is not None and header.counts != seen:
        message = (
            f"nothing was imported: the header announces {counted(header.counts.total, 'record')}, and {seen.total} "
            "follow, so part of the file is missing; export it again, or take what there is with --skip-bad"
        )
        raise usage_error(message)
    return _Checked(owner=owner)


def _send_all(client: Client, lines: Iterator[GoodLine], done: ImportDocument, show: Watched) -> None:
    for batch in batches(lines):
        _send(client, batch, done, show)


def _send(client: Client, batch: tuple[GoodLine, ...], done: ImportDocument, show: Watched) -> None:
    reply = client.import_records(
        requests.Import(user=done.user, records=tuple(each.record for each in batch), dry_run=done.is_dry_run)
    )
    for given, item in zip(batch, reply.lines, strict=True):
        done.add(given.line, item)
    show(f"{done.created + done.updated + done.unchanged + done.refused.total()} records")


def _named(record: RefusedRecord) -> str:
    return f"{record.line} ({printable(record.id)})" if record.id else f"{record.line}"


def _say(done: ImportDocument) -> None:
    verb = "Would create" if done.is_dry_run else "Created"
    refused = done.refused.total()
    click.echo(
        f"{verb} {done.created}, {'update' if done.is_dry_run else 'updated'} {done.updated}, "
        f"unchanged {done.unchanged}, refused {refused}."
    )
    for outcome in (each.value for each in _REFUSED if done.refused[each.value]):
        click.echo(f"  {done.refused[outcome]} refused: {in_words(outcome, IMPORT_OUTCOMES)}")
        named = [each for each in done.refused_records if each.outcome == outcome]
        if named:
            more = f" and {done.refused[outcome] - len(named)} more" if done.refused[outcome] > len(named) else ""
            click.echo(f"    {'line' if len(named) == 1 else 'lines'} {', '.join(map(_named, named))}{more}")
    if done.skipped_lines:
        click.echo(f"  {counted(done.skipped_lines, 'bad line')} left out")
