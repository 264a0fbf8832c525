"""The tables of the full-text index, and the recipe by which their rows are made.

The index is SQLite's FTS5. It holds nothing that the memories do not say, so it has no migrations: an index of another
recipe is made anew.
"""

from __future__ import annotations

import hashlib
import sqlite3
import unicodedata
from typing import Final

from recalld.actors.store.stems import stem
from recalld.models.policy.terms import TERM_PUNCTUATION, index_terms

USER_MARK: Final = ":"
"""Stands between the number of a user and a stem."""

# A stem may hold any letter of any script. FTS5's ascii tokenizer takes every character beyond ASCII for part of a
# word; unicode61 would cut words at whatever its own, older Unicode does not know, and at the marks of Indic scripts.
_TOKENIZER: Final = f"ascii tokenchars '{''.join(dict.fromkeys(TERM_PUNCTUATION + USER_MARK))}'"
_STATEMENTS: Final = (
    f'CREATE VIRTUAL TABLE memory_fts USING fts5 (main, extras, tokenize = "{_TOKENIZER}")',
    # How many memories have a token, by column; reads the index and stores nothing.
    "CREATE VIRTUAL TABLE memory_fts_vocab USING fts5vocab ('memory_fts', 'col')",
)
SHADOW_TABLES: Final = tuple(f"memory_fts_{name}" for name in ("data", "idx", "content", "docsize", "config"))
"""Where FTS5 keeps the index. Their layout is SQLite's, and may differ between its versions."""
INDEX_TABLES: Final = ("memory_fts", "memory_fts_vocab", *SHADOW_TABLES)
"""All tables of the index."""

# Without these two, FTS5 cannot open its table, not even to drop it. Row 10 lists the segments: a cookie, and none of
# them. Source: the FTS5 documentation, "FTS5 Data Structures", and `fts5_index.c`; format 4 is SQLite's since 3.9.
_NEEDED_TO_DROP: Final = (
    "CREATE TABLE IF NOT EXISTS memory_fts_data (id INTEGER PRIMARY KEY, block BLOB)",
    "INSERT INTO memory_fts_data VALUES (10, zeroblob(7)) ON CONFLICT DO UPDATE SET block = excluded.block",
    "CREATE TABLE IF NOT EXISTS memory_fts_config (k PRIMARY KEY, v) WITHOUT ROWID",
    "INSERT INTO memory_fts_config VALUES ('version', 4) ON CONFLICT DO UPDATE SET v = excluded.v",
)

_RECIPE_PROBE: Final = (
    "Running the pre-edit checks: auth_token, parseJSON, BENCH-100821, C++ or C#, GB/s, grammar::fa, O'Brien's"
    " O\u00b4Neill naïve Straße, ~/src/pi/hermes.py, python3 on k8s, 10,000 rows; 项目用pnpm管理, 東京タワー, 서울,"
    " हिन्दी, \u0623\u062d\u0645\u062f"
)
"""Text whose terms change when the rules of segmentation or stemming do."""


def index_recipe() -> bytes:
    """Identifies how rows of the index are made: tokenizer, segmentation, stemming, and the Unicode they rest on."""
    terms = (stem(term) for term in index_terms(_RECIPE_PROBE))
    parts = (*_STATEMENTS, unicodedata.unidata_version, *terms)
    return hashlib.blake2b("\n".join(parts).encode(), digest_size=16).digest()


def has_index(db: sqlite3.Connection) -> bool:
    """Whether all tables of the index are there."""
    return _tables(db).issuperset(INDEX_TABLES)


def create_tables(db: sqlite3.Connection) -> None:
    """Make the index, empty, in place of what there is."""
    if "memory_fts" in _tables(db):
        for statement in _NEEDED_TO_DROP:
            db.execute(statement)
    for name in INDEX_TABLES:
        db.execute(f"DROP TABLE IF EXISTS {name}")
    for statement in _STATEMENTS:
        db.execute(statement)


def _tables(db: sqlite3.Connection) -> set[str]:
    return {name for (name,) in db.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")}
