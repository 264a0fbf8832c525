"""A ledger from before anything was counted is counted once, and agrees with its rows."""

from __future__ import annotations

import sqlite3

import pytest

from recalld.daemon.storage.ledger_tallies import read_tallies
from recalld.daemon.storage.migrations import MIGRATIONS, MigrationContext, migrate
from recalld.models.domain.ledger_tally import HOUR_MS
from recalld.models.lab.ledger.report import ledger_report

CONTEXT = MigrationContext(now_ms=7, secret=b"s" * 32)
BODY = b'{"items":[],"dropped":[{"memory_id":"m","reason":"below_floor"}],"total_ms":9.0,"turn_ms":1.0}'
COUNTING = next(migration.number for migration in MIGRATIONS if migration.name == "counts of the ledger")


@pytest.fixture
def old(db: sqlite3.Connection) -> sqlite3.Connection:
    """A database with decisions of several hours, one of which no version of this program could have written."""
    migrate(db, CONTEXT, MIGRATIONS[: COUNTING - 1])
    db.execute("INSERT INTO users (user_no, name) VALUES (1, x'61')")
    rows = [(f"rec-{number}", "recall", number * HOUR_MS // 2, BODY) for number in range(6)]
    for row in (*rows, ("rec-broken", "recall", HOUR_MS, b"\xff"), ("odd", "divination", HOUR_MS, b"{}")):
        db.execute("INSERT INTO decisions VALUES (?, 1, 's', ?, ?, 'silent', 'below_floor', 'gated', '', ?)", row)
    return db


def test_rows_that_are_there_are_counted(old: sqlite3.Connection) -> None:
    migrate(old, CONTEXT)
    report = ledger_report(read_tallies(old, None, since_ms=0, now_ms=HOUR_MS * 9))
    assert {each.name: each.total for each in report.reconciliations}["candidates"] == 6
    assert report.unreadable == 1
    recalls = next(each for each in report.reconciliations if each.name == "recalls")
    assert (recalls.total, recalls.holds) == (7, True)


def test_a_row_of_no_known_operation_is_not_counted_and_shows_as_a_mismatch(old: sqlite3.Connection) -> None:
    migrate(old, CONTEXT)
    report = ledger_report(read_tallies(old, None, since_ms=0, now_ms=HOUR_MS * 9))
    rows = next(each for each in report.reconciliations if each.name == "ledger_rows")
    assert (rows.total, sum(rows.parts.values()), rows.holds) == (8, 7, False)


def test_counting_rows_reads_an_index_and_no_body(db: sqlite3.Connection) -> None:
    migrate(db, CONTEXT)
    plan = db.execute("EXPLAIN QUERY PLAN SELECT op, COUNT(*) FROM decisions WHERE at_ms >= 5 GROUP BY op").fetchall()
    assert any("COVERING INDEX decisions_counted" in step[3] for step in plan)
