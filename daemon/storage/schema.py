"""The tables, as they are first made. Later changes are migrations; this text never changes once released."""

from __future__ import annotations

from typing import Final

APPLICATION_ID: Final = 0x52434C44
"""Marks the file as this program's ("RCLD"), so that another program's database is never migrated by mistake."""

FIRST_SCHEMA: Final = (
    """
    CREATE TABLE meta (
        key TEXT PRIMARY KEY,
        value BLOB NOT NULL
    ) STRICT, WITHOUT ROWID
    """,
    # Names are bytes, so that no collation or normalisation can ever take two users for one.
    """
    CREATE TABLE users (
        user_no INTEGER PRIMARY KEY AUTOINCREMENT,
        name BLOB NOT NULL UNIQUE,
        last_seq INTEGER NOT NULL DEFAULT 0
    ) STRICT
    """,
    # `is_indexed` is 1 while words and vectors can find the memory: from its admission until it is forgotten or its
    # expiry has been swept. `term_count` is how many distinct stems its text has.
    """
    CREATE TABLE memories (
        memory_no INTEGER PRIMARY KEY,
        id TEXT NOT NULL UNIQUE,
        user_no INTEGER NOT NULL REFERENCES users,
        text TEXT NOT NULL,
        kind TEXT NOT NULL,
        scope TEXT NOT NULL,
        cues TEXT NOT NULL,
        asks TEXT NOT NULL,
        source TEXT NOT NULL,
        status TEXT NOT NULL CHECK (status IN ('active', 'superseded', 'forgotten')),
        created_at_ms INTEGER NOT NULL,
        updated_at_ms INTEGER NOT NULL,
        expires_at_ms INTEGER,
        revision INTEGER NOT NULL,
        fold_digest BLOB NOT NULL,
        term_count INTEGER NOT NULL,
        is_indexed INTEGER NOT NULL CHECK (is_indexed IN (0, 1) AND (is_indexed = 0 OR status = 'active'))
    ) STRICT
    """,
    "CREATE UNIQUE INDEX memories_by_words ON memories (user_no, scope, fold_digest) WHERE is_indexed = 1",
    "CREATE INDEX memories_newest ON memories (user_no, created_at_ms, id) WHERE is_indexed = 1",
    # With every column that the statistics of a search ask for, so that they read no memory.
    "CREATE INDEX memories_by_length ON memories (user_no, term_count, is_indexed) WHERE is_indexed = 1",
    "CREATE INDEX memories_oldest ON memories (created_at_ms, id) WHERE is_indexed = 1",
    "CREATE INDEX memories_by_expiry ON memories (expires_at_ms) WHERE is_indexed = 1 AND expires_at_ms IS NOT NULL",
    "CREATE INDEX memories_by_status ON memories (user_no, status, is_indexed)",
    """
    CREATE TABLE vectors (
        memory_no INTEGER NOT NULL REFERENCES memories ON DELETE CASCADE,
        role TEXT NOT NULL CHECK (role IN ('record', 'cue', 'ask')),
        ordinal INTEGER NOT NULL,
        embedder_key TEXT NOT NULL,
        revision INTEGER NOT NULL,
        data BLOB NOT NULL,
        PRIMARY KEY (memory_no, role, ordinal)
    ) STRICT, WITHOUT ROWID
    """,
    """
    CREATE TABLE changes (
        seq INTEGER PRIMARY KEY AUTOINCREMENT,
        user_no INTEGER NOT NULL REFERENCES users,
        memory_id TEXT NOT NULL
    ) STRICT
    """,
    "CREATE INDEX changes_by_user ON changes (user_no, seq)",
    # A keyed digest of the folded words: it recognises them, and cannot be turned back without the key.
    """
    CREATE TABLE tombstones (
        user_no INTEGER NOT NULL REFERENCES users,
        digest BLOB NOT NULL,
        at_ms INTEGER NOT NULL,
        PRIMARY KEY (user_no, digest)
    ) STRICT, WITHOUT ROWID
    """,
    """
    CREATE TABLE turns (
        user_no INTEGER NOT NULL REFERENCES users,
        turn_key TEXT NOT NULL,
        decision_id TEXT NOT NULL,
        reason TEXT NOT NULL,
        outcome TEXT,
        memory_id TEXT,
        at_ms INTEGER NOT NULL,
        PRIMARY KEY (user_no, turn_key)
    ) STRICT, WITHOUT ROWID
    """,
    "CREATE INDEX turns_by_age ON turns (at_ms)",
    """
    CREATE TABLE decisions (
        id TEXT PRIMARY KEY,
        user_no INTEGER NOT NULL REFERENCES users,
        session TEXT NOT NULL,
        op TEXT NOT NULL,
        at_ms INTEGER NOT NULL,
        decision TEXT NOT NULL,
        reason TEXT NOT NULL,
        mode TEXT NOT NULL,
        degraded_reason TEXT NOT NULL,
        body BLOB NOT NULL
    ) STRICT
    """,
    "CREATE INDEX decisions_by_age ON decisions (at_ms)",
    "CREATE INDEX decisions_by_user ON decisions (user_no)",
)
