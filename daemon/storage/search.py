"""The search by words: BM25 over one user's memories, worked out in SQL from the postings of the full-text index.

FTS5's own ranking takes its statistics from all users together, which would let one user's memories move another's
scores; only which rows have a token is its part.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from typing import Final

import msgspec

from recalld.actors.store.bm25 import (
    EXTRAS_WEIGHT,
    K1,
    SCORES_PER_UNIT,
    B,
    inverse_document_frequency,
    is_common,
)
from recalld.daemon.storage.rows import IN_SCOPE, LIVE
from recalld.daemon.storage.search_rows import token
from recalld.models.domain.store import LexicalHit

Parameter = str | int | float | None

_SHARES: Final = {"main": 1.0, "extras": EXTRAS_WEIGHT}
"""What a word is worth by the column that has it. A memory has a word in one column at most."""

STATISTICS: Final = "SELECT COUNT(*), AVG(term_count) FROM memories WHERE user_no = ? AND is_indexed = 1"
"""Memories of a user that words can find, and the mean number of stems of their texts (NULL: no memories)."""
_RANKING: Final = f"""
    SELECT m.id, ROUND(hit.weight * ({K1 + 1.0} / (1.0 + {K1} * ({1.0 - B} + {B} * m.term_count / :terms_mean)))
        * {SCORES_PER_UNIT}) / {SCORES_PER_UNIT} AS score
    FROM (SELECT memory_no, SUM(weight) AS weight FROM ({{postings}}) GROUP BY memory_no) AS hit
    CROSS JOIN memories AS m ON m.memory_no = hit.memory_no
    WHERE m.user_no = :user_no AND {LIVE} AND {IN_SCOPE}
    ORDER BY score DESC, m.created_at_ms DESC, m.id DESC
    LIMIT :limit
"""  # noqa: S608 - only constants are joined; every value is a parameter


class _Word(msgspec.Struct, frozen=True, kw_only=True):
    """A stem of a query that some memory of the user has.

    Attributes:
        phrase: How FTS5 matches it.
        columns: Which columns have it somewhere.
        weight: Its inverse document frequency.
        is_common: Whether it is left to rarer words to nominate.
    """

    phrase: str
    columns: tuple[str, ...]
    weight: float
    is_common: bool


def find_by_words(
    db: sqlite3.Connection, user_no: int, stems: Sequence[str], *, now_ms: int, limit: int, scope: str | None
) -> list[LexicalHit]:
    """Live memories of a user that have at least one of the stems, best first, then newest first.

    Scores, and which stems nominate, are those of `actors.store.bm25`. Cost grows with the memories that have a
    nominating stem, of this user only.

    Raises:
        sqlite3.Error: The index is damaged or not there.
        UnicodeEncodeError: A stem or the scope has a lone surrogate.
    """
    memories, terms_mean = _statistics(db, user_no)
    words = _words(db, user_no, stems, memories)
    if not words or limit <= 0:
        return []
    query: dict[str, Parameter] = {
        "user_no": user_no,
        "now_ms": now_ms,
        "scope": scope,
        "limit": limit,
        "terms_mean": terms_mean,
    }
    rare = [word for word in words if not word.is_common]
    hits = _ranked(db, words, rare, query) if rare else []
    return hits if hits or len(rare) == len(words) else _ranked(db, words, words, query)


def _statistics(db: sqlite3.Connection, user_no: int) -> tuple[int, float]:
    """How many memories of the user words can find, and how many stems their texts have on average, at least 1."""
    row: tuple[int, float | None] = db.execute(STATISTICS, (user_no,)).fetchone()
    return row[0], max(row[1] or 0.0, 1.0)


def _words(db: sqlite3.Connection, user_no: int, stems: Sequence[str], memories: int) -> list[_Word]:
    """Those of the stems that the user's memories have."""
    words = []
    for stem in stems:
        user_stem = token(user_no, stem)
        counts: dict[str, int] = dict(
            db.execute("SELECT col, doc FROM memory_fts_vocab WHERE term = ?", (user_stem,)).fetchall()
        )
        having = sum(counts.values())
        if having:
            word = _Word(
                phrase=_phrase(user_stem),
                columns=tuple(counts),
                weight=inverse_document_frequency(memories, having),
                is_common=is_common(memories, having),
            )
            words.append(word)
    return words


def _ranked(
    db: sqlite3.Connection, words: Sequence[_Word], nominating: Sequence[_Word], query: dict[str, Parameter]
) -> list[LexicalHit]:
    """The best memories that have one of the nominating words, by all words they have."""
    arms: list[str] = []
    parameters = dict(query)
    nominated = " OR ".join(word.phrase for word in nominating)
    for place, word in enumerate(words):
        for column in word.columns:
            name = f"{column}_{place}"
            arms.append(
                f"SELECT rowid AS memory_no, :weight_{name} AS weight"  # noqa: S608 - `name` is a column and a number
                f" FROM memory_fts WHERE memory_fts MATCH :match_{name}"
            )
            match = f"{column} : {word.phrase}"
            parameters[f"match_{name}"] = match if word in nominating else f"({match}) AND ({nominated})"
            parameters[f"weight_{name}"] = word.weight * _SHARES[column]
    rows: Iterable[tuple[str, float]] = db.execute(_RANKING.format(postings=" UNION ALL ".join(arms)), parameters)
    return [LexicalHit(memory_id=memory_id, score=score) for memory_id, score in rows]


def _phrase(user_stem: str) -> str:
    """A token as FTS5 matches it literally: a string, in which nothing is syntax."""
    literal = user_stem.replace('"', '""')
    return f'"{literal}"'
