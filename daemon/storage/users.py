"""Users and their numbers. Names are compared by exact bytes."""

from __future__ import annotations

import sqlite3

from recalld.daemon.storage.rows import user_bytes


def find_user(db: sqlite3.Connection, user: str) -> int | None:
    """The user's number; None when nothing was ever stored for the user."""
    row: tuple[int] | None = db.execute("SELECT user_no FROM users WHERE name = ?", (user_bytes(user),)).fetchone()
    return None if row is None else row[0]


def ensure_user(db: sqlite3.Connection, user: str) -> int:
    """The user's number, given out now if need be. Inside the caller's transaction."""
    found = find_user(db, user)
    if found is not None:
        return found
    row: tuple[int] = db.execute(
        "INSERT INTO users (name) VALUES (?) RETURNING user_no", (user_bytes(user),)
    ).fetchone()
    return row[0]
