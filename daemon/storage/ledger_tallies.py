"""Counting ledger rows as they are written, and reading the counts of a window."""

from __future__ import annotations

import sqlite3
from typing import Final

from recalld.actors.store.ledger_tallies import tallies_of
from recalld.daemon.storage.errors import DamagedRowError
from recalld.daemon.storage.rows import decision_from_row
from recalld.daemon.storage.users import find_user
from recalld.models.domain.ledger_tally import HOUR_MS, LedgerTallies, LedgerTally, TallyFamily, hour_of
from recalld.models.domain.store import DecisionRow

_SEPARATOR: Final = "\x1f"
"""Joins the parts of a key; no part has it, since all of them are words of the program."""
_Cells = tuple[str, str, int, float]
"""Family, key, count and total."""
_FAMILIES: Final = frozenset(family.value for family in TallyFamily)
_ADD: Final = (
    "INSERT INTO ledger_tallies VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (hour, user_no, family, key)"
    " DO UPDATE SET count = count + excluded.count, total = total + excluded.total"
)
_ADD_TO_TOTALS: Final = (
    "INSERT INTO ledger_totals VALUES (?, ?, ?, ?) ON CONFLICT (family, key)"
    " DO UPDATE SET count = count + excluded.count, total = total + excluded.total"
)


def add_tallies(db: sqlite3.Connection, user_no: int, row: DecisionRow) -> None:
    """Count a row that was just written, inside the same transaction."""
    hour = hour_of(row.at_ms)
    counts = [(each.family.value, _SEPARATOR.join(each.key), each.count, each.total) for each in tallies_of(row)]
    db.executemany(_ADD, [(hour, user_no, *each) for each in counts])
    db.executemany(_ADD_TO_TOTALS, counts)


def count_all(db: sqlite3.Connection) -> None:
    """Count the rows that are there from before anything was counted, inside the caller's transaction."""
    rows = db.execute(
        "SELECT d.user_no, d.id, u.name, d.session, d.op, d.at_ms, d.decision, d.reason, d.mode, d.degraded_reason,"
        " d.body FROM decisions AS d JOIN users AS u USING (user_no)"
    )
    for user_no, *columns in rows:
        try:
            row = decision_from_row(tuple(columns))
        except DamagedRowError:
            continue
        add_tallies(db, user_no, row)


def trim_tallies(db: sqlite3.Connection, before_ms: int) -> None:
    """Drop the counts of hours that are no longer whole in the ledger, in the caller's transaction."""
    db.execute("DELETE FROM ledger_tallies WHERE hour < ?", (-(-before_ms // HOUR_MS),))


def read_tallies(db: sqlite3.Connection, user: str | None, *, since_ms: int | None, now_ms: int) -> LedgerTallies:
    """The counts since a time; see `MemoryReader.ledger_tallies`.

    Costs a walk over the hours of the window, not over their rows; counting the rows walks an index of them alone.
    """
    first = db.execute("SELECT MIN(hour) FROM ledger_tallies").fetchone()[0]
    hour = hour_of(now_ms) if first is None else int(first)
    if since_ms is not None:
        hour = max(hour, hour_of(since_ms))
    user_no = None if user is None else find_user(db, user)
    if user is not None and user_no is None:
        return LedgerTallies(since_ms=hour * HOUR_MS, until_ms=now_ms, rows=None if since_ms is None else {})
    found = _totals(db) if since_ms is None and user is None else _sums(db, hour, user_no)
    return LedgerTallies(
        since_ms=hour * HOUR_MS,
        until_ms=now_ms,
        tallies=tuple(
            LedgerTally(family=TallyFamily(family), key=tuple(key.split(_SEPARATOR)), count=count, total=total)
            for family, key, count, total in found
            if family in _FAMILIES
        ),
        rows=None if since_ms is None else _rows(db, hour * HOUR_MS, user_no),
    )


def _totals(db: sqlite3.Connection) -> list[_Cells]:
    return db.execute("SELECT family, key, count, total FROM ledger_totals").fetchall()


def _sums(db: sqlite3.Connection, hour: int, user_no: int | None) -> list[_Cells]:
    of_user, parameters = ("", (hour,)) if user_no is None else (" AND user_no = ?", (hour, user_no))
    return db.execute(
        "SELECT family, key, SUM(count), SUM(total) FROM ledger_tallies"  # noqa: S608 - constants
        f" WHERE hour >= ?{of_user} GROUP BY family, key",
        parameters,
    ).fetchall()


def _rows(db: sqlite3.Connection, since_ms: int, user_no: int | None) -> dict[str, int]:
    of_user, parameters = ("", (since_ms,)) if user_no is None else (" AND user_no = ?", (since_ms, user_no))
    return dict(
        db.execute(
            f"SELECT op, COUNT(*) FROM decisions WHERE at_ms >= ?{of_user} GROUP BY op",  # noqa: S608 - constants
            parameters,
        )
    )
