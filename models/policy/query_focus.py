"""What of a long query is embedded: its beginning, its end, and the sentence that asks.

The cost of an embedding is linear in its tokens, and a pasted log of two thousand words says in its first and last
lines what it is about. Embedding all of it would take longer than a recall has.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from recalld.models.policy.token_estimate import Unit, units

QUERY_TOKENS_MAX: Final = 100
"""About how many tokens of a query are embedded; with the model's query prefix that is well below 128."""
_ASKING_TOKENS_MAX: Final = 48
"""How much of the asking sentence is kept, counted back from its question mark."""
_TAIL_SHARE: Final = 0.5
"""How much of what is left is kept of the end; the beginning has the rest."""
_ENDS_CHARS: Final = 2_000
"""How much of a text is looked at from either end: more than can be kept of it."""
_AFTER_MARK: Final = " \t\r\n\"')]\u201d\u2019"
_MARKS_TRIED_MAX: Final = 64
"""Question marks looked at from the end: a text made of them must not cost a look at each."""
_SENTENCE_START: Final = re.compile(r"[.!?\u2026\u3002\uff01\uff1f][\"')\]]*\s+|\n\s*")


def focused_query(text: str) -> str:
    """The query itself if it is short, else what is kept of it, in its order. Cost: bounded for any length."""
    if len(text) <= _ENDS_CHARS:
        found = tuple(units(text))
        if sum(unit.tokens for unit in found) <= QUERY_TOKENS_MAX:
            return text
    asking = _asking_span(text)
    left = QUERY_TOKENS_MAX - _tokens_in(text, asking)
    tail = _tail_span(text, int(left * _TAIL_SHARE))
    head = _head_span(text, left - int(left * _TAIL_SHARE))
    return " … ".join(text[start:end] for start, end in _joined([head, asking, tail]) if end > start)


def asking_sentence(text: str) -> tuple[int, int]:
    """Where the last sentence that ends in a question mark begins and ends; the same place twice where there is none.

    Of a long one only its last two thousand characters count. Cost: a search in so many, for a text of any length.
    """
    end = len(text)
    for _ in range(_MARKS_TRIED_MAX):
        mark = max(text.rfind("?", 0, end), text.rfind("\uff1f", 0, end))
        if mark < 0:
            break
        # A mark inside a word or an address ends no sentence.
        if not text[mark + 1 : mark + 2].strip(_AFTER_MARK):
            return _sentence_before(text, mark + 1)
        end = mark
    return (0, 0)


def _sentence_before(text: str, mark: int) -> tuple[int, int]:
    window = max(0, mark - _ENDS_CHARS)
    starts = [found.end() for found in _SENTENCE_START.finditer(text, window, mark - 1)]
    return (starts[-1] if starts else window, mark)


def _asking_span(text: str) -> tuple[int, int]:
    """The asking sentence, or as much of its end as is kept."""
    first, mark = asking_sentence(text)
    start, end = _tail_span(text[first:mark], _ASKING_TOKENS_MAX)
    return (first + start, first + end)


def _head_span(text: str, tokens_max: int) -> tuple[int, int]:
    kept = _within(list(units(text[:_ENDS_CHARS])), tokens_max)
    return (kept[0].start, kept[-1].end) if kept else (0, 0)


def _tail_span(text: str, tokens_max: int) -> tuple[int, int]:
    offset = max(0, len(text) - _ENDS_CHARS)
    kept = _within(list(units(text[offset:]))[::-1], tokens_max)
    return (offset + kept[-1].start, offset + kept[0].end) if kept else (0, 0)


def _within(found: Sequence[Unit], tokens_max: int) -> list[Unit]:
    """The first units that have no more tokens together."""
    kept: list[Unit] = []
    for unit in found:
        tokens_max -= unit.tokens
        if tokens_max < 0:
            break
        kept.append(unit)
    return kept


def _tokens_in(text: str, span: tuple[int, int]) -> int:
    return sum(unit.tokens for unit in units(text[span[0] : span[1]]))


def _joined(spans: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """The spans in the order of the text; those that touch are one."""
    joined: list[tuple[int, int]] = []
    for start, end in sorted(span for span in spans if span[1] > span[0]):
        if joined and start <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        else:
            joined.append((start, end))
    return joined
