"""How much room a text takes in a prompt: characters, lines, words and an estimate of tokens."""

from __future__ import annotations

import math
import unicodedata

import msgspec

ASCII_CHARS_PER_TOKEN = 4
"""Characters of a token in English, the rule of thumb that makers of byte-pair tokenizers give."""
OTHER_CHARS_PER_TOKEN = 2
"""The same for letters beyond ASCII, such as Cyrillic: shorter pieces, so rather too many tokens than too few."""
WIDE_CHARS_PER_WORD = 2
"""Characters of a word where words are not spaced: most Chinese and Japanese words have two."""
_WIDE = frozenset({"W", "F"})


class TextSize(msgspec.Struct, frozen=True, kw_only=True):
    """What a text takes.

    Attributes:
        chars: Unicode code points.
        lines: Lines, at least 1.
        words: Words, at least 1.
        tokens: An estimate, at least 1; rather too high than too low.
    """

    chars: int
    lines: int
    words: int
    tokens: int


def size_of(text: str) -> TextSize:
    """Measure a text. Linear in its length."""
    return TextSize(
        chars=len(text),
        lines=max(1, len(text.splitlines())),
        words=max(1, sum(map(_words_in, text.split()))),
        tokens=max(1, math.ceil(_tokens_in(text))),
    )


def _tokens_in(text: str) -> float:
    if text.isascii():
        return len(text) / ASCII_CHARS_PER_TOKEN
    wide = sum(map(_is_wide, text))
    plain = sum(map(str.isascii, text))
    return plain / ASCII_CHARS_PER_TOKEN + (len(text) - wide - plain) / OTHER_CHARS_PER_TOKEN + wide


def _words_in(unit: str) -> int:
    """Words of a piece without white space: one, or more where words are not spaced."""
    if unit.isascii():
        return 1
    wide = sum(map(_is_wide, unit))
    return math.ceil(wide / WIDE_CHARS_PER_WORD) + (1 if wide < len(unit) else 0)


def _is_wide(character: str) -> bool:
    return not character.isascii() and unicodedata.east_asian_width(character) in _WIDE
