"""Reading observations, proposals, lineage and exports."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import Final

from recalld.actors.store.admission_rows import ObservationRow, ProposalRow
from recalld.actors.store.cursors import PagePosition, decode_cursor, encode_cursor
from recalld.actors.store.export_pages import ExportPart, cursor_of, next_page, position_of
from recalld.actors.store.listing import checked_limit
from recalld.daemon.storage.admission_rows import (
    OBSERVATION_COLUMNS,
    PROPOSAL_COLUMNS,
    observation_from_row,
    proposal_from_row,
)
from recalld.daemon.storage.evidence import evidence_of
from recalld.daemon.storage.noted_facts import find_observation, find_proposal
from recalld.daemon.storage.queries import memories_by_id
from recalld.daemon.storage.slots import slots_of
from recalld.daemon.storage.users import find_user
from recalld.models.domain.admission_store import (
    Evidence,
    Lineage,
    ObservationPage,
    ProposalPage,
    ProposalState,
)
from recalld.models.domain.records import Memory, MemoryStatus
from recalld.models.domain.user_data import ExportPage, PortableMemory, PortableObservation, PortableProposal

# Only constant text is joined into the statements below; every value is a parameter.
_OBSERVATIONS: Final = f"""
    SELECT {OBSERVATION_COLUMNS} FROM observations AS o WHERE o.user_no = :user_no
    AND (:before_ms IS NULL OR (o.last_at_ms, o.id) < (:before_ms, :before_id))
    ORDER BY o.last_at_ms DESC, o.id DESC LIMIT :limit
"""  # noqa: S608 - constant text
_STATE: Final = "CASE WHEN p.state = 'pending' AND p.expires_at_ms <= :now_ms THEN 'expired' ELSE p.state END"
_IN_STATES: Final = f"(:states = '[]' OR {_STATE} IN (SELECT value FROM json_each(:states)))"  # noqa: S608 - constant text
_PROPOSALS: Final = f"""
    SELECT {PROPOSAL_COLUMNS} FROM proposals AS p WHERE p.user_no = :user_no AND {_IN_STATES}
    AND (:before_ms IS NULL OR (p.created_at_ms, p.id) < (:before_ms, :before_id))
    ORDER BY p.created_at_ms DESC, p.id DESC LIMIT :limit
"""  # noqa: S608 - constant text
_FOUND: Final = {
    ExportPart.MEMORIES: f"""
        SELECT created_at_ms, id FROM memories WHERE user_no = :user_no AND status <> '{MemoryStatus.FORGOTTEN.value}'
        AND (:after_ms IS NULL OR (created_at_ms, id) > (:after_ms, :after_id))
        ORDER BY created_at_ms, id LIMIT :limit
    """,  # noqa: S608 - constant text
    ExportPart.OBSERVATIONS: """
        SELECT first_at_ms, id FROM observations WHERE user_no = :user_no
        AND (:after_ms IS NULL OR (first_at_ms, id) > (:after_ms, :after_id))
        ORDER BY first_at_ms, id LIMIT :limit
    """,
    ExportPart.PROPOSALS: """
        SELECT created_at_ms, id FROM proposals WHERE user_no = :user_no
        AND (:after_ms IS NULL OR (created_at_ms, id) > (:after_ms, :after_id))
        ORDER BY created_at_ms, id LIMIT :limit
    """,
}


def observations(
    db: sqlite3.Connection, user: str, *, since_ms: int, limit: int, cursor: str | None
) -> ObservationPage:
    """A page of observations, the one made last first. Raises `BAD_REQUEST` and `DamagedRowError`."""
    size = checked_limit(limit)
    user_no = find_user(db, user)
    parameters = {"user_no": user_no, "limit": size + 1, **_before(cursor)}
    rows = [observation_from_row(row) for row in db.execute(_OBSERVATIONS, parameters)]
    page = rows[:size]
    total: int = db.execute("SELECT COUNT(*) FROM observations WHERE user_no = ?", (user_no,)).fetchone()[0]
    return ObservationPage(
        observations=tuple(row.view(_turns(db, user_no, row), since_ms=since_ms) for row in page),
        cursor=encode_cursor(PagePosition(page[-1].last_at_ms, page[-1].id)) if len(rows) > size else None,
        total=total,
    )


def proposals(
    db: sqlite3.Connection,
    user: str,
    states: Sequence[ProposalState],
    *,
    now_ms: int,
    limit: int,
    cursor: str | None,
) -> ProposalPage:
    """A page of proposals, newest first. Raises `BAD_REQUEST` and `DamagedRowError`."""
    size = checked_limit(limit)
    wanted = "[" + ",".join(f'"{state.value}"' for state in states) + "]"
    where = {"user_no": find_user(db, user), "states": wanted, "now_ms": now_ms}
    rows = [proposal_from_row(row) for row in db.execute(_PROPOSALS, {**where, "limit": size + 1, **_before(cursor)})]
    page = rows[:size]
    total: int = db.execute(
        f"SELECT COUNT(*) FROM proposals AS p WHERE p.user_no = :user_no AND {_IN_STATES}",  # noqa: S608 - constant text
        where,
    ).fetchone()[0]
    return ProposalPage(
        proposals=tuple(row.view(now_ms) for row in page),
        cursor=encode_cursor(PagePosition(page[-1].created_at_ms, page[-1].id)) if len(rows) > size else None,
        total=total,
    )


def lineage(db: sqlite3.Connection, user: str, memory_id: str, *, now_ms: int) -> Lineage | None:
    """Everything behind a record; None for one that is not there, was forgotten, or is damaged."""
    user_no = find_user(db, user)
    memory = _one(db, user, memory_id)
    if user_no is None or memory is None:
        return None
    slot = next(iter(slots_of(db, user_no, memory_id)), None)
    observed = _latest_observation(db, user_no, memory_id)
    answered = _latest_proposal(db, user_no, memory_id)
    closing: tuple[str] | None = db.execute(
        "SELECT newer_id FROM closings WHERE user_no = ? AND older_id = ?", (user_no, memory_id)
    ).fetchone()
    older = [
        older_id
        for (older_id,) in db.execute(
            "SELECT older_id FROM closings WHERE user_no = ? AND newer_id = ? ORDER BY at_ms DESC, older_id DESC",
            (user_no, memory_id),
        )
    ]
    replaced = memories_by_id(db, user, older)
    return Lineage(
        memory=memory,
        evidence=evidence_of(db, user_no, memory_id),
        observation=None if observed is None else observed.view(_turns(db, user_no, observed), since_ms=0),
        proposal=None if answered is None else answered.view(now_ms),
        supersedes=tuple(replaced[older_id] for older_id in older if older_id in replaced),
        superseded_by=None if closing is None else _one(db, user, closing[0]),
        slot="" if slot is None else slot.slot,
        subject="" if slot is None else slot.subject,
    )


def exported(db: sqlite3.Connection, user: str, *, now_ms: int, limit: int, cursor: str | None) -> ExportPage:
    """A page of everything that is kept of the user; damaged memories are left out.

    Raises:
        RecalldError: `BAD_REQUEST` for a cursor that this store did not make, or a limit out of range.
        DamagedRowError: Something else of it is damaged.
    """
    size = checked_limit(limit)
    part, after = position_of(cursor)
    user_no = find_user(db, user)
    bounds = {
        "user_no": user_no,
        "after_ms": None if after is None else after.created_at_ms,
        "after_id": None if after is None else after.memory_id,
        "limit": size + 1,
    }
    ids, more = next_page(db.execute(_FOUND[part], bounds).fetchall(), after, size)
    following = cursor_of(part, more)
    if user_no is None:
        return ExportPage(cursor=following)
    match part:
        case ExportPart.MEMORIES:
            found = memories_by_id(db, user, ids)
            return ExportPage(
                memories=tuple(_portable(db, user_no, memory) for memory in found.values()), cursor=following
            )
        case ExportPart.OBSERVATIONS:
            rows = (find_observation(db, user_no, each) for each in ids)
            return ExportPage(
                observations=tuple(
                    PortableObservation(
                        observation=row.view(_turns(db, user_no, row), since_ms=0),
                        fact=row.fact.portable(),
                        evidence=evidence_of(db, user_no, row.id),
                    )
                    for row in rows
                    if row is not None
                ),
                cursor=following,
            )
        case ExportPart.PROPOSALS:
            answers = (find_proposal(db, user_no, each) for each in ids)
            return ExportPage(
                proposals=tuple(
                    PortableProposal(
                        proposal=row.view(now_ms),
                        fact=row.fact.portable(),
                        evidence=evidence_of(db, user_no, row.id),
                    )
                    for row in answers
                    if row is not None
                ),
                cursor=following,
            )


def _portable(db: sqlite3.Connection, user_no: int, memory: Memory) -> PortableMemory:
    closing: tuple[str, int] | None = db.execute(
        "SELECT newer_id, at_ms FROM closings WHERE user_no = ? AND older_id = ?", (user_no, memory.id)
    ).fetchone()
    return PortableMemory(
        memory=memory,
        evidence=evidence_of(db, user_no, memory.id),
        slots=slots_of(db, user_no, memory.id),
        superseded_by="" if closing is None else closing[0],
        closed_at_ms=None if closing is None else closing[1],
    )


def _one(db: sqlite3.Connection, user: str, memory_id: str) -> Memory | None:
    return memories_by_id(db, user, (memory_id,)).get(memory_id)


def _latest_observation(db: sqlite3.Connection, user_no: int, memory_id: str) -> ObservationRow | None:
    row = db.execute(
        f"SELECT {OBSERVATION_COLUMNS} FROM observations AS o WHERE o.user_no = ? AND o.promoted_to = ?"  # noqa: S608 - constant text
        " ORDER BY o.last_at_ms DESC, o.id DESC LIMIT 1",
        (user_no, memory_id),
    ).fetchone()
    return None if row is None else observation_from_row(row)


def _latest_proposal(db: sqlite3.Connection, user_no: int, memory_id: str) -> ProposalRow | None:
    row = db.execute(
        f"SELECT {PROPOSAL_COLUMNS} FROM proposals AS p WHERE p.user_no = ? AND p.memory_id = ?"  # noqa: S608 - constant text
        " ORDER BY p.created_at_ms DESC, p.id DESC LIMIT 1",
        (user_no, memory_id),
    ).fetchone()
    return None if row is None else proposal_from_row(row)


def _turns(db: sqlite3.Connection, user_no: int | None, row: ObservationRow) -> tuple[Evidence, ...]:
    """The turns behind an observation; those of a promoted one went to its record."""
    return () if user_no is None else evidence_of(db, user_no, row.promoted_to or row.id)


def _before(cursor: str | None) -> dict[str, int | str | None]:
    position = None if cursor is None else decode_cursor(cursor)
    return {
        "before_ms": None if position is None else position.created_at_ms,
        "before_id": None if position is None else position.memory_id,
    }
