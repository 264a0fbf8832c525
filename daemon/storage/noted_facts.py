"""Observations and proposals: rows of the tables of those names."""

from __future__ import annotations

import sqlite3
from typing import Final

import msgspec

from recalld.actors.store.admission_rows import ObservationRow, ProposalRow
from recalld.daemon.storage.admission_rows import (
    OBSERVATION_COLUMNS,
    PROPOSAL_COLUMNS,
    observation_from_row,
    proposal_from_row,
)
from recalld.daemon.storage.evidence import drop_evidence
from recalld.models.domain.admission_store import SlotValue
from recalld.models.policy.slot_values import value_key

# Only constant text is joined into the statements below; every value is a parameter.
_OBSERVATION: Final = f"SELECT {OBSERVATION_COLUMNS} FROM observations AS o WHERE o.user_no = ?"  # noqa: S608 - constant text
_PROPOSAL: Final = f"SELECT {PROPOSAL_COLUMNS} FROM proposals AS p WHERE p.user_no = ?"  # noqa: S608 - constant text
_PUT_OBSERVATION: Final = """
    INSERT INTO observations (id, user_no, scope, digest, slot, subject, value_key, first_at_ms, last_at_ms,
        promoted_to, fact) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT (user_no, id) DO UPDATE SET last_at_ms = excluded.last_at_ms, promoted_to = excluded.promoted_to
"""
_PUT_PROPOSAL: Final = """
    INSERT INTO proposals (id, user_no, session, scope, digest, reason, state, created_at_ms, expires_at_ms, proposer,
        memory_id, accepted_text, fact) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT (user_no, id) DO UPDATE SET state = excluded.state, memory_id = excluded.memory_id,
        accepted_text = excluded.accepted_text
"""
_WAITS: Final = "state = 'pending' AND expires_at_ms > ?"


def find_observation(db: sqlite3.Connection, user_no: int, observation_id: str) -> ObservationRow | None:
    """An observation. Raises `DamagedRowError`."""
    row = db.execute(f"{_OBSERVATION} AND o.id = ?", (user_no, observation_id)).fetchone()
    return None if row is None else observation_from_row(row)


def observation_of_words(db: sqlite3.Connection, user_no: int, scope: str, digest: bytes) -> ObservationRow | None:
    """The observation of these words that is no record yet. Raises `DamagedRowError`."""
    row = db.execute(
        f"{_OBSERVATION} AND o.digest = ? AND o.scope = ? AND o.promoted_to = '' ORDER BY o.first_at_ms, o.id LIMIT 1",
        (user_no, digest, scope),
    ).fetchone()
    return None if row is None else observation_from_row(row)


def observations_of_value(
    db: sqlite3.Connection, user_no: int, scope: str, value: SlotValue
) -> tuple[ObservationRow, ...]:
    """Observations of a slot's value that are no records yet, oldest first. Raises `DamagedRowError`."""
    if not value.value:
        return ()
    rows = db.execute(
        f"{_OBSERVATION} AND o.slot = ? AND o.value_key = ? AND o.subject = ? AND o.scope = ? AND o.promoted_to = ''"
        " ORDER BY o.first_at_ms, o.id",
        (user_no, value.slot, value_key(value.value), value.subject, scope),
    ).fetchall()
    return tuple(map(observation_from_row, rows))


def put_observation(db: sqlite3.Connection, user_no: int, row: ObservationRow, digest: bytes) -> None:
    """Store an observation, new or changed."""
    value = row.fact.value or SlotValue(slot="")
    db.execute(
        _PUT_OBSERVATION,
        (
            row.id,
            user_no,
            row.fact.memory.scope,
            digest,
            value.slot,
            value.subject,
            value_key(value.value) if value.value else "",
            row.first_at_ms,
            row.last_at_ms,
            row.promoted_to,
            msgspec.json.encode(row.fact),
        ),
    )


def remove_observation(db: sqlite3.Connection, user_no: int, observation_id: str) -> None:
    """Remove an observation, without its evidence."""
    db.execute("DELETE FROM observations WHERE user_no = ? AND id = ?", (user_no, observation_id))


def drop_observations(db: sqlite3.Connection, user_no: int, *, before_ms: int, keep: int) -> None:
    """Drop observations that are no records and are too old, or over the newest `keep`."""
    rows: list[tuple[str, int]] = db.execute(
        "SELECT id, last_at_ms FROM observations WHERE user_no = ? AND promoted_to = '' ORDER BY last_at_ms DESC,"
        " id DESC",
        (user_no,),
    ).fetchall()
    gone = [note_id for place, (note_id, last_at_ms) in enumerate(rows) if place >= keep or last_at_ms < before_ms]
    db.executemany("DELETE FROM observations WHERE user_no = ? AND id = ?", [(user_no, each) for each in gone])
    drop_evidence(db, user_no, gone)


def find_proposal(db: sqlite3.Connection, user_no: int, proposal_id: str) -> ProposalRow | None:
    """A proposal. Raises `DamagedRowError`."""
    row = db.execute(f"{_PROPOSAL} AND p.id = ?", (user_no, proposal_id)).fetchone()
    return None if row is None else proposal_from_row(row)


def proposal_of_words(db: sqlite3.Connection, user_no: int, scope: str, digest: bytes) -> ProposalRow | None:
    """The newest proposal of these words, in any state. Raises `DamagedRowError`."""
    row = db.execute(
        f"{_PROPOSAL} AND p.digest = ? AND p.scope = ? ORDER BY p.created_at_ms DESC, p.id DESC LIMIT 1",
        (user_no, digest, scope),
    ).fetchone()
    return None if row is None else proposal_from_row(row)


def latest_waiting(db: sqlite3.Connection, user_no: int, session: str, now_ms: int) -> ProposalRow | None:
    """The newest proposal of a session that waits. Raises `DamagedRowError`."""
    row = db.execute(
        f"{_PROPOSAL} AND p.session = ? AND {_WAITS} ORDER BY p.created_at_ms DESC, p.id DESC LIMIT 1",
        (user_no, session, now_ms),
    ).fetchone()
    return None if row is None else proposal_from_row(row)


def count_asked(db: sqlite3.Connection, user_no: int, session: str, since_ms: int) -> int:
    """How many proposals a session was given since then."""
    row: tuple[int] = db.execute(
        "SELECT COUNT(*) FROM proposals WHERE user_no = ? AND session = ? AND created_at_ms >= ?",
        (user_no, session, since_ms),
    ).fetchone()
    return row[0]


def count_waiting(db: sqlite3.Connection, user_no: int, now_ms: int) -> int:
    """How many proposals wait."""
    row: tuple[int] = db.execute(
        f"SELECT COUNT(*) FROM proposals WHERE user_no = ? AND {_WAITS}",  # noqa: S608 - constant text
        (user_no, now_ms),
    ).fetchone()
    return row[0]


def put_proposal(db: sqlite3.Connection, user_no: int, row: ProposalRow, digest: bytes) -> None:
    """Store a proposal, new or changed."""
    db.execute(
        _PUT_PROPOSAL,
        (
            row.id,
            user_no,
            row.session,
            row.fact.memory.scope,
            digest,
            row.reason.value,
            row.state.value,
            row.created_at_ms,
            row.expires_at_ms,
            row.proposer,
            row.memory_id,
            row.accepted_text,
            msgspec.json.encode(row.fact),
        ),
    )


def drop_proposals(db: sqlite3.Connection, user_no: int, *, now_ms: int, keep: int) -> None:
    """Drop the oldest proposals over a number that wait no more."""
    rows: list[tuple[str, int]] = db.execute(
        f"SELECT id, {_WAITS} FROM proposals WHERE user_no = ? ORDER BY created_at_ms DESC, id DESC LIMIT -1 OFFSET ?",  # noqa: S608 - constant text
        (now_ms, user_no, keep),
    ).fetchall()
    gone = [note_id for note_id, waits in rows if not waits]
    db.executemany("DELETE FROM proposals WHERE user_no = ? AND id = ?", [(user_no, each) for each in gone])
    drop_evidence(db, user_no, gone)
