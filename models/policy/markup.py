"""Tags in angle brackets, however they are spelled.

Programs that put text into a message escape, widen or space their brackets; a reader, human or model, sees the same
element. Nothing is unescaped in the text itself: brackets are levelled in a copy of the same length, so that what is
found there can be cut out of the original.
"""

from __future__ import annotations

import re
from itertools import islice

import msgspec

ATTRIBUTE_CHARS_MAX = 400
"""Longest tag that is recognised: bounds the search for its end."""
SPACES_MAX = 16
"""Spaces that may stand between a bracket and a name; an escaped bracket is levelled to one with up to 15 spaces."""

_WIDE = {"\uff1c": "<", "\uff1e": ">", "\ufe64": "<", "\ufe65": ">"}
_OPENING = re.compile(r"&(?:amp;)?(?:lt|#0{0,4}60|#x0{0,4}3c);|\\u003c|%3c", re.IGNORECASE)
_CLOSING = re.compile(r"&(?:amp;)?(?:gt|#0{0,4}62|#x0{0,4}3e);|\\u003e|%3e", re.IGNORECASE)
_TAG = re.compile(
    rf"<[ \t]{{0,{SPACES_MAX}}}(?P<close>/?)[ \t]{{0,{SPACES_MAX}}}(?P<name>[^\W\d][^\s<>/]{{0,80}})"
    rf"(?P<rest>(?:[\s/][^<>]{{0,{ATTRIBUTE_CHARS_MAX}}})?)>"
)
_ADDRESS = re.compile(r"@|:$|^(?:https?|mailto|file):")


class Tag(msgspec.Struct, frozen=True, kw_only=True):
    """One tag: a half-open range of the text, its name in lower case, and which kind it is."""

    start: int
    end: int
    name: str
    is_closing: bool
    is_empty: bool
    """`<name/>`: it has no content and no closing tag."""
    is_glued: bool
    """Whether a word stands right before it, as before a type parameter (`List<String>`)."""


def level_brackets(text: str) -> str:
    """The text with every spelling of an angle bracket as `<` or `>`, padded with spaces to the same length."""
    if "&" in text or "\\u003" in text or "%3" in text:
        text = _OPENING.sub(lambda found: "<".ljust(len(found.group())), text)
        text = _CLOSING.sub(lambda found: ">".rjust(len(found.group())), text)
    if not text.isascii():
        for wide, plain in _WIDE.items():  # each a search; translating would look up every character
            text = text.replace(wide, plain)
    return text


def find_tags(levelled: str, tags_max: int | None = None) -> list[Tag]:
    """The tags of a levelled text, in order. Links in brackets (`<https://…>`, `<ana@example.com>`) are none.

    Args:
        levelled: What `level_brackets` makes of a text.
        tags_max: How many at most; None: all.
    """
    found = (match for match in _TAG.finditer(levelled) if _ADDRESS.search(match["name"]) is None)
    return [
        Tag(
            start=match.start(),
            end=match.end(),
            name=match["name"].lower(),
            is_closing=bool(match["close"]),
            is_empty=match["rest"].rstrip().endswith("/"),
            is_glued=match.start() > 0 and levelled[match.start() - 1].isalnum(),
        )
        for match in islice(found, tags_max)
    ]
