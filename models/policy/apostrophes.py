"""One apostrophe: the characters that are typed for it, made straight.

For comparing, matching and scoring only; what is stored stays as it was written. Every replacement is one character for
one, so that positions in the text stay.
"""

from __future__ import annotations

import re

APOSTROPHE = "'"
_ALWAYS = "\u2018\u2019\u201b\u02bc\ua78c\uff07"
"""Quotation marks and letters that are apostrophes in the middle of a word and single quotes elsewhere."""
_BETWEEN_LETTERS = re.compile(r"[\u00b4\u2032\u02b9\u02ca\u055a\u07f4](?<=[^\W\d_].)(?=[^\W\d_])")
"""Accents, primes and the like, which mean something else after a digit or a space."""
_BACKTICK = re.compile(r"(?<=[^\W\d_])`(?=[^\W\d_])")


def straight_apostrophes(text: str) -> str:
    """The text with every apostrophe straight, of the same length. Linear; idempotent.

    A backtick is one where each of its line stands inside a word; any other makes code of the line.
    """
    if not text.isascii():
        for each in _ALWAYS:  # each a search; translating would look up every character
            text = text.replace(each, APOSTROPHE)
        text = _BETWEEN_LETTERS.sub(APOSTROPHE, text)
    return "\n".join(map(_without_backticks, text.split("\n"))) if "`" in text else text


def _without_backticks(line: str) -> str:
    straight, count = _BACKTICK.subn(APOSTROPHE, line)
    return straight if count == line.count("`") else line
