"""The search by words: BM25 over one user's memories, worked out in SQL from the postings of the full-text index.

FTS5's own ranking takes its statistics from all users together, which would let one user's memories move another's
scores; only which rows have a token is its part.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import Final, NamedTuple, TypeVar

import msgspec

from recalld.actors.store import lexical_rank
from recalld.actors.store.bm25 import inverse_document_frequency
from recalld.actors.store.lexical_rank import Finalist, Word, is_beyond_reading, matched_by, nominated_by, ranked, turns
from recalld.daemon.storage.rows import IN_SCOPE, LIVE
from recalld.daemon.storage.search_rows import token
from recalld.daemon.storage.times import IN_WINDOWS, windows_parameter
from recalld.models.domain.store import LexicalHit
from recalld.models.domain.time_window import TimeWindow

Parameter = str | int | float | None
R = TypeVar("R")

STATISTICS: Final = "SELECT found_memories, found_terms FROM users WHERE user_no = ?"
"""Memories of a user that words can find, and the number of stems of their texts together; kept by triggers."""
# Of all words at once, and one value instead of a row for each: every statement, and every row, is a turn with the
# interpreter, for which the other threads of a recall wait as well.
_WANTED: Final = "FROM (SELECT value FROM json_each(?) ORDER BY key) AS wanted"
_COUNTS: Final = f"""
    SELECT json_group_array((SELECT COALESCE(SUM(doc), 0) FROM memory_fts_vocab WHERE term = wanted.value)) {_WANTED}
"""  # noqa: S608 - only constants are joined; every value is a parameter
_POSTED: Final = f"""
    SELECT json_group_array(EXISTS (SELECT 1 FROM memory_fts WHERE memory_fts MATCH wanted.value)) {_WANTED}
"""  # noqa: S608 - as above
_HAVING: Final = f"""
    SELECT '[' || group_concat(
        (SELECT json_group_array(rowid) FROM memory_fts WHERE memory_fts MATCH wanted.value)
    ) || ']' {_WANTED}
"""  # noqa: S608 - as above
_SHOWN: Final = f"m.user_no = :user_no AND {LIVE} AND {IN_SCOPE} AND {IN_WINDOWS}"
_KNOWN: Final = f"""
    SELECT m.memory_no, m.id, m.created_at_ms, m.term_count
    FROM json_each(:numbers) AS n CROSS JOIN memories AS m ON m.memory_no = n.value WHERE {_SHOWN} ORDER BY n.key
"""  # noqa: S608 - only constants are joined; every value is a parameter
_NEWEST: Final = f"""
    SELECT m.memory_no, m.id, m.created_at_ms, m.term_count
    FROM memory_fts AS f CROSS JOIN memories AS m ON m.memory_no = f.rowid
    WHERE f.memory_fts MATCH :match AND {_SHOWN} ORDER BY f.rowid DESC LIMIT :limit
"""  # noqa: S608 - as above
_INDEXED: Final = "SELECT rowid, main, extras FROM memory_fts WHERE rowid IN (SELECT value FROM json_each(?))"


class _Found(NamedTuple):
    """A memory that may be recalled."""

    memory_no: int
    memory_id: str
    created_at_ms: int
    terms: int


class _Turn(NamedTuple):
    """What the words of one turn nominated, and what these words are worth to each, by its number."""

    found: list[_Found]
    matched: dict[int, float]


def find_by_words(
    db: sqlite3.Connection,
    user_no: int,
    stems: Sequence[str],
    *,
    now_ms: int,
    limit: int,
    scope: str | None,
    windows: Sequence[TimeWindow] = (),
) -> list[LexicalHit]:
    """Live memories of a user that have at least one of the stems, best first, then newest first.

    With windows, only memories that lie in one of them.

    Scores are those of `actors.store.bm25`, and which stems nominate is told by `actors.store.lexical_rank`. Cost grows
    with how many of this user's memories have the stems, 30 ns for each, and is bounded beyond that.

    Raises:
        sqlite3.Error: The index is damaged or not there.
        UnicodeEncodeError: A stem or the scope has a lone surrogate.
    """
    if limit <= 0:
        return []
    memories, terms_mean = _statistics(db, user_no)
    shown: dict[str, Parameter] = {
        "user_no": user_no,
        "now_ms": now_ms,
        "scope": scope,
        "windows": windows_parameter(windows),
    }
    words = _words(db, user_no, stems, memories)
    finalists_max = max(lexical_rank.FINALISTS_MAX, limit)
    for nominating in turns(words):
        turn = _nominated(db, nominating, shown, finalists_max)
        if turn.found:
            matched = turn.matched if len(nominating) == len(words) else _matched(db, words, turn.found)
            finalists = [
                Finalist(each.memory_id, each.created_at_ms, each.terms, matched.get(each.memory_no, 0.0))
                for each in turn.found
            ]
            return ranked(finalists, terms_mean=terms_mean, limit=limit)
    return []


def find_posted(db: sqlite3.Connection, user_no: int, stems: Sequence[str]) -> frozenset[str]:
    """Those of the stems that some memory of the user has: one look into the index for each, and no memory is read.

    Raises:
        sqlite3.Error: The index is damaged or not there.
        UnicodeEncodeError: A stem has a lone surrogate.
    """
    # Not from the vocabulary, which counts all memories that have the stem.
    sought = _storable(stems)
    are_posted = _of_each(db, _POSTED, [_phrase(token(user_no, stem)) for stem in sought], list[int])
    return frozenset(stem for stem, is_posted in zip(sought, are_posted, strict=True) if is_posted)


def _statistics(db: sqlite3.Connection, user_no: int) -> tuple[int, float]:
    """How many memories of the user words can find, and how many stems their texts have on average, at least 1."""
    row: tuple[int, int] = db.execute(STATISTICS, (user_no,)).fetchone()
    return row[0], max(row[1] / max(row[0], 1), 1.0)


def _words(db: sqlite3.Connection, user_no: int, stems: Sequence[str], memories: int) -> list[Word]:
    """Those of the stems that the user's memories have."""
    user_stems = [token(user_no, stem) for stem in _storable(stems)]
    return [
        Word(user_stem, having, inverse_document_frequency(memories, having))
        for user_stem, having in zip(user_stems, _of_each(db, _COUNTS, user_stems, list[int]), strict=True)
        if having
    ]


def _nominated(db: sqlite3.Connection, nominating: Sequence[Word], shown: dict[str, Parameter], limit: int) -> _Turn:
    """The best of the memories that have one of the words and may be recalled."""
    if is_beyond_reading(nominating):
        newest = {**shown, "match": _phrase(nominating[0].stem), "limit": limit}
        newest_found = [_Found(*row) for row in db.execute(_NEWEST, newest)]
        return _Turn(newest_found, _matched(db, nominating, newest_found))
    sought = [(word, is_in_text) for word in nominating for is_in_text in (True, False)]
    matches = [_match(word, is_in_text=is_in_text) for word, is_in_text in sought]
    worth = [word.worth(is_in_text=is_in_text) for word, is_in_text in sought]
    # The numbers of all memories that have each word.
    nominated = nominated_by([*zip(_of_each(db, _HAVING, matches, list[list[int]]), worth, strict=True)])
    found: list[_Found] = []
    matched: dict[int, float] = {}
    # Most often the first so many may all be recalled; in a scope of its own, few of them may be.
    for start in range(0, len(nominated.numbers), limit):
        part = slice(start, start + limit)
        numbers = nominated.numbers[part].tolist()
        matched.update(zip(numbers, nominated.matched[part].tolist(), strict=True))
        found += _known(db, numbers, shown)
        if len(found) >= limit:
            break
    return _Turn(found[:limit], matched)


def _storable(stems: Sequence[str]) -> list[str]:
    """Stems that a memory can have: none has a NUL, at which SQLite would end the text."""
    return [stem for stem in stems if "\0" not in stem]


def _of_each(db: sqlite3.Connection, statement: str, wanted: Sequence[str], kind: type[R]) -> R:
    """What a statement over `_WANTED` finds for each of some texts, in their order.

    Raises:
        UnicodeEncodeError: A text has a lone surrogate.
    """
    parameter = msgspec.json.encode(wanted).decode()
    (found,) = db.execute(statement, (parameter,)).fetchone()
    return msgspec.json.decode(found, type=kind)


def _known(db: sqlite3.Connection, numbers: Sequence[int], shown: dict[str, Parameter]) -> list[_Found]:
    """Those of the memories that may be recalled, in the order asked for."""
    wanted = msgspec.json.encode(numbers).decode()
    return [_Found(*row) for row in db.execute(_KNOWN, {**shown, "numbers": wanted})]


def _matched(db: sqlite3.Connection, words: Sequence[Word], found: Sequence[_Found]) -> dict[int, float]:
    """What words are worth to memories, by their numbers, from what the index holds of each."""
    numbers = msgspec.json.encode([each.memory_no for each in found]).decode()
    return {
        memory_no: matched_by(words, frozenset(main.split(" ")), frozenset(extras.split(" ")))
        for memory_no, main, extras in db.execute(_INDEXED, (numbers,))
    }


def _match(word: Word, *, is_in_text: bool) -> str:
    return f"{'main' if is_in_text else 'extras'} : {_phrase(word.stem)}"


def _phrase(user_stem: str) -> str:
    """A token as FTS5 matches it literally: a string, in which nothing is syntax."""
    literal = user_stem.replace('"', '""')
    return f'"{literal}"'
