"""What beside memories holds the words by which a person has things forgotten: counted, or removed.

Costs a walk over the user's waiting turns, observations, proposals and quotes.
"""

from __future__ import annotations

import sqlite3

import msgspec

from recalld.actors.store.forgetting_rules import Sought
from recalld.daemon.storage.admission_rows import (
    OBSERVATION_COLUMNS,
    PROPOSAL_COLUMNS,
    ObservationCells,
    ProposalCells,
    observation_from_row,
    proposal_from_row,
)
from recalld.daemon.storage.errors import DamagedRowError
from recalld.daemon.storage.evidence import drop_evidence, quotes_of
from recalld.daemon.storage.users import find_user
from recalld.models.domain.store import NoteCounts


class _Found(msgspec.Struct, frozen=True, kw_only=True):
    """Numbers of waiting turns, and ids of observations and proposals."""

    turns: tuple[int, ...]
    observations: tuple[str, ...]
    proposals: tuple[str, ...]

    @property
    def counts(self) -> NoteCounts:
        return NoteCounts(
            pending_turns=len(self.turns), observations=len(self.observations), proposals=len(self.proposals)
        )


def count(db: sqlite3.Connection, user: str, sought: Sought) -> NoteCounts:
    """How much of a user holds the words."""
    user_no = find_user(db, user)
    return NoteCounts() if user_no is None or not sought.words else _find(db, user_no, sought).counts


def forget_notes(db: sqlite3.Connection, user_no: int, sought: Sought) -> NoteCounts:
    """Remove it, inside the transaction that forgets, and blank the quotes of memories that hold the words."""
    if not sought.words:
        return NoteCounts()
    found = _find(db, user_no, sought)
    for table, key, gone in (
        ("pending_turns", "number", found.turns),
        ("observations", "id", found.observations),
        ("proposals", "id", found.proposals),
    ):
        db.executemany(
            f"DELETE FROM {table} WHERE user_no = ? AND {key} = ?",  # noqa: S608 - names from the lines above
            [(user_no, each) for each in gone],
        )
    drop_evidence(db, user_no, (*found.observations, *found.proposals))
    quoted: list[tuple[int, str]] = db.execute(
        "SELECT evidence_no, quote FROM evidence WHERE user_no = ? AND quote <> ''", (user_no,)
    ).fetchall()
    reached = [(evidence_no,) for evidence_no, quote in quoted if sought.is_in(quote)]
    db.executemany("UPDATE evidence SET quote = '' WHERE evidence_no = ?", reached)
    return found.counts


def _find(db: sqlite3.Connection, user_no: int, sought: Sought) -> _Found:
    turns: list[tuple[int, str]] = db.execute(
        "SELECT number, text FROM pending_turns WHERE user_no = ?", (user_no,)
    ).fetchall()
    observed: list[ObservationCells] = db.execute(
        f"SELECT {OBSERVATION_COLUMNS} FROM observations AS o WHERE o.user_no = ?",  # noqa: S608 - constant text
        (user_no,),
    ).fetchall()
    proposed: list[ProposalCells] = db.execute(
        f"SELECT {PROPOSAL_COLUMNS} FROM proposals AS p WHERE p.user_no = ?",  # noqa: S608 - constant text
        (user_no,),
    ).fetchall()
    return _Found(
        turns=tuple(number for number, text in turns if sought.is_in(text)),
        observations=tuple(row[0] for row in observed if _is_in_observation(db, user_no, sought, row)),
        proposals=tuple(row[0] for row in proposed if _is_in_proposal(db, user_no, sought, row)),
    )


def _is_in_observation(db: sqlite3.Connection, user_no: int, sought: Sought, row: ObservationCells) -> bool:
    """Whether an observation holds the words. One that nobody can read may, and goes as well."""
    try:
        return sought.is_in_observation(observation_from_row(row), quotes_of(db, user_no, row[0]))
    except DamagedRowError:
        return True


def _is_in_proposal(db: sqlite3.Connection, user_no: int, sought: Sought, row: ProposalCells) -> bool:
    """As `_is_in_observation`, of a proposal."""
    try:
        return sought.is_in_proposal(proposal_from_row(row), quotes_of(db, user_no, row[0]))
    except DamagedRowError:
        return True
