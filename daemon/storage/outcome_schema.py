"""The tables of what was reported and decided about memories that were shown."""

from __future__ import annotations

from typing import Final

OUTCOME_SCHEMA: Final = (
    # `memory_id` is empty for a report on a decision as a whole.
    """
    CREATE TABLE outcomes (
        outcome_no INTEGER PRIMARY KEY AUTOINCREMENT,
        user_no INTEGER NOT NULL REFERENCES users,
        decision_id TEXT NOT NULL,
        memory_id TEXT NOT NULL,
        result TEXT NOT NULL CHECK (result IN ('used', 'ignored', 'harmful', 'missed')),
        at_ms INTEGER NOT NULL,
        recorded_at_ms INTEGER NOT NULL,
        UNIQUE (user_no, decision_id, memory_id, result)
    ) STRICT
    """,
    "CREATE INDEX outcomes_by_memory ON outcomes (user_no, memory_id, result, recorded_at_ms)",
    """
    CREATE TABLE standing_choices (
        user_no INTEGER NOT NULL REFERENCES users,
        memory_id TEXT NOT NULL,
        choice TEXT NOT NULL CHECK (choice IN ('pinned', 'demoted', 'restored')),
        at_ms INTEGER NOT NULL,
        PRIMARY KEY (user_no, memory_id)
    ) STRICT, WITHOUT ROWID
    """,
    # So that counting the turns in which the user said something again reads no other turn.
    "CREATE INDEX turns_by_memory ON turns (user_no, memory_id) WHERE memory_id IS NOT NULL",
)
