"""Forgetting what hangs on a memory: evidence, slots, links to older and newer records, observations, proposals.

And what would bring it back: observations and proposals of the same words, or of the same value of a slot.
"""

from __future__ import annotations

import sqlite3

from recalld.actors.store.forgetting_rules import Reach, reach_of
from recalld.daemon.storage.admission_rows import (
    OBSERVATION_COLUMNS,
    PROPOSAL_COLUMNS,
    ObservationCells,
    ProposalCells,
    observation_from_row,
    proposal_from_row,
)
from recalld.daemon.storage.audit_samples import forget_samples
from recalld.daemon.storage.errors import DamagedRowError
from recalld.daemon.storage.evidence import drop_evidence, quotes_of
from recalld.daemon.storage.memories import StoredMemory
from recalld.daemon.storage.pending_turns import forget_pending
from recalld.daemon.storage.slots import slots_of


def forget_derived(db: sqlite3.Connection, stored: StoredMemory) -> None:
    """Remove it, inside the transaction that forgets the memory, while its words are still there.

    Costs a walk over the user's observations, proposals and quotes.
    """
    user_no, memory = stored.user_no, stored.memory
    quotes = quotes_of(db, user_no, memory.id)
    reach = reach_of(memory, slots_of(db, user_no, memory.id), quotes)
    forget_pending(db, user_no, reach)
    forget_samples(db, user_no, reach)
    observed, proposed = _observations(db, user_no, reach), _proposals(db, user_no, reach)
    db.executemany("DELETE FROM observations WHERE user_no = ? AND id = ?", [(user_no, each) for each in observed])
    db.executemany("DELETE FROM proposals WHERE user_no = ? AND id = ?", [(user_no, each) for each in proposed])
    drop_evidence(db, user_no, (memory.id, *observed, *proposed))
    _blank_quotes(db, user_no, reach)
    db.execute("DELETE FROM memory_slots WHERE memory_no = ?", (stored.memory_no,))
    db.execute("DELETE FROM closings WHERE user_no = ?1 AND (older_id = ?2 OR newer_id = ?2)", (user_no, memory.id))


def _observations(db: sqlite3.Connection, user_no: int, reach: Reach) -> list[str]:
    rows: list[ObservationCells] = db.execute(
        f"SELECT {OBSERVATION_COLUMNS} FROM observations AS o WHERE o.user_no = ?",  # noqa: S608 - constant text
        (user_no,),
    ).fetchall()
    return [row[0] for row in rows if _holds_observation(reach, row)]


def _proposals(db: sqlite3.Connection, user_no: int, reach: Reach) -> list[str]:
    rows: list[ProposalCells] = db.execute(
        f"SELECT {PROPOSAL_COLUMNS} FROM proposals AS p WHERE p.user_no = ?",  # noqa: S608 - constant text
        (user_no,),
    ).fetchall()
    return [row[0] for row in rows if _holds_proposal(reach, row)]


def _holds_observation(reach: Reach, row: ObservationCells) -> bool:
    """Whether an observation goes. One that nobody can read may repeat the words, and goes as well."""
    try:
        return reach.holds_observation(observation_from_row(row))
    except DamagedRowError:
        return True


def _holds_proposal(reach: Reach, row: ProposalCells) -> bool:
    """As `_holds_observation`, of a proposal."""
    try:
        return reach.holds_proposal(proposal_from_row(row))
    except DamagedRowError:
        return True


def _blank_quotes(db: sqlite3.Connection, user_no: int, reach: Reach) -> None:
    """Blank the quotes of other memories that repeat the words: one sentence of a turn may speak for several facts."""
    rows: list[tuple[int, str]] = db.execute(
        "SELECT evidence_no, quote FROM evidence WHERE user_no = ? AND quote <> ''", (user_no,)
    ).fetchall()
    reached = [(evidence_no,) for evidence_no, quote in rows if reach.holds_quote(quote)]
    db.executemany("UPDATE evidence SET quote = '' WHERE evidence_no = ?", reached)
