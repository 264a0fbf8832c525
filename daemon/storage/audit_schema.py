"""The table of decisions that are kept for an audit."""

from __future__ import annotations

from typing import Final

AUDIT_SCHEMA: Final = (
    # `answer` is empty until somebody says something of the sample.
    """
    CREATE TABLE audit_samples (
        id TEXT PRIMARY KEY,
        user_no INTEGER NOT NULL REFERENCES users,
        kind TEXT NOT NULL,
        decision_id TEXT NOT NULL,
        memory_id TEXT NOT NULL,
        text TEXT NOT NULL,
        probability REAL NOT NULL CHECK (probability > 0 AND probability <= 1),
        relevance REAL,
        reason TEXT NOT NULL,
        at_ms INTEGER NOT NULL,
        answer TEXT NOT NULL DEFAULT '',
        marked_at_ms INTEGER NOT NULL DEFAULT 0,
        marked_by TEXT NOT NULL DEFAULT ''
    ) STRICT
    """,
    "CREATE INDEX audit_samples_by_user ON audit_samples (user_no, at_ms)",
    "CREATE INDEX audit_samples_by_time ON audit_samples (at_ms)",
)
"""Made by one migration; this text never changes once released."""
