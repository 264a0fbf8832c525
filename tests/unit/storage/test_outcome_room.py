"""Making room among many reports: what one report costs does not grow with how many there are of other users."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator

import pytest

from recalld.daemon.storage.migrations import MigrationContext, migrate
from recalld.daemon.storage.outcomes import MAKE_ROOM


@pytest.fixture
def db() -> Iterator[sqlite3.Connection]:
    connection = sqlite3.connect(":memory:", isolation_level=None)
    migrate(connection, MigrationContext(now_ms=7, secret=b"s" * 32))
    yield connection
    connection.close()


def report(db: sqlite3.Connection, user_no: int, count: int) -> None:
    db.execute("INSERT OR IGNORE INTO users (user_no, name) VALUES (?, ?)", (user_no, b"user %d" % user_no))
    db.executemany(
        "INSERT INTO outcomes (user_no, decision_id, memory_id, result, at_ms, recorded_at_ms)"
        " VALUES (?, ?, 'm', 'used', 1, 1)",
        [(user_no, f"dec_{number}") for number in range(count)],
    )


def instructions(db: sqlite3.Connection, user_no: int, keep: int) -> int:
    """Tens of instructions of SQLite that making room takes."""
    ticks = 0

    def tick() -> int:
        nonlocal ticks
        ticks += 1
        return 0

    db.set_progress_handler(tick, 10)
    db.execute(MAKE_ROOM, (user_no, keep))
    db.set_progress_handler(None, 0)
    return ticks


def test_the_oldest_reports_of_the_user_go_and_no_others(db: sqlite3.Connection) -> None:
    report(db, 1, 5)
    report(db, 2, 9)
    db.execute(MAKE_ROOM, (1, 3))
    kept = [row[0] for row in db.execute("SELECT decision_id FROM outcomes WHERE user_no = 1 ORDER BY outcome_no")]
    assert kept == ["dec_2", "dec_3", "dec_4"]
    assert db.execute("SELECT COUNT(*) FROM outcomes WHERE user_no = 2").fetchone() == (9,)


def test_making_room_sorts_nothing(db: sqlite3.Connection) -> None:
    report(db, 1, 5)
    plan = db.execute(f"EXPLAIN QUERY PLAN {MAKE_ROOM}", (1, 3)).fetchall()
    assert not [step for step in plan if "TEMP B-TREE" in step[3] or "SCAN" in step[3]]


def test_the_reports_of_other_users_cost_nothing(db: sqlite3.Connection) -> None:
    report(db, 1, 200)
    alone = instructions(db, 1, 199)
    report(db, 1, 1)
    report(db, 2, 5_000)
    assert instructions(db, 1, 199) <= 2 * alone
