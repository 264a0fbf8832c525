"""`recalld export`: everything that is kept of a user, as JSON Lines."""

from __future__ import annotations

import codecs
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Final

import click
import msgspec

from recalld.daemon.cli.common import Common, user_options
from recalld.daemon.cli.export_file import Counts, Header, line_of
from recalld.daemon.cli.output import printable, write_json
from recalld.daemon.cli.parameters import path
from recalld.daemon.cli.version import own_version
from recalld.daemon.cli.watched import watched
from recalld.daemon.cli.whole_file import whole_file
from recalld.daemon.cli.words import counted, counted_memories
from recalld.protocol import portable_items, requests
from recalld.protocol.client.blocking import Client

STANDARD_OUTPUT: Final = "-"
_CHUNK_BYTES: Final = 1 << 16


class ExportDocument(msgspec.Struct, frozen=True, kw_only=True):
    """What `--json` prints of an export into a file."""

    file: str
    memories: int
    observations: int
    proposals: int


@click.command("export")
@click.option("--out", type=path, help="File to write, as a whole or not at all. Default: standard output.")
@user_options
@click.pass_obj
def command(common: Common, *, out: Path | None) -> None:
    """Write everything that is kept of a user, one JSON object a line, but no vectors.

    A header with counts comes first, then memories in every status but forgotten, each with its evidence, headings,
    questions, slots and what replaced it, then observations and proposals. Turns that still wait to be
    read by a model are not in it: nothing was made of them yet. `recalld import` reads the file back.
    """
    with tempfile.TemporaryFile() as body:
        counts = _collect(common, body)
        header = Header(
            recalld=own_version(),
            user=common.user_name,
            created_at_ms=common.clock.now_ms(),
            memories=counts.memories,
            observations=counts.observations,
            proposals=counts.proposals,
        )
        body.seek(0)
        if out is None or str(out) == STANDARD_OUTPUT:
            _print(header, body)
            return
        with whole_file(out) as file:
            file.write(line_of(header))
            shutil.copyfileobj(body, file, _CHUNK_BYTES)
    if common.as_json:
        document = ExportDocument(
            file=str(out), memories=counts.memories, observations=counts.observations, proposals=counts.proposals
        )
        write_json(document)
        return
    click.echo(f"Exported {_in_words(counts)} of {printable(common.user_name)} to {printable(str(out))}.")


def _collect(common: Common, body: IO[bytes]) -> Counts:
    """Write every record into a scratch file: only then it is known how many the header must announce."""
    counts = Counts()
    with common.client(timeout_s=60.0) as client, watched(is_silent=common.as_json) as show:
        for record in exported_records(client, common.user_name):
            body.write(line_of(record))
            counts.add(record)
            if counts.total % portable_items.PORTABLE_MAX == 0:
                show(f"{counts.total} records")
    return counts


def exported_records(client: Client, user: str, *, is_waiting_only: bool = False) -> Iterator[portable_items.Portable]:
    """Every record of a user, page by page: memories, observations, proposals, oldest first."""
    cursor: str | None = None
    while True:
        page = client.export(requests.Export(user=user, cursor=cursor, waiting_only=is_waiting_only))
        yield from page.records
        cursor = page.cursor
        if cursor is None:
            return


def _print(header: Header, body: IO[bytes]) -> None:
    sys.stdout.write(line_of(header).decode())
    reader = codecs.getreader("utf-8")(body)
    while chunk := reader.read(_CHUNK_BYTES):
        sys.stdout.write(chunk)


def _in_words(counts: Counts) -> str:
    return (
        f"{counted_memories(counts.memories)}, {counted(counts.observations, 'observation')} and "
        f"{counted(counts.proposals, 'proposal')}"
    )
