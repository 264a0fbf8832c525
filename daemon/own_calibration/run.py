"""The calibrate command's work: read the files, score what the gate would score, fit, and say what to expect."""

from __future__ import annotations

import enum
import hashlib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import msgspec

from recalld.daemon.own_calibration.builtin import BuiltinSource, builtin_sources
from recalld.daemon.own_calibration.labelling import Nominated, PairModels, Record, label, labelled, memory_of
from recalld.daemon.own_calibration.rows import (
    RecallRow,
    RowError,
    StoredRecord,
    by_store,
    conversation_of,
    now_of,
    present_of,
    read_labelled,
    read_rows,
    records_of,
)
from recalld.models.calibration.fit import CalibrationInfo
from recalld.models.calibration.fit_own import FLOOR_ITEMS, OwnFitOptions, check_volume, volume_of
from recalld.models.calibration.labelled import LabelledTurn
from recalld.models.calibration.own_record import own_record
from recalld.models.calibration.record import CalibrationKeys, CalibrationRecord
from recalld.models.policy.floor import FloorValues


class CalibrationStage(enum.StrEnum):
    """What takes the time."""

    READING = "looking at records"
    SCORING = "scoring pairs"
    FITTING = "trying on what was left out"


StageProgress = Callable[[CalibrationStage, int, int], None]
"""Called with the stage, what is done of it, and all of it."""


class CalibrationInput(msgspec.Struct, frozen=True, kw_only=True):
    """What to calibrate on.

    Attributes:
        files: Files of labelled rows; each is a source.
        store_files: Files of the records of stores that rows name.
        keys: What runs, to which the record is bound.
        floors: Where fusion puts the middle of its scale; it only orders.
        date: ISO date of the fit.
        options: How to fit.
        has_builtin: Whether to fit on the sources of the package, too; the record is then not one's own.
    """

    files: tuple[Path, ...]
    store_files: tuple[Path, ...] = ()
    keys: CalibrationKeys
    floors: FloorValues
    date: str
    options: OwnFitOptions
    has_builtin: bool = False


class Calibrated(msgspec.Struct, frozen=True, kw_only=True):
    """A record, and how many disputed rows were left out of it."""

    record: CalibrationRecord
    disputed: int


def calibrate(given: CalibrationInput, models: PairModels, on_progress: StageProgress) -> Calibrated:
    """Fit a record on labelled rows.

    Args:
        given: What on.
        models: To embed and to score with.
        on_progress: Told what is going on.

    Raises:
        RowError: A line of a file is no labelled row.
        OSError: A file cannot be read.
        InsufficientDataError: There is too little to fit on; it is said before anything is scored.
        ValueError: No candidate is relevant, or all are.
    """
    stores = by_store([record for path in given.store_files for record in read_rows(path, StoredRecord)])
    by_file = [(path, read_labelled(path)) for path in given.files]
    sources = builtin_sources() if given.has_builtin else []
    nominated = [
        *_nominate(by_file, stores, given.floors, models, on_progress),
        *(turn for source in sources for turn in _nominate_builtin(source, given.floors, models, on_progress)),
    ]
    unscored = [labelled(turn, turn.candidates[:FLOOR_ITEMS]) for turn in nominated]
    check_volume(volume_of(unscored), given.options.volume_min)
    turns: list[LabelledTurn] = []
    for turn in nominated:
        turns.append(label(models, turn, None))
        on_progress(CalibrationStage.SCORING, len(turns), len(nominated))
    digest = _corpus_sha256([*given.files, *given.store_files], sources)
    disputed = sum(row.disputed for _, rows in by_file for _, row in rows)
    disputed += sum(turn.disputed for source in sources for turn in source.turns)
    record = own_record(
        turns,
        info=CalibrationInfo(
            id=f"{'package' if sources else 'own'}-{given.date}-{digest[:8]}",
            date=given.date,
            provenance=f"Fitted by `recalld calibrate` on {len(turns)} turns of "
            f"{len({turn.conversation for turn in turns})} conversations; {disputed} disputed rows were left out.",
            keys=given.keys,
            corpus_id="+".join([*(path.name for path in given.files), *(source.name for source in sources)]),
            corpus_sha256=digest,
        ),
        options=given.options,
        on_progress=lambda done, total: on_progress(CalibrationStage.FITTING, done, total),
    )
    return Calibrated(record=msgspec.structs.replace(record, is_own=not sources), disputed=disputed)


def _nominate(
    by_file: Sequence[tuple[Path, Sequence[tuple[int, RecallRow]]]],
    stores: Mapping[str, Sequence[Record]],
    floors: FloorValues,
    models: PairModels,
    on_progress: StageProgress,
) -> list[Nominated]:
    total = sum(not row.disputed for _, rows in by_file for _, row in rows)
    nominated: list[Nominated] = []
    for path, rows in by_file:
        present = present_of([row for _, row in rows], stores)
        for line, row in rows:
            if row.disputed:
                continue
            nominated.append(
                models.nominate(
                    row,
                    [memory_of(record) for record in _records(row, stores, f"{path}, line {line}")],
                    floors,
                    source=path.name,
                    conversation=conversation_of(row),
                    now_ms=now_of(row, present),
                )
            )
            on_progress(CalibrationStage.READING, len(nominated), total)
    return nominated


def _nominate_builtin(
    source: BuiltinSource, floors: FloorValues, models: PairModels, on_progress: StageProgress
) -> list[Nominated]:
    memories = [memory_of(record) for record in source.records]
    turns = [turn for turn in source.turns if not turn.disputed]
    nominated: list[Nominated] = []
    for turn in turns:
        nominated.append(models.nominate(turn, memories, floors, source=source.name, conversation=source.name))
        on_progress(CalibrationStage.READING, len(nominated), len(turns))
    return nominated


def _records(row: RecallRow, stores: Mapping[str, Sequence[Record]], where: str) -> Sequence[Record]:
    """The candidates of a row. Raises `RowError` that says where it stands, when there are none."""
    try:
        return records_of(row, stores)
    except RowError as error:
        message = f"{where}: {error}"
        raise RowError(message) from error


def _corpus_sha256(files: Sequence[Path], sources: Sequence[BuiltinSource]) -> str:
    digest = hashlib.sha256()
    for path in files:
        digest.update(path.read_bytes())
    for source in sources:
        digest.update(source.content)
    return digest.hexdigest()
