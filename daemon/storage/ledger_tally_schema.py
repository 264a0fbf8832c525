"""The tables of what was counted of ledger rows."""

from __future__ import annotations

from typing import Final

LEDGER_TALLY_SCHEMA: Final = (
    # By the hour first, since every report is about a window. The keys are few: a busy user adds about a hundred rows
    # an hour, however many decisions the hour has.
    """
    CREATE TABLE ledger_tallies (
        hour INTEGER NOT NULL,
        user_no INTEGER NOT NULL REFERENCES users,
        family TEXT NOT NULL,
        key TEXT NOT NULL,
        count INTEGER NOT NULL,
        total REAL NOT NULL,
        PRIMARY KEY (hour, user_no, family, key)
    ) STRICT, WITHOUT ROWID
    """,
    "CREATE INDEX ledger_tallies_by_user ON ledger_tallies (user_no)",
    # All that was ever counted, of nobody in particular: what becomes too old, or belonged to a user who is gone, stays
    # in it, so that counters that are read from outside never run backwards.
    """
    CREATE TABLE ledger_totals (
        family TEXT NOT NULL,
        key TEXT NOT NULL,
        count INTEGER NOT NULL,
        total REAL NOT NULL,
        PRIMARY KEY (family, key)
    ) STRICT, WITHOUT ROWID
    """,
    # With every column that counting rows asks for, so that it reads no body.
    "CREATE INDEX decisions_counted ON decisions (at_ms, user_no, op)",
)
