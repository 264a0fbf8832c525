"""Numbered changes of the schema, each in one transaction with the record that it was made."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

from recalld.daemon.storage.admission_schema import ADMISSION_SCHEMA
from recalld.daemon.storage.audit_schema import AUDIT_SCHEMA
from recalld.daemon.storage.embeddings import pack_stored_vectors
from recalld.daemon.storage.errors import DatabaseRefusedError
from recalld.daemon.storage.ledger_tallies import count_all
from recalld.daemon.storage.ledger_tally_schema import LEDGER_TALLY_SCHEMA
from recalld.daemon.storage.meta import MetaKey, write_meta
from recalld.daemon.storage.origins import keep_origins
from recalld.daemon.storage.outcome_schema import OUTCOME_SCHEMA
from recalld.daemon.storage.passage_rows import await_passages
from recalld.daemon.storage.pending_turn_schema import PENDING_OVERFLOW_SCHEMA, PENDING_TURN_SCHEMA
from recalld.daemon.storage.schema import APPLICATION_ID, FIRST_SCHEMA
from recalld.daemon.storage.search_totals import keep_totals
from recalld.daemon.storage.transactions import in_transaction


@dataclass(frozen=True, kw_only=True, slots=True)
class MigrationContext:
    """What a migration may use of the world.

    Attributes:
        now_ms: Unix epoch milliseconds, UTC.
        secret: Fresh random bytes.
    """

    now_ms: int
    secret: bytes


@dataclass(frozen=True, kw_only=True, slots=True)
class Migration:
    """One change of the schema. Never edited once released; the next change is the next number.

    Attributes:
        number: From 1, without gaps.
        name: What it does, in a few words, for whoever reads the table.
        apply: Makes the change; called inside a transaction.
    """

    number: int
    name: str
    apply: Callable[[sqlite3.Connection, MigrationContext], None]


def _create_first_schema(db: sqlite3.Connection, context: MigrationContext) -> None:
    for statement in FIRST_SCHEMA:
        db.execute(statement)
    db.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    write_meta(db, MetaKey.FOLD_KEY, context.secret)


def _index_times_of_change(db: sqlite3.Connection, _context: MigrationContext) -> None:
    db.execute("CREATE INDEX memories_changed ON memories (user_no, updated_at_ms, id) WHERE is_indexed = 1")


def _create_outcomes(db: sqlite3.Connection, _context: MigrationContext) -> None:
    for statement in OUTCOME_SCHEMA:
        db.execute(statement)


def _pack_vectors(db: sqlite3.Connection, _context: MigrationContext) -> None:
    pack_stored_vectors(db)


def _keep_totals(db: sqlite3.Connection, _context: MigrationContext) -> None:
    keep_totals(db)


def _await_passages(db: sqlite3.Connection, _context: MigrationContext) -> None:
    await_passages(db)


def _keep_origins(db: sqlite3.Connection, _context: MigrationContext) -> None:
    keep_origins(db)


def _index_ages_of_outcomes(db: sqlite3.Connection, _context: MigrationContext) -> None:
    # Each report makes room for itself, and must not sort all others of its user to do so.
    db.execute("CREATE INDEX outcomes_by_age ON outcomes (user_no, outcome_no)")


def _create_admission(db: sqlite3.Connection, _context: MigrationContext) -> None:
    for statement in ADMISSION_SCHEMA:
        db.execute(statement)


def _create_pending_turns(db: sqlite3.Connection, _context: MigrationContext) -> None:
    for statement in PENDING_TURN_SCHEMA:
        db.execute(statement)


def _count_overflow(db: sqlite3.Connection, _context: MigrationContext) -> None:
    for statement in PENDING_OVERFLOW_SCHEMA:
        db.execute(statement)


def _count_ledger(db: sqlite3.Connection, _context: MigrationContext) -> None:
    for statement in LEDGER_TALLY_SCHEMA:
        db.execute(statement)
    count_all(db)


def _create_audit(db: sqlite3.Connection, _context: MigrationContext) -> None:
    for statement in AUDIT_SCHEMA:
        db.execute(statement)


MIGRATIONS: Final[Sequence[Migration]] = (
    Migration(number=1, name="first schema", apply=_create_first_schema),
    Migration(number=2, name="memories by the time of their change", apply=_index_times_of_change),
    Migration(number=3, name="outcomes and standing choices", apply=_create_outcomes),
    Migration(number=4, name="the vectors of a memory in one row", apply=_pack_vectors),
    Migration(number=5, name="how much of each user words can find", apply=_keep_totals),
    Migration(number=6, name="long texts wait for the vectors of their passages", apply=_await_passages),
    Migration(number=7, name="who wrote each cue and ask", apply=_keep_origins),
    Migration(number=8, name="outcomes by their age", apply=_index_ages_of_outcomes),
    Migration(number=9, name="evidence, slots, observations and proposals", apply=_create_admission),
    Migration(number=10, name="turns that wait for a language model", apply=_create_pending_turns),
    Migration(number=11, name="turns that found no room to wait", apply=_count_overflow),
    Migration(number=12, name="counts of the ledger", apply=_count_ledger),
    Migration(number=13, name="samples for audits", apply=_create_audit),
)


def check_identity(db: sqlite3.Connection, path: Path, migrations: Sequence[Migration] = MIGRATIONS) -> int:
    """Make sure that the open file is a database of this program that this version understands. Writes nothing.

    Returns:
        The schema version found.

    Raises:
        DatabaseRefusedError: It belongs to another program, or to a newer version of this one.
        sqlite3.Error: The file cannot be read, or is no database.
    """
    application_id: int = db.execute("PRAGMA application_id").fetchone()[0]
    if application_id != APPLICATION_ID:
        message = f"{path} is a database of another program; choose another data directory."
        raise DatabaseRefusedError(message)
    version = schema_version(db)
    newest = migrations[-1].number
    if version > newest:
        message = (
            f"{path} has schema version {version}, and this program knows up to {newest}; install a newer recalld."
        )
        raise DatabaseRefusedError(message)
    return version


def schema_version(db: sqlite3.Connection) -> int:
    """Number of the last migration made; 0 for a database without any."""
    is_there = db.execute("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'migrations'").fetchone()
    if is_there is None:
        return 0
    version: int = db.execute("SELECT COALESCE(MAX(number), 0) FROM migrations").fetchone()[0]
    return version


def migrate(
    db: sqlite3.Connection, context: MigrationContext, migrations: Sequence[Migration] = MIGRATIONS
) -> tuple[int, ...]:
    """Bring the schema up to date.

    A migration that fails leaves neither a part of its change nor its record; those before it stay made.

    Returns:
        The numbers of the migrations made now.
    """
    made = []
    for migration in migrations:
        if migration.number > schema_version(db):
            in_transaction(db, partial(_apply, migration=migration, context=context))
            made.append(migration.number)
    return tuple(made)


def _apply(db: sqlite3.Connection, migration: Migration, context: MigrationContext) -> None:
    db.execute(
        "CREATE TABLE IF NOT EXISTS migrations"
        " (number INTEGER PRIMARY KEY, name TEXT NOT NULL, applied_at_ms INTEGER NOT NULL) STRICT"
    )
    migration.apply(db, context)
    db.execute("INSERT INTO migrations VALUES (?, ?, ?)", (migration.number, migration.name, context.now_ms))
