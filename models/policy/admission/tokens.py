"""The words of a text as the policy's phrases name them: in lower case, and with English contractions taken apart.

"isn't" is "is n't", "we're" is "we 're", "dont" is "do n't"; in French "n'utilisons" is "n utilisons". Every word
keeps its place in the text, and its accents: "würde" is not "wurde".
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cache, lru_cache
from typing import Final, NamedTuple
from unicodedata import normalize

from recalld.models.policy import word_lists
from recalld.models.policy.term_text import fold_word

_WORD: Final = re.compile(r"[^\W_]+(?:'[^\W_]+)*|'[^\W_]+")
_WORD_REST: Final = re.compile(r"(?:[^\W_]|')*")
CUT_WORD_CHARS_MAX: Final = 200
"""How far before a position a word may begin to be left out whole; of a longer one the rest is taken for a word."""
_CLITICS: Final = ("'re", "'m", "'s", "'ve", "'ll", "'d")
_NOT: Final = "n't"


class Token(NamedTuple):
    """One word in lower case, and where it stands."""

    text: str
    start: int
    end: int


def tokenize(text: str, start: int = 0, end: int | None = None) -> tuple[Token, ...]:
    """The words between two positions of a text whose apostrophes are straight. Linear."""
    glued = _glued_contractions()
    past_last = len(text) if end is None else end
    written: list[str] = _WORD.findall(text, start, past_last)
    tokens: list[Token] = []
    past = start
    for said, word in zip(written, _lower_case(written), strict=True):
        at = text.find(said, past)
        past = at + len(said)
        if "'" in word:
            tokens.extend(Token(part, at + first, at + last) for part, first, last in _parts(word))
        elif word in glued:
            tokens.extend(Token(part, at, past) for part in glued[word])
        else:
            tokens.append(Token(word, at, past))
    return tuple(tokens)


def tokens_within(text: str, start: int, end: int) -> tuple[Token, ...]:
    """Of the words of a whole text, those that begin between two positions: none is cut through by either.

    The word around `start` is looked for `CUT_WORD_CHARS_MAX` characters back.
    """
    first = start
    while first > max(0, start - CUT_WORD_CHARS_MAX) and _is_inside_word(text[first - 1]):
        first -= 1
    past_last = _WORD_REST.match(text, end)
    found = tokenize(text, first, end if past_last is None else past_last.end())
    return tuple(token for token in found if start <= token.start < end)


def words_of(text: str) -> list[str]:
    """The words of a text whose apostrophes are straight, without their places: what `tokenize` finds, and cheaper."""
    words = _lower_case(_WORD.findall(text))
    glued = _glued_contractions()
    if "'" not in text and glued.keys().isdisjoint(words):
        return words
    said: list[str] = []
    for word in words:
        if "'" in word:
            said.extend(part for part, _, _ in _parts(word))
        elif word in glued:
            said.extend(glued[word])
        else:
            said.append(word)
    return said


def folded(words: Iterable[str]) -> set[str]:
    """Words without their accents, as lists of stop words have them."""
    return {word if word.isascii() else fold_word(word) for word in words}


def folded_words(tokens: Iterable[Token]) -> set[str]:
    """The words of tokens without their accents."""
    return folded({token.text for token in tokens})


def _lower_case(words: Sequence[str]) -> list[str]:
    """Words in lower case and normal form, as one text: that is many times faster, and no word holds a line break."""
    if not words:
        return []
    lowered = "\n".join(words).lower()
    return (lowered if lowered.isascii() else normalize("NFC", lowered)).split("\n")


def _is_inside_word(character: str) -> bool:
    return character.isalnum() or character == "'"


@lru_cache(maxsize=1_024)
def _parts(word: str) -> tuple[tuple[str, int, int], ...]:
    """The words of one with apostrophes, each with its first and past its last character."""
    for clitic in (_NOT, *_CLITICS):
        if word.endswith(clitic):
            stem = len(word) - len(clitic)
            return (*(_parts(word[:stem]) if stem else ()), (clitic, stem, len(word)))
    found: list[tuple[str, int, int]] = []
    at = 0
    for part in word.split("'"):
        if part:
            found.append((part, at, at + len(part)))
        at += len(part) + 1
    return tuple(found)


@cache
def _glued_contractions() -> dict[str, tuple[str, ...]]:
    """What is typed without its apostrophe: `dont: do n't`."""
    pairs = (entry.split(":") for entry in word_lists.entries("admission/glued_contractions.en.txt"))
    return {glued.strip(): tuple(parts.split()) for glued, parts in pairs}
