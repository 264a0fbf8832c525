"""What speaks for memories, observations and proposals: rows of the table `evidence`."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable

from recalld.actors.store.admission_tables import EVIDENCE_MAX
from recalld.daemon.storage.admission_rows import EVIDENCE_COLUMNS, EvidenceRow, evidence_from_row
from recalld.models.domain.admission_store import Evidence
from recalld.models.policy.promotion import turn_of

_TURN = "CASE turn_id WHEN '' THEN decision_id ELSE turn_id END"
"""What tells turns of a session apart, as `promotion.turn_of` does."""
_IS_THERE = f"SELECT 1 FROM evidence WHERE user_no = ? AND holder_id = ? AND session = ? AND {_TURN} = ?"  # noqa: S608 - constant text
_OF_HOLDER = f"SELECT {EVIDENCE_COLUMNS} FROM evidence AS e WHERE e.user_no = ? AND e.holder_id = ? ORDER BY e.at_ms, e.evidence_no"  # noqa: E501, S608 - constant text
_MAKE_ROOM = (
    "DELETE FROM evidence WHERE evidence_no IN (SELECT evidence_no FROM evidence"
    " WHERE user_no = ? AND holder_id = ? ORDER BY evidence_no DESC LIMIT -1 OFFSET ?)"
)


def add_evidence(db: sqlite3.Connection, user_no: int, holder_id: str, evidence: Evidence) -> None:
    """Add a turn to what speaks for a thing, unless it is there; the oldest make room."""
    if db.execute(_IS_THERE, (user_no, holder_id, *turn_of(evidence))).fetchone() is not None:
        return
    db.execute(
        "INSERT INTO evidence (user_no, holder_id, session, turn_id, at_ms, generator, rule, reason, quote,"
        " decision_id) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            user_no,
            holder_id,
            evidence.session,
            evidence.turn_id,
            evidence.at_ms,
            evidence.generator.value,
            evidence.rule,
            evidence.reason.value,
            evidence.quote,
            evidence.decision_id,
        ),
    )
    db.execute(_MAKE_ROOM, (user_no, holder_id, EVIDENCE_MAX))


def evidence_of(db: sqlite3.Connection, user_no: int, holder_id: str) -> tuple[Evidence, ...]:
    """What speaks for a thing, oldest first.

    Raises:
        DamagedRowError: A row is damaged.
    """
    rows: list[EvidenceRow] = db.execute(_OF_HOLDER, (user_no, holder_id)).fetchall()
    return tuple(evidence_from_row(holder_id, row) for row in rows)


def quotes_of(db: sqlite3.Connection, user_no: int, holder_id: str) -> tuple[str, ...]:
    """The words quoted for a thing, of damaged rows as well."""
    rows = db.execute("SELECT quote FROM evidence WHERE user_no = ? AND holder_id = ?", (user_no, holder_id))
    return tuple(quote for (quote,) in rows)


def move_evidence(db: sqlite3.Connection, user_no: int, from_id: str, to_id: str) -> None:
    """Let the turns behind one thing speak for another, but for those that do already."""
    if from_id == to_id:
        return
    db.execute(
        f"DELETE FROM evidence AS e WHERE user_no = ?1 AND holder_id = ?2 AND EXISTS (SELECT 1 FROM evidence AS t"  # noqa: S608 - constant text
        f" WHERE t.user_no = ?1 AND t.holder_id = ?3 AND t.session = e.session AND {_turn('t')} = {_turn('e')})",
        (user_no, from_id, to_id),
    )
    db.execute("UPDATE evidence SET holder_id = ? WHERE user_no = ? AND holder_id = ?", (to_id, user_no, from_id))


def drop_evidence(db: sqlite3.Connection, user_no: int, holder_ids: Iterable[str]) -> None:
    """Drop what speaks for things."""
    rows = [(user_no, holder_id) for holder_id in holder_ids]
    db.executemany("DELETE FROM evidence WHERE user_no = ? AND holder_id = ?", rows)


def _turn(alias: str) -> str:
    return f"CASE {alias}.turn_id WHEN '' THEN {alias}.decision_id ELSE {alias}.turn_id END"
