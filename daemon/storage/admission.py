"""The transactions of the write path: admit a turn, answer a proposal, take over what was exported."""

from __future__ import annotations

import sqlite3

from recalld.actors.store import admitting, confirming, importing, settling
from recalld.daemon.storage.admission_tables import SqliteTables
from recalld.daemon.storage.changes import ChangeNotes
from recalld.models.domain.admission_store import (
    AdmitTurn,
    Confirm,
    Confirmed,
    ObservationSettled,
    SettleObservation,
    TurnAdmitted,
)
from recalld.models.domain.user_data import ImportMemories, MemoriesImported


def admit_turn(db: sqlite3.Connection, notes: ChangeNotes, command: AdmitTurn) -> TurnAdmitted:
    """Write all facts of a turn, or give what was recorded when the turn was seen before.

    Raises:
        RecalldError: `CONFLICT` for an id that is taken.
        DamagedRowError: Something of it is stored in a damaged row.
    """
    return admitting.admit_turn(SqliteTables(db, notes, command.user), command)


def confirm(db: sqlite3.Connection, notes: ChangeNotes, command: Confirm) -> Confirmed:
    """Answer a proposal.

    Raises:
        RecalldError: `NOT_FOUND`, `FORBIDDEN` and `CONFLICT`, as `confirming.confirm`.
        DamagedRowError: The proposal, or something of its record, is stored in a damaged row.
    """
    return confirming.confirm(SqliteTables(db, notes, command.user), command)


def settle_observation(db: sqlite3.Connection, notes: ChangeNotes, command: SettleObservation) -> ObservationSettled:
    """Take a person's word on an observation.

    Raises:
        RecalldError: `NOT_FOUND`, `FORBIDDEN` and `CONFLICT`, as `settling.settle_observation`.
        DamagedRowError: The observation, or something of its record, is stored in a damaged row.
    """
    return settling.settle_observation(SqliteTables(db, notes, command.user), command)


def import_memories(db: sqlite3.Connection, notes: ChangeNotes, command: ImportMemories) -> MemoriesImported:
    """Take over memories that were exported.

    Raises:
        DamagedRowError: One of them is here in a damaged row.
    """
    return importing.import_memories(SqliteTables(db, notes, command.user), command)
