"""From files of labelled rows to sets: what is reported together, checked before anything is scored."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.resources import as_file, files
from pathlib import Path
from typing import Final

import msgspec

from recalld.daemon.own_calibration.labelling import Record, Turn, memory_of
from recalld.daemon.own_calibration.rows import (
    RecallRow,
    RowError,
    StoredRecord,
    by_store,
    conversation_of,
    moment_of,
    present_of,
    read_labelled,
    read_rows,
    records_of,
)
from recalld.models.domain.records import Memory
from recalld.models.lab.results import Label

UNDATED_MS: Final = 1_000_000_000_000
"""The present of rows that say nothing of time: 2001-09-09, after every undated record."""


class EvalRow(msgspec.Struct, frozen=True, kw_only=True):
    """A row that is ready to be judged.

    Attributes:
        label: What is known of it; no arm sees it.
        text: The user's message.
        now_ms: When it was said, Unix epoch milliseconds.
        shelf: Rows of the same name search the same memories; empty: this row's memories are its own.
        memories: What is searched.
    """

    label: Label
    text: str
    now_ms: int
    shelf: str
    memories: tuple[Memory, ...]


class EvalSet(msgspec.Struct, frozen=True, kw_only=True):
    """Rows that are reported together.

    Attributes:
        name: In the report.
        rows: Without the disputed ones.
        disputed: How many were left out.
    """

    name: str
    rows: tuple[EvalRow, ...]
    disputed: int


class _Numbered(msgspec.Struct, frozen=True, kw_only=True):
    """A row and the line it stands on."""

    line: int
    row: RecallRow


def read_sets(paths: Sequence[Path], store_paths: Sequence[Path]) -> list[EvalSet]:
    """The sets of some files: one for each variant in a file.

    Args:
        paths: Files of recall rows.
        store_paths: Files of the records of stores that rows name.

    Raises:
        RowError: A line is no such row; the message names file, line and field.
        OSError: A file cannot be read.
    """
    stores = by_store([record for path in store_paths for record in read_rows(path, StoredRecord)])
    sets: list[EvalSet] = []
    for path in paths:
        numbered = [_Numbered(line=line, row=row) for line, row in read_labelled(path)]
        if not numbered:
            message = f"{path}, line 1: there is no row in it; docs/measuring.md has the fields of a row"
            raise RowError(message)
        present = present_of([each.row for each in numbered], stores)
        variants = list(dict.fromkeys(each.row.variant for each in numbered))
        for variant in variants:
            mine = [each for each in numbered if each.row.variant == variant]
            name = path.stem if len(variants) == 1 else f"{path.stem}/{variant or 'no variant'}"
            sets.append(_set(_free(name, sets), mine, path, stores, present))
    return sets


def builtin_sets() -> list[EvalSet]:
    """The sources that come with the package, each a set of its own."""
    with as_file(files("recalld.models.calibration") / "data" / "sources") as folder:
        return [_builtin(each) for each in sorted(folder.iterdir()) if each.is_dir()]


def _builtin(folder: Path) -> EvalSet:
    memories = tuple(memory_of(record) for record in read_rows(folder / "records.jsonl", Record))
    turns = read_rows(folder / "turns.jsonl", Turn)
    rows = tuple(
        EvalRow(
            label=_label(turn, folder.name),
            text=turn.query,
            now_ms=UNDATED_MS,
            shelf=folder.name,
            memories=memories,
        )
        for turn in turns
        if not turn.disputed
    )
    return EvalSet(name=folder.name, rows=rows, disputed=sum(turn.disputed for turn in turns))


def _set(
    name: str,
    numbered: Sequence[_Numbered],
    path: Path,
    stores: Mapping[str, Sequence[Record]],
    present: Mapping[str, int],
) -> EvalSet:
    rows = [_row(each, path, stores, present) for each in numbered if not each.row.disputed]
    if not rows:
        message = f"{path}, line {numbered[0].line}: disputed: all rows of {name} are; there is nothing left to measure"
        raise RowError(message)
    return EvalSet(name=name, rows=tuple(rows), disputed=sum(each.row.disputed for each in numbered))


def _row(
    numbered: _Numbered, path: Path, stores: Mapping[str, Sequence[Record]], present: Mapping[str, int]
) -> EvalRow:
    row = numbered.row
    try:
        memories = _memories(row, stores)
        said_ms = moment_of(row.now, f"row {row.id}: now")
    except RowError as error:
        message = f"{path}, line {numbered.line}: {error}"
        raise RowError(message) from error
    return EvalRow(
        label=_label(row, row.source or path.stem),
        text=row.query,
        now_ms=present.get(conversation_of(row), UNDATED_MS) if said_ms is None else said_ms,
        shelf="" if row.memories else "\x1f".join((row.store or "", *sorted(row.exclude))),
        memories=memories,
    )


def _memories(row: RecallRow, stores: Mapping[str, Sequence[Record]]) -> tuple[Memory, ...]:
    """What a row searches. Raises `RowError` where there is nothing, or a memory is there twice."""
    memories = tuple(memory_of(record) for record in records_of(row, stores))
    seen: set[str] = set()
    for memory in memories:
        if memory.id in seen:
            message = f"row {row.id}: memories: the id {memory.id} is there twice; name each memory once"
            raise RowError(message)
        seen.add(memory.id)
    return memories


def _label(turn: Turn, source: str) -> Label:
    return Label(
        row_id=turn.id,
        source=source,
        query_kind=turn.query_kind,
        is_answerable=not turn.nothing_relevant,
        relevant=frozenset(turn.relevant),
    )


def _free(name: str, sets: Sequence[EvalSet]) -> str:
    """The name, with a number where it is taken: two files may be called the same."""
    taken = {each.name for each in sets}
    number = 2
    free = name
    while free in taken:
        free, number = f"{name}-{number}", number + 1
    return free
