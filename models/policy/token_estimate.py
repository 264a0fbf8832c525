"""About how many tokens of a BERT WordPiece vocabulary a text has, told from its characters alone.

Rules that must not depend on a model file need a length in tokens: where to cut a long memory, how much of a long query
to embed. The estimate leans upwards, so that what it lets through fits; the models cut what does not.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

_CHARS_PER_PIECE: Final = 5
"""Letters of a word that one token stands for: ordinary English words are one token, long or rare ones are cut up."""
_DIGITS_PER_PIECE: Final = 2
# Letters of an alphabet, digits, and single characters: marks, symbols, and each character of an unspaced script.
_PIECES: Final = re.compile(
    r"(?P<letters>[A-Za-z\u00c0-\u024f]+)|(?P<digits>[0-9]+)|(?P<others>[^\W\d_\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+)"
    r"|(?P<single>\S)"
)


class Unit(NamedTuple):
    """A stretch of a text that is never cut.

    Attributes:
        start: Its first character.
        end: One beyond its last.
        tokens: About how many tokens it has.
    """

    start: int
    end: int
    tokens: int


def units(text: str) -> Iterator[Unit]:
    """The words, numbers and marks of a text, in order; white space lies between them."""
    for found in _PIECES.finditer(text):
        length = found.end() - found.start()
        match found.lastgroup:
            case "letters":
                tokens = -(-length // _CHARS_PER_PIECE)
            case "digits":
                tokens = -(-length // _DIGITS_PER_PIECE)
            case "others":
                tokens = length  # the vocabulary knows the letters of other alphabets, and few of their words
            case _:
                tokens = 1
        yield Unit(found.start(), found.end(), tokens)


def estimated_tokens(text: str) -> int:
    """About how many tokens a text has. Cost: linear."""
    return sum(unit.tokens for unit in units(text))
