"""Caps on text: what is looked at of a long one, and how far Unicode may blow up a short one.

Every pass over a text is linear, so a bound on the text bounds the pass. One character can stand for many, though: the
ligature U+FDFA is eighteen letters in compatibility form. So the bound is checked before normalising and holds after.
"""

from __future__ import annotations

import unicodedata

EXPANSION_MAX = 2
"""How many times longer the compatibility form of a text may be. Of real texts only short ones come near it: full-width
forms, ligatures and fractions stand among ordinary letters."""
EXPANSION_FREE_CHARS = 64
"""Characters by which it may be longer in any case, so that a single ligature is always written out."""
_PIECE_CHARS = 256


def capped(text: str, chars_max: int, *, joint: str = "\n") -> str:
    """The head and the tail of a text that is longer than `chars_max`: what is asked usually stands at either end.

    White space at the cut goes too, so that the rest of a line never looks like an indented one.

    Args:
        text: Of any length.
        chars_max: Characters of it that are kept.
        joint: Put between head and tail, so that no word is made of both.
    """
    ends = head_and_tail(text, chars_max)
    return text if ends is None else joint.join(ends)


def head_and_tail(text: str, chars_max: int) -> tuple[str, str] | None:
    """What `capped` keeps of a longer text; None for one that it keeps whole."""
    if len(text) <= chars_max:
        return None
    tail_chars = chars_max // 2
    return text[: chars_max - tail_chars].rstrip(), text[len(text) - tail_chars :].lstrip()


def compatible(text: str) -> str:
    """The text in normal form NFKC; unchanged where that would be far longer.

    Of such a text a small part is normalised to find out, so its cost is that of an ordinary one.
    """
    if text.isascii() or unicodedata.is_normalized("NFKC", text) or is_blown_up(text):
        return text
    return unicodedata.normalize("NFKC", text)


def is_blown_up(text: str) -> bool:
    """Whether the compatibility form is more than `EXPANSION_MAX` times as long, and not just by a few characters."""
    left = EXPANSION_MAX * len(text) + EXPANSION_FREE_CHARS
    for start in range(0, len(text), _PIECE_CHARS):
        left -= len(unicodedata.normalize("NFKC", text[start : start + _PIECE_CHARS]))
        if left < 0:
            return True
    return False
