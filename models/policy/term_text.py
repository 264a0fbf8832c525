"""Character classes and folding beneath the search terms."""

from __future__ import annotations

import unicodedata

from recalld.models.policy.apostrophes import APOSTROPHE, straight_apostrophes
from recalld.models.policy.caps import compatible
from recalld.models.policy.visible import is_ignorable

UNSPACED_RANGES = (
    (0x0E00, 0x0EFF),  # Thai, Lao
    (0x1000, 0x109F),  # Myanmar
    (0x1100, 0x11FF),  # Hangul Jamo
    (0x1780, 0x17FF),  # Khmer
    (0x3005, 0x3007),  # iteration mark, closing mark, ideographic zero
    (0x3040, 0x30FF),  # Hiragana, Katakana
    (0x3130, 0x318F),  # Hangul compatibility Jamo
    (0x31F0, 0x31FF),  # Katakana extensions
    (0x3400, 0x4DBF),  # CJK extension A
    (0x4E00, 0x9FFF),  # CJK unified ideographs
    (0xAC00, 0xD7FF),  # Hangul syllables
    (0xF900, 0xFAFF),  # CJK compatibility ideographs
    (0x20000, 0x3FFFF),  # CJK extensions B and on
)
"""Scripts written without spaces between words (or, for Hangul, with particles glued on): cut into characters and
pairs."""
JOINERS = "_-./:@&"
"""ASCII characters that may stand inside an identifier, a path or a compound."""
SUFFIXES = "+#"
"""ASCII characters that may end a name: C++, C#."""
FOLDED_LETTERS = str.maketrans(
    {"ø": "o", "đ": "d", "ł": "l", "ħ": "h", "\u0131": "i", "\u0671": "\u0627", "æ": "ae", "œ": "oe", "ŧ": "t"}
)
"""Lower-case letters with a stroke or a ligature, which Unicode does not decompose."""

_TRADE_MARKS = dict.fromkeys(map(ord, "\u2122\u2120"), " ")
_COMBINING_FIRST, _COMBINING_LAST = "\u0300", "\u036f"
_SYMBOL_MARKS = range(0x20D0, 0x2100)
_VOWEL_SIGNS = frozenset(
    (*range(0x064B, 0x0653), 0x0670, 0x0640, *range(0x0591, 0x05BE), 0x05BF, 0x05C1, 0x05C2, 0x05C4, 0x05C5, 0x05C7)
)
"""Arabic vowel signs and the stretching stroke, Hebrew points: written now and then, and never by who searches."""
_HAMZA_FIRST, _HAMZA_LAST = "\u0653", "\u0655"
"""Madda and hamza above or below a letter, which Arabic writers leave out as often."""


class _Cleaned(dict[int, str | None]):
    """Translation table, filled as characters are met: drops what is invisible, blanks what is not text."""

    def __missing__(self, code: int) -> str | None:
        category = unicodedata.category(chr(code))
        cleaned: str | None = chr(code)
        if category in {"Cc", "Cs", "Cn", "Co"}:
            cleaned = " "
        elif category == "Cf" or is_ignorable(chr(code)) or code in _SYMBOL_MARKS or code in _VOWEL_SIGNS:
            cleaned = None
        self[code] = cleaned
        return cleaned


class _Classes(dict[int, str]):
    """Translation table from characters to their class, filled as characters are met.

    `A` upper case, `a` any other letter or mark, `9` number, `c` unspaced script, a joiner, suffix or apostrophe for
    itself, and a space for everything else.
    """

    def __missing__(self, code: int) -> str:
        character = chr(code)
        kind = unicodedata.category(character)
        if any(first <= code <= last for first, last in UNSPACED_RANGES) and kind[0] in "LMN":
            found = "c"
        elif kind in {"Lu", "Lt"}:
            found = "A"
        elif kind[0] in "LM":
            found = "a"
        elif kind[0] == "N":
            found = "9"
        else:
            found = character if character in JOINERS + SUFFIXES + APOSTROPHE else " "
        self[code] = found
        return found


_CLEANED = _Cleaned()
_CLASSES = _Classes()


def clean_text(text: str) -> str:
    """Compatibility-normalised text with straight apostrophes and without invisible characters.

    Control characters and lone surrogates become spaces. Linear in the text, and never much longer than it. Case is
    kept, because it marks the parts of identifiers.
    """
    text = straight_apostrophes(text)
    if text.isascii():
        return text
    return compatible(text.translate(_TRADE_MARKS)).translate(_CLEANED)


def classify(text: str) -> str:
    """The class of each character of `text`, as a string of the same length (see the module's tables)."""
    return text.translate(_CLASSES)


def fold_word(word: str) -> str:
    """Lower case, without the accents of Latin, Greek and Cyrillic letters and the hamza of Arabic ones.

    Vowel signs of Indic scripts are kept, because there they are letters.
    """
    folded = word.casefold()
    if folded.isascii():
        return folded
    parts = unicodedata.normalize("NFD", folded)
    bare = "".join(
        mark
        for mark in parts
        if not (_COMBINING_FIRST <= mark <= _COMBINING_LAST or _HAMZA_FIRST <= mark <= _HAMZA_LAST)
    )
    return unicodedata.normalize("NFC", bare).translate(FOLDED_LETTERS)
