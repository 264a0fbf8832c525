"""The transactions of maintenance: sweep what expired, trim the logs, cut the write-ahead log back."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from recalld.daemon.storage.audit_samples import trim_samples
from recalld.daemon.storage.changes import ChangeNotes, trim_changes
from recalld.daemon.storage.connection import BUSY_TIMEOUT_MS
from recalld.daemon.storage.files import size_bytes, wal_path
from recalld.daemon.storage.ledger import trim_ledger
from recalld.daemon.storage.memories import find_readable, withdraw
from recalld.daemon.storage.rows import name_from_bytes
from recalld.models.domain.store import Checkpoint, Checkpointed, Expire, Expired

CHECKPOINT_WAIT_MS = 250
"""How long a truncating checkpoint waits for readers to let go of the log; writes wait behind it meanwhile."""


def expire(db: sqlite3.Connection, notes: ChangeNotes, command: Expire) -> Expired:
    """Take memories whose time has passed out of the indices. They stay readable by id, and stop being duplicates."""
    rows: list[tuple[int, bytes, str]] = db.execute(
        "SELECT m.user_no, u.name, m.id FROM memories AS m JOIN users AS u USING (user_no)"
        " WHERE m.is_indexed = 1 AND m.expires_at_ms <= ? ORDER BY m.expires_at_ms, m.id",
        (command.now_ms,),
    ).fetchall()
    for user_no, name, memory_id in rows:
        stored = find_readable(db, name_from_bytes(name), user_no, memory_id)
        if stored is not None:
            withdraw(db, notes, stored)
    users = sorted({name_from_bytes(name) for _, name, _ in rows})
    return Expired(count=len(rows), users=tuple(users))


def touch(db: sqlite3.Connection) -> None:
    """Really change a page, inside the caller's transaction, which takes it back: taking the lock alone proves little.

    Raises:
        sqlite3.Error: The database cannot be written.
    """
    db.execute("INSERT INTO meta VALUES ('write_probe', x'00') ON CONFLICT DO UPDATE SET value = excluded.value")


def trim(db: sqlite3.Connection, command: Checkpoint) -> None:
    """Trim the change log, the ledger and the samples for audits."""
    trim_changes(db, command.changes_keep)
    trim_ledger(db, command.now_ms - command.ledger_keep_ms)
    trim_samples(db, command.now_ms - command.samples_keep_ms)


def truncate_log(db: sqlite3.Connection, path: Path) -> Checkpointed:
    """Move the whole write-ahead log into the database and truncate it, unless somebody still reads from it.

    Outside any transaction. Freed bytes that were overwritten in the database are then gone from the log as well.
    """
    db.execute(f"PRAGMA busy_timeout = {CHECKPOINT_WAIT_MS}")
    try:
        is_busy: int = db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
    finally:
        db.execute(f"PRAGMA busy_timeout = {BUSY_TIMEOUT_MS}")
    return Checkpointed(is_truncated=is_busy == 0, wal_bytes=size_bytes(wal_path(path)))
