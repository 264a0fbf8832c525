"""One piece of work, all or nothing."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from recalld.daemon.storage.errors import unexpected
from recalld.models.domain.errors import InvariantError, RecalldError

R = TypeVar("R")


def in_transaction(db: sqlite3.Connection, work: Callable[[sqlite3.Connection], R]) -> R:
    """Run `work` in a write transaction: committed when it returns, rolled back when it raises.

    The write lock is taken at the start (`BEGIN IMMEDIATE`), where a busy database is waited for. A transaction that
    starts by reading and then writes fails at once instead if another one has committed in between.
    """
    db.execute("BEGIN IMMEDIATE")
    return _finished(db, work)


def undone(db: sqlite3.Connection, work: Callable[[sqlite3.Connection], object]) -> None:
    """Run `work` in a write transaction and roll it back: a rehearsal that leaves nothing."""
    db.execute("BEGIN IMMEDIATE")
    try:
        work(db)
    finally:
        if db.in_transaction:
            db.execute("ROLLBACK")


def in_snapshot(db: sqlite3.Connection, work: Callable[[sqlite3.Connection], R]) -> R:
    """Run reading `work` so that all its queries see one state of the database."""
    db.execute("BEGIN")
    return _finished(db, work)


def guarded(db: sqlite3.Connection, work: Callable[[sqlite3.Connection], R], path: Path) -> R:
    """Run `work`, which begins and ends its own transactions, so that no fault in a row ends more than this request.

    What was rolled back leaves the connection as it was, whatever the reason: that is an operating error. A transaction
    that could not be ended is not: nobody knows what the connection would do next.

    Raises:
        RecalldError: `INTERNAL` for a failure nobody foresaw; others as `work` raises them.
        InvariantError: The transaction could not be ended.
    """
    try:
        return work(db)
    except (RecalldError, sqlite3.Error, UnicodeEncodeError, OverflowError) as error:
        if db.in_transaction:
            message = "a transaction could be neither committed nor rolled back"
            raise InvariantError(message) from error
        raise
    except InvariantError:
        raise
    except Exception as error:
        if db.in_transaction:
            raise
        raise unexpected(error, path) from error


def _finished(db: sqlite3.Connection, work: Callable[[sqlite3.Connection], R]) -> R:
    try:
        result = work(db)
        db.execute("COMMIT")
    except BaseException:
        # SQLite has rolled back by itself after some errors, such as a full disk.
        if db.in_transaction:
            db.execute("ROLLBACK")
        raise
    return result
