"""The tables of what speaks for memories, what they state values of, and what is on its way to becoming one."""

from __future__ import annotations

from typing import Final

ADMISSION_SCHEMA: Final = (
    # `holder_id` names a memory, an observation or a proposal: turns move from the one to the other.
    """
    CREATE TABLE evidence (
        evidence_no INTEGER PRIMARY KEY AUTOINCREMENT,
        user_no INTEGER NOT NULL REFERENCES users,
        holder_id TEXT NOT NULL,
        session TEXT NOT NULL,
        turn_id TEXT NOT NULL,
        at_ms INTEGER NOT NULL,
        generator TEXT NOT NULL,
        rule TEXT NOT NULL,
        reason TEXT NOT NULL,
        quote TEXT NOT NULL,
        decision_id TEXT NOT NULL
    ) STRICT
    """,
    "CREATE INDEX evidence_by_holder ON evidence (user_no, holder_id, evidence_no)",
    """
    CREATE TABLE memory_slots (
        memory_no INTEGER NOT NULL REFERENCES memories ON DELETE CASCADE,
        place INTEGER NOT NULL,
        user_no INTEGER NOT NULL REFERENCES users,
        slot TEXT NOT NULL,
        subject TEXT NOT NULL,
        value TEXT NOT NULL,
        is_single_valued INTEGER NOT NULL CHECK (is_single_valued IN (0, 1)),
        PRIMARY KEY (memory_no, place)
    ) STRICT, WITHOUT ROWID
    """,
    "CREATE INDEX memory_slots_by_name ON memory_slots (user_no, slot, subject)",
    # 1 once somebody noted what the memory states values of, also that it states none.
    "ALTER TABLE memories ADD COLUMN has_slots_read INTEGER NOT NULL DEFAULT 0",
    "CREATE INDEX memories_unread ON memories (user_no, created_at_ms, id) WHERE is_indexed = 1 AND has_slots_read = 0",
    # `newer_id` is empty for a record that was ended and replaced by none.
    """
    CREATE TABLE closings (
        user_no INTEGER NOT NULL REFERENCES users,
        older_id TEXT NOT NULL,
        newer_id TEXT NOT NULL,
        at_ms INTEGER NOT NULL,
        PRIMARY KEY (user_no, older_id)
    ) STRICT, WITHOUT ROWID
    """,
    "CREATE INDEX closings_by_newer ON closings (user_no, newer_id)",
    # `fact` is JSON: what would be stored. The other columns are what it is looked for by; `digest` is that of
    # tombstones, `value_key` one spelling of the slot's value.
    """
    CREATE TABLE observations (
        user_no INTEGER NOT NULL REFERENCES users,
        id TEXT NOT NULL,
        scope TEXT NOT NULL,
        digest BLOB NOT NULL,
        slot TEXT NOT NULL,
        subject TEXT NOT NULL,
        value_key TEXT NOT NULL,
        first_at_ms INTEGER NOT NULL,
        last_at_ms INTEGER NOT NULL,
        promoted_to TEXT NOT NULL,
        fact BLOB NOT NULL,
        PRIMARY KEY (user_no, id)
    ) STRICT
    """,
    "CREATE INDEX observations_by_words ON observations (user_no, digest)",
    "CREATE INDEX observations_by_value ON observations (user_no, slot, value_key)",
    "CREATE INDEX observations_latest ON observations (user_no, last_at_ms, id)",
    """
    CREATE TABLE proposals (
        user_no INTEGER NOT NULL REFERENCES users,
        id TEXT NOT NULL,
        session TEXT NOT NULL,
        scope TEXT NOT NULL,
        digest BLOB NOT NULL,
        reason TEXT NOT NULL,
        state TEXT NOT NULL CHECK (state IN ('pending', 'accepted', 'rejected')),
        created_at_ms INTEGER NOT NULL,
        expires_at_ms INTEGER NOT NULL,
        proposer TEXT NOT NULL,
        memory_id TEXT NOT NULL,
        accepted_text TEXT NOT NULL,
        fact BLOB NOT NULL,
        PRIMARY KEY (user_no, id)
    ) STRICT
    """,
    "CREATE INDEX proposals_by_words ON proposals (user_no, digest)",
    "CREATE INDEX proposals_newest ON proposals (user_no, created_at_ms, id)",
    # `facts` is JSON with ids, so that what was forgotten since is not in it.
    """
    CREATE TABLE turn_facts (
        user_no INTEGER NOT NULL REFERENCES users,
        turn_key TEXT NOT NULL,
        facts BLOB NOT NULL,
        PRIMARY KEY (user_no, turn_key),
        FOREIGN KEY (user_no, turn_key) REFERENCES turns ON DELETE CASCADE
    ) STRICT, WITHOUT ROWID
    """,
)
"""Made by one migration; this text never changes once released."""
