"""The labelled sources that come with the package, as the calibrate command reads them."""

from __future__ import annotations

from importlib.resources import as_file, files

import msgspec

from recalld.daemon.own_calibration.labelling import Record, Turn
from recalld.daemon.own_calibration.rows import read_rows


class BuiltinSource(msgspec.Struct, frozen=True, kw_only=True):
    """A source: one store of records, and turns that were written for it.

    Attributes:
        name: Of the source, which is one conversation.
        records: All of them are candidates of each turn.
        turns: Labelled, disputed ones among them.
        content: The bytes of both files.
    """

    name: str
    records: tuple[Record, ...]
    turns: tuple[Turn, ...]
    content: bytes


def builtin_sources() -> list[BuiltinSource]:
    """Every source of the package, by name."""
    with as_file(files("recalld.models.calibration") / "data" / "sources") as folder:
        return [
            BuiltinSource(
                name=each.name,
                records=tuple(read_rows(each / "records.jsonl", Record)),
                turns=tuple(read_rows(each / "turns.jsonl", Turn)),
                content=(each / "records.jsonl").read_bytes() + (each / "turns.jsonl").read_bytes(),
            )
            for each in sorted(folder.iterdir())
            if each.is_dir()
        ]
