"""Labelled rows as a file has them: one JSON object a line."""

from __future__ import annotations

import codecs
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final, TypeVar

import msgspec

from recalld.daemon.own_calibration.labelling import Record, Turn, moment_ms

DAY_MS = 86_400_000
_GZIP: Final = b"\x1f\x8b"
_Row = TypeVar("_Row", bound=msgspec.Struct)


class RowError(ValueError):
    """A line of a file that is no such row; the message names file, line, field and remedy."""


class StoredRecord(Record, frozen=True, kw_only=True):
    """A record of a store that rows name."""

    store: str


class RecallRow(Turn, frozen=True, kw_only=True):
    """A labelled turn with its candidates, or with the name of the store that has them.

    Attributes:
        user: Who said it; the part before a colon is the conversation.
        conversation: The conversation, where the user's name does not tell it.
        variant: Which form of the same data it belongs to, for reports.
        store: The store whose records are its candidates, and then its conversation.
        exclude: Ids of candidates that are not there for this turn.
        memories: Its candidates, where it names no store.
        now: When it was said, in ISO 8601; empty: a day after the newest record of its conversation.
        source: Where it comes from, for reports.

    Raises:
        ValueError: The id or the query is blank, or the labels of an undisputed row contradict each other.
    """

    user: str
    conversation: str = ""
    variant: str = ""
    store: str | None = None
    exclude: tuple[str, ...] = ()
    memories: tuple[Record, ...] = ()
    now: str = ""
    source: str = ""

    def __post_init__(self) -> None:
        if not self.id.strip():
            message = "id is blank; give each row a name of its own"
            raise ValueError(message)
        if not self.query.strip():
            message = "query is blank; give the user's words"
            raise ValueError(message)
        if self.disputed:  # its labels need not make sense: it is left out
            return
        if self.nothing_relevant and self.relevant:
            message = "relevant names memories although nothing_relevant is true; correct one of both"
            raise ValueError(message)
        if not self.nothing_relevant and not self.relevant:
            message = "relevant is empty although nothing_relevant is false; name what helps, or set it to true"
            raise ValueError(message)


def read_rows(path: Path, row: type[_Row]) -> list[_Row]:
    """The rows of a file; blank lines are passed over.

    Raises:
        RowError: A line is no such row.
        OSError: The file cannot be read.
    """
    return [each for _, each in read_numbered(path, row)]


def read_numbered(path: Path, row: type[_Row]) -> list[tuple[int, _Row]]:
    """As `read_rows`, each row with the number of its line.

    Raises:
        RowError: A line is no such row.
        OSError: The file cannot be read.
    """
    rows: list[tuple[int, _Row]] = []
    content = path.read_bytes().removeprefix(codecs.BOM_UTF8)  # some editors put it in front
    if content.startswith(_GZIP):
        message = f"{path}, line 1: the file is compressed; unpack it first, for instance with `gzip -d`"
        raise RowError(message)
    for number, line in enumerate(content.splitlines(), start=1):
        if not line.strip():
            continue
        try:
            rows.append((number, msgspec.json.decode(line, type=row)))
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            message = f"{path}, line {number}: {error}; docs/operating.md has the fields of a row"
            raise RowError(message) from error
    return rows


def read_labelled(path: Path) -> list[tuple[int, RecallRow]]:
    """The labelled rows of a file, each with the number of its line.

    Raises:
        RowError: A line is no such row, or says again what another one says: it would count twice.
        OSError: The file cannot be read.
    """
    numbered = read_numbered(path, RecallRow)
    lines: dict[bytes, int] = {}
    for line, row in numbered:
        before = lines.setdefault(msgspec.json.encode(row), line)
        if before != line:
            message = f"{path}, line {line}: id: {row.id} is on line {before} word for word; leave one of them out"
            raise RowError(message)
    return numbered


def conversation_of(row: RecallRow) -> str:
    """What may not be split between a fit and its trial."""
    return row.conversation or row.store or row.user.partition(":")[0]


def records_of(row: RecallRow, stores: Mapping[str, Sequence[Record]]) -> Sequence[Record]:
    """The candidates of a row.

    Raises:
        RowError: It has none, and names no store that is known.
    """
    if row.memories:
        found = row.memories
    elif row.store is not None and row.store in stores:
        found = tuple(stores[row.store])
    else:
        message = f"row {row.id}: it has no `memories` and names no store of --stores; give it one of both"
        raise RowError(message)
    return [record for record in found if record.id not in row.exclude]


def by_store(records: Sequence[StoredRecord]) -> dict[str, list[Record]]:
    """The records of each store."""
    stores: dict[str, list[Record]] = {}
    for record in records:
        stores.setdefault(record.store, []).append(record)
    return stores


def present_of(rows: Sequence[RecallRow], stores: Mapping[str, Sequence[Record]]) -> dict[str, int]:
    """A day after the newest record of each conversation, Unix epoch milliseconds; none for one without times.

    Args:
        rows: Of one file.
        stores: The records of the stores that they name.

    Raises:
        RowError: A time is not in ISO 8601.
    """
    newest: dict[str, int] = {}
    for row in rows:
        name = conversation_of(row)
        for record in row.memories or stores.get(row.store or "", ()):
            made_ms = moment_of(record.ts, f"row {row.id}, record {record.id}: ts")
            if made_ms is not None:
                newest[name] = max(made_ms + DAY_MS, newest.get(name, 0))
    return newest


def now_of(row: RecallRow, present: Mapping[str, int]) -> int | None:
    """When a row was said, Unix epoch milliseconds; None when nothing tells.

    Args:
        row: The row.
        present: From `present_of`.

    Raises:
        RowError: Its time is not in ISO 8601.
    """
    said_ms = moment_of(row.now, f"row {row.id}: now")
    return present.get(conversation_of(row)) if said_ms is None else said_ms


def moment_of(ts: str, what: str) -> int | None:
    """Unix epoch milliseconds of a time; None when it is empty.

    Args:
        ts: In ISO 8601, or empty.
        what: Whose time it is, for the error.

    Raises:
        RowError: It is not in ISO 8601.
    """
    try:
        return moment_ms(ts)
    except ValueError as error:
        message = f"{what}: {error}; write it as 2026-11-30T12:00:00Z"
        raise RowError(message) from error
