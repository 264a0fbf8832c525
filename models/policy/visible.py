"""What of a text can be seen, and what of it can be searched for."""

from __future__ import annotations

import unicodedata

BLANK_LETTERS = frozenset("\u115f\u1160\u2800\u3164\uffa0")
"""Fillers and the empty Braille pattern: letters and symbols by category, blank on every screen."""
_IGNORABLE_MARKS = (
    range(0x034F, 0x0350),  # combining grapheme joiner
    range(0x17B4, 0x17B6),  # Khmer inherent vowels
    range(0x180B, 0x1810),  # Mongolian variation selectors
    range(0xFE00, 0xFE10),  # variation selectors
    range(0xE0000, 0xE1000),  # tags and further variation selectors
)
"""Marks that are ignored in display (the property Default_Ignorable_Code_Point), besides format characters."""
_INVISIBLE_CATEGORIES = frozenset({"Cc", "Cf", "Cn", "Cs", "Zl", "Zp", "Zs"})


def is_visible(character: str) -> bool:
    """Whether a character shows anything: not white space, a control or format character, a filler or a selector."""
    if character.isascii():
        return character.isprintable() and character != " "
    return unicodedata.category(character) not in _INVISIBLE_CATEGORIES and not is_ignorable(character)


def is_ignorable(character: str) -> bool:
    """Whether a mark or letter is one that is ignored in display, such as a filler or a variation selector."""
    return character in BLANK_LETTERS or any(ord(character) in ignorable for ignorable in _IGNORABLE_MARKS)


def has_visible(text: str) -> bool:
    """Whether a text has anything to see. Linear; stops at the first thing."""
    return any(map(is_visible, text))


def has_searchable(text: str) -> bool:
    """Whether a text has anything to look for: a letter, a number or a pictorial symbol such as an emoji.

    Punctuation, operators and marks alone ("???", "*", `` ``` ``) are near everything and about nothing.
    """
    return any(_is_searchable(character) for character in text)


def _is_searchable(character: str) -> bool:
    category = unicodedata.category(character)
    return (category[0] in "LN" or category == "So") and is_visible(character)
