from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from recalld.daemon.storage.changes import SeqBoard
from recalld.daemon.storage.errors import DatabaseRefusedError
from recalld.daemon.storage.meta import MetaKey, fold_key, read_meta, write_meta
from recalld.daemon.storage.migrations import (
    MIGRATIONS,
    Migration,
    MigrationContext,
    check_identity,
    migrate,
    schema_version,
)
from recalld.daemon.storage.transactions import in_snapshot, in_transaction

CONTEXT = MigrationContext(now_ms=7, secret=b"s" * 32)
NEWEST = len(MIGRATIONS)


def add_table(name: str) -> Migration:
    def apply(db: sqlite3.Connection, _context: MigrationContext) -> None:
        db.execute(f"CREATE TABLE {name} (x INTEGER)")

    return Migration(number=NEWEST + (1 if name == "second" else 2), name=f"add {name}", apply=apply)


def fail(db: sqlite3.Connection, _context: MigrationContext) -> None:
    db.execute("CREATE TABLE half_done (x INTEGER)")
    message = "scripted failure"
    raise OSError(message)


def tables(db: sqlite3.Connection) -> set[str]:
    return {name for (name,) in db.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")}


def test_migrations_are_numbered_without_gaps() -> None:
    assert [migration.number for migration in MIGRATIONS] == list(range(1, len(MIGRATIONS) + 1))


def test_each_migration_is_made_once_and_recorded(db: sqlite3.Connection) -> None:
    assert schema_version(db) == 0
    assert migrate(db, CONTEXT) == tuple(range(1, NEWEST + 1))
    assert migrate(db, CONTEXT) == ()
    later = (*MIGRATIONS, add_table("second"), add_table("third"))
    assert migrate(db, CONTEXT, later) == (NEWEST + 1, NEWEST + 2)
    assert schema_version(db) == NEWEST + 2
    assert {"second", "third", "memories"} <= tables(db)
    assert db.execute("SELECT number, name, applied_at_ms FROM migrations ORDER BY number").fetchall()[NEWEST:] == [
        (NEWEST + 1, "add second", 7),
        (NEWEST + 2, "add third", 7),
    ]


def test_a_migration_that_fails_leaves_neither_change_nor_record(db: sqlite3.Connection) -> None:
    broken = (*MIGRATIONS, add_table("second"), Migration(number=NEWEST + 2, name="broken", apply=fail))
    with pytest.raises(OSError, match="scripted"):
        migrate(db, CONTEXT, broken)
    assert schema_version(db) == NEWEST + 1
    assert "second" in tables(db)
    assert "half_done" not in tables(db)


def test_a_database_of_a_newer_version_is_refused(db: sqlite3.Connection) -> None:
    migrate(db, CONTEXT, (*MIGRATIONS, add_table("second")))
    assert check_identity(db, Path("x"), (*MIGRATIONS, add_table("second"))) == NEWEST + 1
    with pytest.raises(DatabaseRefusedError, match=rf"schema version {NEWEST + 1}.*install a newer recalld"):
        check_identity(db, Path("x"))


def test_the_secret_of_the_first_migration_stays(db: sqlite3.Connection) -> None:
    migrate(db, CONTEXT)
    migrate(db, MigrationContext(now_ms=8, secret=b"t" * 32))
    assert fold_key(db) == b"s" * 32


def test_a_lost_key_is_an_operating_error_that_no_restart_mends(db: sqlite3.Connection) -> None:
    migrate(db, CONTEXT)
    db.execute("DELETE FROM meta")
    with pytest.raises(DatabaseRefusedError, match=r"key .* restore a backup"):
        fold_key(db)


def test_a_meta_value_is_replaced(db: sqlite3.Connection) -> None:
    migrate(db, CONTEXT)
    assert read_meta(db, MetaKey.SEARCH_RECIPE) is None
    write_meta(db, MetaKey.SEARCH_RECIPE, b"one")
    write_meta(db, MetaKey.SEARCH_RECIPE, b"two")
    assert read_meta(db, MetaKey.SEARCH_RECIPE) == b"two"


@pytest.mark.parametrize("begin", [in_transaction, in_snapshot])
def test_a_failed_transaction_is_rolled_back_and_ended(db: sqlite3.Connection, begin: object) -> None:
    db.execute("CREATE TABLE t (x INTEGER)")

    def work(db: sqlite3.Connection) -> None:
        db.execute("INSERT INTO t VALUES (1)")
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        (in_transaction if begin is in_transaction else in_snapshot)(db, work)
    assert not db.in_transaction
    assert db.execute("SELECT * FROM t").fetchall() == []


def test_a_transaction_that_sqlite_ended_itself_raises_its_own_error(db: sqlite3.Connection) -> None:
    def work(db: sqlite3.Connection) -> None:
        db.execute("ROLLBACK")  # as SQLite does by itself when the disk is full
        message = "the first error"
        raise OSError(message)

    with pytest.raises(OSError, match="the first error"):
        in_transaction(db, work)


def test_sequence_numbers_never_go_back() -> None:
    board = SeqBoard()
    assert (board.seq("ines"), board.knows("ines")) == (0, False)
    board.advance({"ines": 5, "omar": 2})
    board.advance({"ines": 3})
    assert (board.seq("ines"), board.seq("omar"), board.knows("ines")) == (5, 2, True)
