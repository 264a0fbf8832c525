"""Passages: how a memory too long to be judged as a whole is cut into pieces that are embedded and judged each.

A vector of a long text is near to everything and to nothing, and a relevance model reads its head only. So a memory of
more than `PASSAGE_TOKENS_MAX` tokens has a vector for each passage, and is judged by the one that is nearest to the
query. Passages end where sentences end if they can, and begin with what the one before ended with, so that an answer
across a border is whole in one of them.

Which passages a text has is stored with its vectors, by their ordinals. So a change here or in `token_estimate` needs a
migration that lets what is cut differently wait for its vectors (see `daemon.storage.passage_rows`); all others keep
theirs. A test holds how texts are cut.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Final

from recalld.models.policy.token_estimate import Unit, units

PASSAGE_TOKENS_MAX: Final = 128
"""About how many tokens a passage has at most; see `token_estimate`."""
OVERLAP_TOKENS_MAX: Final = 16
"""About how many tokens of a passage the next one repeats at most."""
LONG_TOKENS_MAX: Final = 240
"""How long the passages of a very long text may be: still no more than an embedder reads."""
PASSAGES_AIMED_AT: Final = 32
"""About how many passages a text is cut into at most, by making them longer, because each costs a vector. A text of
8,000 characters has about 20 where words are written with spaces."""
TITLE_CHARS_MAX: Final = 80
"""What is kept of a memory's beginning in front of a later passage, so that it is known what the passage is about."""

_SENTENCE_END: Final = re.compile(r"[.!?\u2026\u3002\uff01\uff1f][\"')\]\u201d\u2019]*\s+|\n\s*|[\u3002\uff01\uff1f]")
_FILLED_MIN: Final = 0.5
"""How full a passage must be for the end of a sentence to end it."""


@lru_cache(maxsize=256)
def split_passages(text: str) -> tuple[str, ...]:
    """The passages of a text, in order; a text that is short enough is the only one.

    Each is a stretch of the text as it stands; together they leave out nothing but white space.
    """
    found = tuple(units(text))
    total = sum(unit.tokens for unit in found)
    if total <= PASSAGE_TOKENS_MAX:
        return (text,)
    tokens_max = min(max(PASSAGE_TOKENS_MAX, total // PASSAGES_AIMED_AT), LONG_TOKENS_MAX)
    ends = frozenset(match.end() for match in _SENTENCE_END.finditer(text))
    passages = []
    first = 0
    while first < len(found):
        last = _last_of_passage(found, first, ends, tokens_max)
        passages.append(text[found[first].start : found[last].end])
        if last + 1 == len(found):
            break
        first = max(_first_of_next(found, last, ends), first + 1)
    return tuple(passages)


def is_surely_whole(text: str) -> bool:
    """Whether a text cannot be cut, told by its length alone: no token has less than a character."""
    return len(text) <= PASSAGE_TOKENS_MAX


def judged_text(text: str, passage: int | None) -> str:
    """What a memory is judged by: all of it, or its passage nearest to the query, with its first words in front.

    Args:
        text: The memory's.
        passage: The ordinal of the nearest passage; None where no vector tells.
    """
    return judged_passage(text, split_passages(text), passage)


def judged_passage(text: str, passages: Sequence[str], passage: int | None) -> str:
    """The same of a text that has been cut.

    Args:
        text: The memory's.
        passages: What `split_passages` makes of it.
        passage: As for `judged_text`.
    """
    if len(passages) == 1:
        return text
    if not passage or passage >= len(passages):
        return passages[0]
    return f"{_title(text)} … {passages[passage]}"


def _title(text: str) -> str:
    """The first line or sentence of a text, or its first words where that is long."""
    stripped = text.lstrip()
    end = _SENTENCE_END.search(stripped, 0, TITLE_CHARS_MAX)
    if end is not None:
        return stripped[: end.start() + 1].strip()
    head = stripped[:TITLE_CHARS_MAX]
    return head[: head.rindex(" ")] if " " in head else head


def _last_of_passage(found: Sequence[Unit], first: int, ends: frozenset[int], tokens_max: int) -> int:
    """The last unit of the passage that begins with `first`: at the last end of a sentence that leaves it full enough.

    A single unit longer than a passage is a passage of its own.
    """
    tokens, last, border = 0, first, None
    for place in range(first, len(found)):
        tokens += found[place].tokens
        if tokens > tokens_max and place > first:
            break
        last = place
        if tokens >= _FILLED_MIN * tokens_max and _ends_sentence(found, place, ends):
            border = place
    return last if border is None or last + 1 == len(found) else border


def _first_of_next(found: Sequence[Unit], last: int, ends: frozenset[int]) -> int:
    """The first unit of the passage after one that ends with `last`: some of its tokens again, from a sentence on."""
    tokens, first = 0, last + 1
    for place in range(last, -1, -1):
        tokens += found[place].tokens
        if tokens > OVERLAP_TOKENS_MAX:
            break
        first = place
        if place and _ends_sentence(found, place - 1, ends):
            return place
    return first


def _ends_sentence(found: Sequence[Unit], place: int, ends: frozenset[int]) -> bool:
    """Whether a sentence ends with a unit: whatever follows begins where an end was found."""
    return place + 1 == len(found) or found[place + 1].start in ends
