"""Outcomes: the transaction that keeps a report, and the queries that count them."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from typing import Final

import msgspec

from recalld.actors.store.outcome_rules import check_outcome
from recalld.daemon.storage.ledger import find_decision
from recalld.daemon.storage.memories import find_by_id
from recalld.daemon.storage.users import find_user
from recalld.models.domain.outcomes import (
    OUTCOMES_MAX,
    OutcomeRecorded,
    OutcomeResult,
    OutcomeTally,
    RecordOutcome,
    ReportedOutcome,
)
from recalld.models.domain.records import MemoryStatus
from recalld.models.domain.standing import MemoryOutcomes, StandingChoice

_OF_MEMORY: Final = "user_no = ? AND memory_id = ?"
_OF_DECISION: Final = "user_no = ? AND decision_id = ?"
MAKE_ROOM: Final = (
    "DELETE FROM outcomes WHERE user_no = ?1 AND outcome_no <="
    " (SELECT outcome_no FROM outcomes WHERE user_no = ?1 ORDER BY outcome_no DESC LIMIT 1 OFFSET ?2)"
)
"""Removes a user's oldest reports over a number; run with every report."""


def record_outcome(db: sqlite3.Connection, command: RecordOutcome) -> OutcomeRecorded:
    """Keep a report, once, and make room for it.

    Raises:
        RecalldError: As `check_outcome`.
        DamagedRowError: The decision or the memory is stored in a damaged row.
    """
    user_no = find_user(db, command.user)
    decision = find_decision(db, command.decision_id)
    is_there = user_no is not None and _is_there(db, user_no, command)
    check_outcome(command, decision, is_memory_there=is_there)
    made = db.execute(
        "INSERT INTO outcomes (user_no, decision_id, memory_id, result, at_ms, recorded_at_ms)"
        " VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
        (user_no, command.decision_id, command.memory_id, command.result.value, command.at_ms, command.now_ms),
    ).rowcount
    if made:
        _make_room(db, user_no)
    return OutcomeRecorded(is_new=bool(made))


def tallies(db: sqlite3.Connection, user: str, memory_ids: Sequence[str]) -> dict[str, OutcomeTally]:
    """Reports on each memory, counted."""
    user_no = find_user(db, user)
    return {memory_id: _tally(db, _OF_MEMORY, (user_no, memory_id)) for memory_id in memory_ids}


def reported(db: sqlite3.Connection, user: str, *, memory_id: str, decision_id: str, limit: int) -> MemoryOutcomes:
    """What was reported on a memory, or on a decision: counts, and the newest reports."""
    user_no = find_user(db, user)
    where, what = (_OF_MEMORY, memory_id) if memory_id else (_OF_DECISION, decision_id)
    rows: list[tuple[str, str, str, int]] = db.execute(
        f"SELECT decision_id, memory_id, result, at_ms FROM outcomes WHERE {where}"  # noqa: S608 - constant text
        " ORDER BY outcome_no DESC LIMIT ?",
        (user_no, what, max(limit, 0)),
    ).fetchall()
    choice: tuple[str] | None = db.execute(
        "SELECT choice FROM standing_choices WHERE user_no = ? AND memory_id = ?", (user_no, memory_id)
    ).fetchone()
    return MemoryOutcomes(
        tally=_tally(db, where, (user_no, what)),
        newest=tuple(
            ReportedOutcome(decision_id=row[0], memory_id=row[1], result=OutcomeResult(row[2]), at_ms=row[3])
            for row in rows
        ),
        choice=None if choice is None else StandingChoice(choice[0]),
    )


def forget_reports(db: sqlite3.Connection, user_no: int, memory_id: str) -> None:
    """Remove what was reported and decided about a memory; inside the caller's transaction."""
    for table in ("outcomes", "standing_choices"):
        db.execute(f"DELETE FROM {table} WHERE {_OF_MEMORY}", (user_no, memory_id))  # noqa: S608 - constant text


def forget_orphans(db: sqlite3.Connection, user_no: int) -> None:
    """Remove reports on decisions that are no longer in the ledger; inside the transaction of a purge."""
    db.execute(
        "DELETE FROM outcomes WHERE user_no = ? AND decision_id NOT IN (SELECT id FROM decisions WHERE user_no = ?)",
        (user_no, user_no),
    )


def _is_there(db: sqlite3.Connection, user_no: int, command: RecordOutcome) -> bool:
    stored = find_by_id(db, command.user, user_no, command.memory_id)
    return stored is not None and stored.memory.status is not MemoryStatus.FORGOTTEN


def _make_room(db: sqlite3.Connection, user_no: int | None) -> None:
    db.execute(MAKE_ROOM, (user_no, OUTCOMES_MAX))


def _tally(db: sqlite3.Connection, where: str, parameters: tuple[int | None, str]) -> OutcomeTally:
    rows: Iterable[tuple[str, int]] = db.execute(
        f"SELECT result, COUNT(*) FROM outcomes WHERE {where} GROUP BY result",  # noqa: S608 - constant text
        parameters,
    )
    return msgspec.convert(dict(rows), OutcomeTally)
