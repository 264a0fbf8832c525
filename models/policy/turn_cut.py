"""What of a long message a recall reads: its beginning, its end, and the sentence between them that asks.

Guards: everybody's time. Each step of reading a turn is linear, but a pasted log or a text that was made to take long
has sixty thousand characters, and what it is about stands at its ends.
Cost: the same for a message of any length. Fails: towards the ends; names and identifiers in the part that is left out
are not looked for.
"""

from __future__ import annotations

from typing import Final

from recalld.models.policy.query_focus import asking_sentence

READ_CHARS_MAX: Final = 3_000
"""Characters of a message that are read; a longer one is cut to no more."""
_ASKING_CHARS_MAX: Final = 500
"""Of those, characters of the asking sentence, counted back from its question mark."""
_HEAD_CHARS: Final = 1_300
_JOINT: Final = "\n"
"""Between the parts, so that no word is made of two of them, and no phrase reaches across."""
_TAIL_CHARS: Final = READ_CHARS_MAX - _HEAD_CHARS - _ASKING_CHARS_MAX - 2 * len(_JOINT)
_WORD_CHARS_MAX: Final = 64
"""How far from a cut a word may begin or end to be left out whole; a longer one is cut through."""


def cut_turn(text: str) -> str:
    """The message itself if it is short enough, else what of it is read, in its order. Idempotent.

    Args:
        text: The user's own words, of any length.
    """
    if len(text) <= READ_CHARS_MAX:
        return text
    head = _head_end(text, _HEAD_CHARS)
    tail = _tail_start(text, len(text) - _TAIL_CHARS)
    start, end = asking_sentence(text)
    start, end = max(start, end - _ASKING_CHARS_MAX, head), min(end, tail)
    parts = (text[:head].rstrip(), text[start:end].strip(), text[tail:].lstrip())
    return _JOINT.join(part for part in parts if part)


def cut_before(text: str, chars_max: int) -> str:
    """The end of a text of an earlier turn: what the next message leans on was said last.

    Args:
        text: Of any length.
        chars_max: Characters of it that are kept at most.
    """
    return text if len(text) <= chars_max else text[_tail_start(text, len(text) - chars_max) :]


def _head_end(text: str, end: int) -> int:
    """Where the last whole word before `end` is over."""
    if text[end].isspace():
        return end
    return next((place for place in range(end, end - _WORD_CHARS_MAX, -1) if text[place - 1].isspace()), end)


def _tail_start(text: str, start: int) -> int:
    """Where the first whole word from `start` on begins."""
    if text[start - 1].isspace():
        return start
    near = range(start, min(start + _WORD_CHARS_MAX, len(text)))
    return next((place for place in near if text[place].isspace()), start)
