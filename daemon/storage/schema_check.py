"""Whether the database has the tables, indices and triggers that this version makes, and no trigger of anybody else."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from functools import cache
from types import MappingProxyType
from typing import Final

from recalld.daemon.storage.errors import DatabaseRefusedError
from recalld.daemon.storage.migrations import MigrationContext, migrate
from recalld.daemon.storage.search_schema import INDEX_TABLES, SHADOW_TABLES, create_tables
from recalld.daemon.storage.transactions import in_transaction

_OBJECTS: Final = """
    SELECT type || ' ' || name, tbl_name, sql FROM sqlite_schema
    WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite!_%' ESCAPE '!'
"""

_Objects = MappingProxyType[str, tuple[str, str]]
"""For each type and name, the table it belongs to and the statement that makes it (empty for what SQLite makes)."""


def find_differences(db: sqlite3.Connection) -> tuple[str, ...]:
    """What of the schema is missing, is made otherwise, or is a trigger that this program did not make.

    Returns:
        Type and name of each, sorted, as in `table turns`; empty when all is as it should be.
    """
    expected, found = _expected(), _objects(db)
    differing = {name for name, made in expected.items() if found.get(name) != made}
    foreign = {name for name in found.keys() - expected.keys() if name.startswith("trigger ")}
    return tuple(sorted(differing | foreign))


def is_rebuildable(name: str) -> bool:
    """Whether a difference is mended by making the full-text index anew."""
    made = _expected().get(name)
    return made is not None and made[0] in INDEX_TABLES


def restore_schema(db: sqlite3.Connection) -> None:
    """Make indices anew that are missing, and refuse a database without one of its tables.

    The tables of the full-text index do not count: they are made anew with it.

    Raises:
        DatabaseRefusedError: A table is missing.
        sqlite3.Error: An index cannot be made, as where two rows break its uniqueness.
    """
    found = _objects(db)
    missing = {name: made for name, made in _expected().items() if name not in found and made[0] not in INDEX_TABLES}
    tables = sorted(name for name in missing if name.startswith("table "))
    if tables:
        message = f"The database is damaged: it has no {', '.join(tables)}; restore a backup."
        raise DatabaseRefusedError(message)
    if missing:
        in_transaction(db, lambda db: [db.execute(statement) for _, statement in missing.values()])


@cache
def _expected() -> _Objects:
    """What a new database has. An older one has it too, once its migrations are made."""
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as db:
        migrate(db, MigrationContext(now_ms=0, secret=b"-"))
        in_transaction(db, create_tables)
        return _objects(db)


def _objects(db: sqlite3.Connection) -> _Objects:
    rows: list[tuple[str, str, str]] = db.execute(_OBJECTS).fetchall()
    return MappingProxyType({name: (table, "" if table in SHADOW_TABLES else made) for name, table, made in rows})
