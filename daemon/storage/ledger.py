"""Decisions and observed turns: what was decided, so that it can be explained and is not decided twice."""

from __future__ import annotations

import sqlite3
from typing import Final

import msgspec

from recalld.actors.store.rules import EMPTY_BODY, body_needles
from recalld.daemon.storage.errors import DamagedRowError, RowKind
from recalld.daemon.storage.ledger_tallies import add_tallies, trim_tallies
from recalld.daemon.storage.rows import decision_from_row
from recalld.daemon.storage.users import ensure_user
from recalld.models.domain.reasons import AdmissionReason, RememberOutcome
from recalld.models.domain.store import DecisionRow

_LED_TO: Final = (
    "(memory_id = ?2 OR turn_key IN (SELECT turn_key FROM turn_facts WHERE user_no = ?1 AND instr(facts, ?3) > 0))"
)
"""A condition on `turns`: the turn led to a memory, as its first or as any of its facts."""


class TurnRecord(msgspec.Struct, frozen=True, kw_only=True):
    """What an observed turn led to."""

    decision_id: str
    reason: AdmissionReason
    outcome: RememberOutcome | None
    memory_id: str | None


def append_decision(db: sqlite3.Connection, row: DecisionRow) -> None:
    """Add a ledger row and count it, in the caller's transaction. A row that is there already stays as it is."""
    user_no = ensure_user(db, row.user)
    added = db.execute(
        "INSERT INTO decisions VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING",
        (
            row.id,
            user_no,
            row.session,
            row.op.value,
            row.at_ms,
            row.decision,
            row.reason,
            row.mode,
            row.degraded_reason,
            row.body,
        ),
    )
    if added.rowcount == 1:
        add_tallies(db, user_no, row)


def find_decision(db: sqlite3.Connection, decision_id: str) -> DecisionRow | None:
    """A ledger row, or None."""
    row = db.execute(
        "SELECT d.id, u.name, d.session, d.op, d.at_ms, d.decision, d.reason, d.mode, d.degraded_reason, d.body"
        " FROM decisions AS d JOIN users AS u USING (user_no) WHERE d.id = ?",
        (decision_id,),
    ).fetchone()
    return None if row is None else decision_from_row(row)


def find_turn(db: sqlite3.Connection, user_no: int, turn_key: str) -> TurnRecord | None:
    """What an observed turn led to; None when it was not seen before.

    Raises:
        DamagedRowError: The row cannot be what this program wrote.
    """
    row: tuple[str, str, str | None, str | None] | None = db.execute(
        "SELECT decision_id, reason, outcome, memory_id FROM turns WHERE user_no = ? AND turn_key = ?",
        (user_no, turn_key),
    ).fetchone()
    if row is None:
        return None
    decision_id, reason, outcome, memory_id = row
    try:
        return TurnRecord(
            decision_id=decision_id,
            reason=AdmissionReason(reason),
            outcome=None if outcome is None else RememberOutcome(outcome),
            memory_id=memory_id,
        )
    except ValueError as error:
        raise DamagedRowError(RowKind.TURN, decision_id) from error


def record_turn(db: sqlite3.Connection, user_no: int, turn_key: str, at_ms: int, record: TurnRecord) -> None:
    """Note what an observed turn led to, inside the caller's transaction."""
    db.execute(
        "INSERT INTO turns VALUES (?, ?, ?, ?, ?, ?, ?)",
        (
            user_no,
            turn_key,
            record.decision_id,
            record.reason.value,
            None if record.outcome is None else record.outcome.value,
            record.memory_id,
            at_ms,
        ),
    )


def clean_bodies(db: sqlite3.Connection, user_no: int, memory_id: str, text: str) -> None:
    """Empty the bodies of a user's ledger rows that name a memory or repeat its text; inside the caller's transaction.

    Bodies hold text only where the configuration asks for it; then forgetting reaches it there too.
    """
    for needle in body_needles(memory_id, text):
        db.execute(
            "UPDATE decisions SET body = ? WHERE user_no = ? AND instr(body, ?) > 0", (EMPTY_BODY, user_no, needle)
        )


def remove_decisions(db: sqlite3.Connection, user_no: int, memory_id: str, text: str) -> None:
    """Remove a user's ledger rows that led to a memory, name it or repeat its text; inside the caller's transaction."""
    db.execute(
        "DELETE FROM decisions WHERE user_no = ?1"  # noqa: S608 - constant text
        f" AND id IN (SELECT decision_id FROM turns WHERE user_no = ?1 AND {_LED_TO})",
        (user_no, memory_id, _as_json(memory_id)),
    )
    for needle in body_needles(memory_id, text):
        db.execute("DELETE FROM decisions WHERE user_no = ? AND instr(body, ?) > 0", (user_no, needle))


def remove_turns(db: sqlite3.Connection, user_no: int, memory_id: str) -> None:
    """Remove the turns that led to a memory, inside the caller's transaction."""
    db.execute(
        f"DELETE FROM turns WHERE user_no = ?1 AND {_LED_TO}",  # noqa: S608 - constant text
        (user_no, memory_id, _as_json(memory_id)),
    )


def _as_json(memory_id: str) -> bytes:
    """An id as a whole value in the JSON of a turn's facts."""
    return msgspec.json.encode(memory_id)


def trim_ledger(db: sqlite3.Connection, before_ms: int) -> None:
    """Drop ledger rows, their counts and turn records older than `before_ms`, inside the caller's transaction."""
    db.execute("DELETE FROM decisions WHERE at_ms < ?", (before_ms,))
    trim_tallies(db, before_ms)
    db.execute("DELETE FROM turns WHERE at_ms < ?", (before_ms,))
