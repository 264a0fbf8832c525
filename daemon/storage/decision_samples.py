"""The newest decisions of a user, as drift looks at them: read by the index on users, newest first."""

from __future__ import annotations

import sqlite3
from typing import Final

from recalld.daemon.storage.users import find_user
from recalld.models.domain.drift import DecisionSample
from recalld.models.domain.reasons import Op
from recalld.models.policy.drift.samples import sample_of

WATCHED: Final = (Op.RECALL, Op.OBSERVE)
# Rows are numbered as they are written, and the index on users holds those numbers: nothing is sorted.
_NEWEST: Final = (
    "SELECT at_ms, decision, reason, mode, body FROM decisions WHERE user_no = ? AND op = ? ORDER BY rowid DESC LIMIT ?"
)


def newest_samples(db: sqlite3.Connection, user: str, *, limit: int) -> tuple[DecisionSample, ...]:
    """The newest recalls and observed turns of a user, newest first, at most `limit` of each kind."""
    user_no = find_user(db, user)
    if user_no is None:
        return ()
    return tuple(
        sample_of(op=op, at_ms=at_ms, decision=decision, reason=reason, mode=mode, body=body)
        for op in WATCHED
        for at_ms, decision, reason, mode, body in db.execute(_NEWEST, (user_no, op.value, limit))
    )


def newest_users(db: sqlite3.Connection, *, since_ms: int, limit: int) -> tuple[str, ...]:
    """Users with ledger rows since a time, those with the newest first."""
    rows = db.execute(
        "SELECT u.name FROM decisions AS d JOIN users AS u USING (user_no) WHERE d.at_ms >= ?"
        " GROUP BY user_no ORDER BY MAX(d.at_ms) DESC, u.name LIMIT ?",
        (since_ms, limit),
    )
    return tuple(name.decode("utf-8") for (name,) in rows)
