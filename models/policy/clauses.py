"""Clauses: a long message that asks for several things, cut into its requests.

Guards: the records behind the third of four requests. One vector for all of them is near to none of what they need.
Cost: a few searches in a text of bounded length. Fails: towards one clause, the message itself: a short message is
never cut, nor is one that asks for one thing at whatever length.

Also here: whether a text asks for work or advice ("set up …", "should I …") rather than for a fact.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache

import msgspec

from recalld.models.policy import word_lists
from recalld.models.policy.apostrophes import straight_apostrophes
from recalld.models.policy.stop_words import DEFAULT_LANGUAGE, LANGUAGES, stop_words, vote_language
from recalld.models.policy.term_text import fold_word

CLAUSES_MAX = 4
"""Requests looked up on their own: each costs two vectors and a search."""
WORDS_MIN = 25
"""A message of so many words or fewer is not cut."""
CHARS_MAX = 2_000
"""A longer message is a paste, and its requests are what its head or tail asks."""
ENUMERATED_MIN, ENUMERATED_WORDS_MAX = 2, 6
"""Items behind a colon that make a list, and the words of one item at most."""

_SENTENCE = re.compile(r"(?<=[.!?;])\s+|\n+\s*(?:[-*\u2022]\s+|\d+[.)]\s+)?")
_ITEM_BREAK = re.compile(r",\s*(?:(?:and|or|und|oder|et|ou|y|o)\s+)?")
_TRIMMED = " \t\n,;:.-\u2022*"
_WORD = re.compile(r"[^\W_][\w'\u2019-]*")


class _Clause(msgspec.Struct, frozen=True, kw_only=True):
    """A piece of the message, and whether it asks for something."""

    text: str
    asks: bool


def split_clauses(text: str) -> tuple[str, ...]:
    """The requests of a message in text order, at most `CLAUSES_MAX`; the message itself when it makes only one.

    Args:
        text: The user's own words.
    """
    whole = text.strip()
    if len(whole) > CHARS_MAX or len(_WORD.findall(whole)) <= WORDS_MIN:
        return (whole,)
    language = _language(whole)
    asking = [clause.text for clause in _clauses(whole, language) if clause.asks]
    distinct = tuple(dict.fromkeys(asking))[:CLAUSES_MAX]
    return distinct if len(distinct) > 1 else (whole,)


def asks_for_work(text: str) -> bool:
    """Whether a text, or a sentence of it, asks for work or advice rather than for a fact.

    It begins with a verb that tells somebody to do something ("set up", "draft"), or asks what should be done ("should
    I", "how do we").
    """
    looked_at = straight_apostrophes(text[:CHARS_MAX])
    opener = _openers("tasks", _language(looked_at))
    return any(opener.match(piece.strip(_TRIMMED)) is not None for piece in _SENTENCE.split(looked_at))


def _clauses(text: str, language: str) -> Iterator[_Clause]:
    for sentence in _SENTENCE.split(straight_apostrophes(text)):
        parts = _connectors(language).split(sentence)
        # What is tied to a request is one as well: "can you set up the repo, and also the message to the team".
        inherits = _asks(parts[0], language)
        for part in parts:
            yield from _with_enumeration(part.strip(), language, inherits=inherits)


def _with_enumeration(part: str, language: str, *, inherits: bool) -> Iterator[_Clause]:
    """A part as it is, or one for each item of a list behind its colon; the head asks for all of them."""
    head, colon, tail = part.partition(":")
    items = [item.strip(_TRIMMED) for item in _ITEM_BREAK.split(tail) if item.strip(_TRIMMED)] if colon else []
    is_list = len(items) >= ENUMERATED_MIN and all(len(_WORD.findall(item)) <= ENUMERATED_WORDS_MAX for item in items)
    if is_list and _asks(head, language):
        for item in items:
            yield _Clause(text=f"{head.strip(_TRIMMED)}: {item}", asks=True)
        return
    trimmed = part.strip(_TRIMMED)
    yield _Clause(text=trimmed, asks=_has_content(trimmed, language) and (inherits or _asks(part, language)))


def _has_content(text: str, language: str) -> bool:
    """Whether there is a word beside stop words."""
    ignored = stop_words()[language]
    return any(fold_word(word).replace("'", "") not in ignored for word in _WORD.findall(text))


def _asks(text: str, language: str) -> bool:
    trimmed = text.strip(_TRIMMED)
    if "?" in text:
        return True
    return any(_openers(kind, language).match(trimmed) is not None for kind in ("questions", "tasks"))


def _language(text: str) -> str:
    """The language whose stop words the text has most of; English when none wins."""
    return vote_language(fold_word(word) for word in _WORD.findall(text))


@cache
def _connectors(language: str) -> re.Pattern[str]:
    words = _alternatives(word_lists.entries(f"clauses/connectors.{language}.txt"))
    return re.compile(rf",?\s+(?:{words})(?!\w),?\s+|(?:^|(?<=[.!?;]))\s*(?:{words})(?!\w),?\s+", re.IGNORECASE)


@cache
def _openers(kind: str, language: str) -> re.Pattern[str]:
    """The opening words of one kind; a foreign message may begin in English, never the other way round."""
    languages = dict.fromkeys((language, DEFAULT_LANGUAGE))
    words = [entry for each in languages for entry in word_lists.entries(f"clauses/{kind}.{each}.txt")]
    return re.compile(rf"[\u00bf\u00a1]?(?:{_alternatives(words)})(?!\w)", re.IGNORECASE)


def _alternatives(entries: Iterable[str]) -> str:
    return "|".join(re.escape(entry) for entry in sorted(set(entries), key=len, reverse=True))


CLAUSE_LANGUAGES = LANGUAGES
"""Languages with lists of connectors and opening words."""
