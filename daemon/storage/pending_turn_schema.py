"""The tables of turns that wait for a language model to read them."""

from __future__ import annotations

from typing import Final

PENDING_TURN_SCHEMA: Final = (
    # `group_no` is the number of the first turn of the failed batch a turn belongs to; 0: it has not failed.
    """
    CREATE TABLE pending_turns (
        number INTEGER PRIMARY KEY AUTOINCREMENT,
        user_no INTEGER NOT NULL REFERENCES users,
        session TEXT NOT NULL,
        turn_id TEXT NOT NULL,
        text TEXT NOT NULL,
        at_ms INTEGER NOT NULL,
        time_zone TEXT NOT NULL,
        scope TEXT NOT NULL,
        client TEXT NOT NULL,
        injected TEXT NOT NULL,
        added_at_ms INTEGER NOT NULL,
        group_no INTEGER NOT NULL DEFAULT 0,
        failures INTEGER NOT NULL DEFAULT 0,
        is_set_aside INTEGER NOT NULL DEFAULT 0 CHECK (is_set_aside IN (0, 1)),
        UNIQUE (user_no, session, turn_id)
    ) STRICT
    """,
    # How many turns of a user were let go unread.
    """
    CREATE TABLE pending_expiries (
        user_no INTEGER PRIMARY KEY REFERENCES users,
        expired INTEGER NOT NULL
    ) STRICT
    """,
)
"""Made by one migration; this text never changes once released."""
PENDING_OVERFLOW_SCHEMA: Final = ("ALTER TABLE pending_expiries ADD COLUMN overflowed INTEGER NOT NULL DEFAULT 0",)
"""How many turns were not taken because too many waited. Made by a later migration; never changes once released."""
