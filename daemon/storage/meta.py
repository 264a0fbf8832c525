"""Single values kept in the database."""

from __future__ import annotations

import enum
import hashlib
import sqlite3

from recalld.daemon.storage.errors import DamagedRowError, DatabaseRefusedError, RowKind

DERIVED_KEY_BYTES = 32


class MetaKey(enum.StrEnum):
    """Every key of the `meta` table."""

    AUDITED_AT = "audited_at_ms"
    """When somebody last went through the newest memories, Unix epoch milliseconds in digits."""
    FOLD_KEY = "fold_key"
    """Random key of the digests that recognise the same words."""
    SEARCH_RECIPE = "search_recipe"
    """How the rows of the full-text index were made; another recipe means that it must be rebuilt."""
    TRIMMED_THROUGH = "trimmed_through"
    """Largest change number that may be missing from the change log."""


def read_meta(db: sqlite3.Connection, key: MetaKey) -> bytes | None:
    """A value, or None."""
    row: tuple[bytes] | None = db.execute("SELECT value FROM meta WHERE key = ?", (key.value,)).fetchone()
    return None if row is None else row[0]


def write_meta(db: sqlite3.Connection, key: MetaKey, value: bytes) -> None:
    """Set a value."""
    db.execute("INSERT INTO meta VALUES (?, ?) ON CONFLICT DO UPDATE SET value = excluded.value", (key.value, value))


def fold_key(db: sqlite3.Connection) -> bytes:
    """The key of the word digests.

    Raises:
        DatabaseRefusedError: It is gone; without it neither duplicates nor tombstones can be recognised.
    """
    key = read_meta(db, MetaKey.FOLD_KEY)
    if not key:
        message = "The key of the word digests is missing from the database; stop the daemon and restore a backup."
        raise DatabaseRefusedError(message)
    return key


def cursor_key(db: sqlite3.Connection) -> bytes:
    """A key for what is handed out and comes back, such as cursors: derived, so that it tells nothing of the other.

    Raises:
        DatabaseRefusedError: As `fold_key`.
    """
    return hashlib.blake2b(key=fold_key(db), person=b"recalld-cursors", digest_size=DERIVED_KEY_BYTES).digest()


def audited_at_ms(db: sqlite3.Connection) -> int | None:
    """When somebody last went through the newest memories, Unix epoch milliseconds; None: never, as far as is known."""
    stored = read_meta(db, MetaKey.AUDITED_AT) or b""
    return int(stored) if stored.isdigit() else None


def note_audit(db: sqlite3.Connection, at_ms: int) -> None:
    """Note that somebody has just gone through the newest memories."""
    write_meta(db, MetaKey.AUDITED_AT, str(at_ms).encode())


def trimmed_through(db: sqlite3.Connection) -> int:
    """Largest change number that may be missing from the change log; 0 when it is complete.

    Raises:
        DamagedRowError: What is stored is no number.
    """
    stored = read_meta(db, MetaKey.TRIMMED_THROUGH) or b"0"
    if not stored.isdigit():
        raise DamagedRowError(RowKind.VALUE, MetaKey.TRIMMED_THROUGH.value)
    return int(stored)
