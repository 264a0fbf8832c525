"""What a find points back to, so that it says something: the sentence before "That goes for every answer".

Likewise the words in front of "which is called Bruno".
Guards: that a record is understood by somebody who reads it alone. Cost: a look at the first word. Fails: towards the
sentence as it stands.
"""

from __future__ import annotations

import re
from bisect import bisect_right

from recalld.models.domain.facts import Span
from recalld.models.policy.save_turn import SaveTurn

CHARS_MAX = 300
"""Longest span made of a sentence and the one before it."""
_WORDS = "that this these those same it they he she das dies es gilt \u00e7a cela c'est eso esto"
_POINTS_BACK = re.compile(
    rf"(?:(?:and|but|so|also|und|et|y) )?(?:{'|'.join(_WORDS.split())})(?:'(?:s|ll|re|d|ve))?(?!\w)", re.IGNORECASE
)
_HANGS_ON = re.compile(
    r"(?:(?:and|but|y|et) )?"
    r"(?:which|who|whose|whom|where|even if|even though|than|dont|laquelle|lequel|cuyo|cuya|wobei|wodurch)(?!\w)",
    re.IGNORECASE,
)
"""How a clause opens that is part of a longer sentence."""
_PARAGRAPH = re.compile(r"\n\s*\n")
_EDGE = " \t\r\n"


def with_antecedent(turn: SaveTurn, span: Span) -> Span:
    """The span with what it points back to: the words before it in its sentence, or the sentence before."""
    place = bisect_right(turn.sentence_starts, span.start) - 1
    if _HANGS_ON.match(turn.masked, span.start) is not None:
        return _from(turn, turn.sentence_starts[place], span)
    if _POINTS_BACK.match(turn.masked, span.start) is not None and place > 0:
        return _from(turn, turn.sentence_starts[place - 1], span)
    return span


def _from(turn: SaveTurn, start: int, span: Span) -> Span:
    """The span from an earlier place on, where that is near and in the same paragraph."""
    before = turn.text[start : span.start]
    begin = start + len(before) - len(before.lstrip(_EDGE))
    is_near = span.end - begin <= CHARS_MAX and _PARAGRAPH.search(before) is None
    return Span(start=min(begin, span.start), end=span.end) if is_near else span
