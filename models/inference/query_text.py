"""Which part of a text is read: cleaning, length caps before tokenizing, and the sentence that asks.

Tokenizing is linear in the text, so a pasted megabyte would cost a hundred times the scoring it precedes. Texts are cut
in characters first (cheap, exact) and in tokens afterwards.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

QUERY_CHARS_MAX = 4_096
"""Longer queries keep their head, their tail and the sentence that asks."""
QUERY_END_CHARS = 1_024
"""What is kept of a long query at either end."""
QUESTION_CHARS_MAX = 512
"""What is kept of the sentence that asks, counted back from its question mark."""
MEMORY_CHARS_MAX = 8_192
"""Characters of a memory that are tokenized: above the longest storable text, so only foreign input is ever cut."""

_QUESTION_MARKS_TRIED_MAX = 64
"""Question marks looked at from the end: a text made of "?" must not cost a scan per mark."""
_WIDE_QUESTION_MARK = "\uff1f"
_AFTER_QUESTION = frozenset(" \t\r\n\"')]}*_`\u00bb\u2019\u201d")
_SENTENCE_START = re.compile(r"[.!?\uff01\uff1f\u3002\u2026]['\")\]]*\s+|\n\s*")
_UNENCODABLE = re.compile("[\x00\ud800-\udfff]")


def clean(text: str) -> str:
    """Replace what no tokenizer accepts (NUL, lone surrogates) by spaces, so that it neither raises nor joins words."""
    return _UNENCODABLE.sub(" ", text)


def question_span(text: str) -> tuple[int, int] | None:
    """Where the last sentence that ends in a question mark stands, as a half-open character range.

    A mark inside a word or address ("?q=1") ends no sentence. At most `QUESTION_CHARS_MAX` characters are taken, the
    ones nearest to the mark, because that is where the asking is.
    """
    end = len(text)
    for _ in range(_QUESTION_MARKS_TRIED_MAX):
        mark = max(text.rfind("?", 0, end), text.rfind(_WIDE_QUESTION_MARK, 0, end))
        if mark < 0:
            return None
        if mark + 1 == len(text) or text[mark + 1] in _AFTER_QUESTION:
            window_start = max(0, mark - QUESTION_CHARS_MAX)
            starts = [found.end() for found in _SENTENCE_START.finditer(text, window_start, mark)]
            return (starts[-1] if starts else window_start, mark + 1)
        end = mark
    return None


def cap_query(text: str) -> str:
    """Cut a long query to its head, the sentence that asks, and its tail, in that order."""
    if len(text) <= QUERY_CHARS_MAX:
        return text
    head, tail = text[:QUERY_END_CHARS], text[-QUERY_END_CHARS:]
    span = question_span(text)
    if span is None or span[1] <= QUERY_END_CHARS or span[0] >= len(text) - QUERY_END_CHARS:
        return f"{head}\n{tail}"
    return f"{head}\n{text[slice(*span)]}\n{tail}"


def kept_positions(count: int, limit: int, question: tuple[int, int] | None) -> list[int]:
    """Which of `count` tokens are kept when only `limit` may be: the question's, then head and tail.

    The question gets three quarters of the limit at most, so that some of what it is about stays too.

    Args:
        count: Tokens there are.
        limit: Tokens that may stay.
        question: Half-open range of the tokens that ask, if any. Too long a question keeps its end.

    Returns:
        Positions in ascending order, at most `limit`; all of them when they fit.
    """
    if count <= limit:
        return list(range(count))
    asking = range(*question)[-(limit * 3 // 4) :] if question is not None else range(0)
    others = [position for position in range(count) if position not in asking]
    spare = limit - len(asking)
    tail_count = spare // 2
    head = others[: spare - tail_count]
    tail = others[len(others) - tail_count :]
    return sorted({*asking, *head, *tail})


def tokens_in_span(offsets: Sequence[tuple[int, int]], span: tuple[int, int] | None) -> tuple[int, int] | None:
    """The half-open range of tokens that overlap a character range; None when there is no range or no such token."""
    if span is None:
        return None
    inside = [position for position, (start, end) in enumerate(offsets) if start < span[1] and end > span[0]]
    return (inside[0], inside[-1] + 1) if inside else None
