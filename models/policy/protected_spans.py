"""Spans of a text that are somebody else's words or no prose at all: code, quotations, quoted lines, private spans."""

from __future__ import annotations

import re

MASK = "\ufffc"
"""Stands for each masked character: an object replacement character is part of no word."""
_CODE = r"(?<=`)(?:``(?s:.*?)(?:```|\Z)|[^`\n]+`)"
_TILDE_CODE = r"(?ms:^[ \t]*~~~.*?(?:^[ \t]*~~~|\Z))"
_CLOSED_BY = (
    ('"', '"'),
    ("\u201c", "\u201d"),
    ("\u201e", "\u201c\u201d"),
    ("\u00ab", "\u00bb"),
    ("\u00bb", "\u00ab"),
    ("\u2039", "\u203a"),
    ("\u203a", "\u2039"),
    ("\uff02", "\uff02"),
    ("\u300c", "\u300d"),
    ("\u300e", "\u300f"),
    ("\u300a", "\u300b"),
    ("\u301d", "\u301e\u301f"),
)
"""Opening marks with what may close them. Neither occurs inside, which keeps the search linear."""
_DOUBLE_QUOTED = "|".join(rf"(?<={opening})[^{opening}{closing}\n]*[{closing}]" for opening, closing in _CLOSED_BY)
_INSIDE = "[^\\n'\u2018\u2019]"
_SINGLE_QUOTED = (
    f"(?<=['\u2018])(?<![^\\s(\\[,:].)(?=\\S){_INSIDE}{{1,400}}"
    f"(?:['\u2019](?=\\w){_INSIDE}{{1,400}}){{0,20}}['\u2019](?!\\w)"
)
"""Opens after white space or a bracket and closes before no letter, so that the apostrophes of words do not count."""

_OPENING = "".join(("`'\u2018", *(opening for opening, _ in _CLOSED_BY)))
_CODE_AND_QUOTES = re.compile(f"[{_OPENING}](?:{_CODE}|{_DOUBLE_QUOTED}|{_SINGLE_QUOTED})")
"""Begins with the opening mark, then asks which one it was: the search skips everything else at the speed of a scan."""
_WITH_TILDES = re.compile(f"{_TILDE_CODE}|{_CODE_AND_QUOTES.pattern}")
PRIVATE = re.compile(r"<private>.*?(?:</private>|\Z)", re.IGNORECASE | re.DOTALL)
"""A span that the user marked as private, closed or not."""
_QUOTED_LINE = re.compile(r"^[ \t]*(?:>|\uff1e|&gt;|\u00bb)[^\n]*", re.MULTILINE | re.IGNORECASE)


def code_and_quotes(text: str) -> list[tuple[int, int]]:
    """Start and end of each code span and quotation, in order."""
    return [match.span() for match in _protecting(text).finditer(text)]


def mask_code_and_quotes(text: str) -> str:
    """The text with code and quotations replaced by `MASK`, character for character; line breaks stay.

    Positions stay too, so that what is found in the masked text can be cut out of the original.
    """
    return _protecting(text).sub(_masked, text)


def remove_foreign_blocks(text: str) -> str:
    """The text without `<private>` spans (closed or not) and without quoted lines ("> …"): neither is ever stored."""
    return _QUOTED_LINE.sub("", PRIVATE.sub(" ", text))


def _protecting(text: str) -> re.Pattern[str]:
    return _WITH_TILDES if "~~~" in text else _CODE_AND_QUOTES


def _masked(match: re.Match[str]) -> str:
    said = match.group()
    return MASK * len(said) if "\n" not in said else "\n".join(MASK * len(line) for line in said.split("\n"))
