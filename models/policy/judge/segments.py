"""A turn cut into what the judge judges: its sentences, and the clauses of those that are long.

Guards: the statement inside a long sentence ("… and I know we're on Fly.io so there's that machine warm-up business"):
one vector for all of it is near to nothing that it says.
Cost: one pass over a turn of bounded length. Fails: towards longer pieces; a short sentence is never cut.
"""

from __future__ import annotations

import itertools
import re
from bisect import bisect_left
from collections.abc import Iterator

import msgspec

from recalld.models.domain.facts import Span
from recalld.models.policy.save_turn import SaveTurn

SEGMENTS_MAX = 32
"""Segments judged per turn, each of which costs a vector: of a longer turn those at its head and at its tail."""
SENTENCE_WORDS_MAX = 14
"""A sentence of more words is cut into its clauses."""
CLAUSE_WORDS_MIN = 4
"""A clause of fewer words stays with the one before it."""
SEGMENT_CHARS_MAX = 600
"""Longest segment; a longer one is a paste without punctuation and is not judged."""
STATEMENT_WORDS_MAX = 30
"""A sentence of at most so many words is stored as a whole where a clause of it states something: the judge tells that
something is stated there better than where it begins and ends."""

_WORD = re.compile(r"[^\W_][\w'-]*")
_CONJUNCTIONS = (
    "and|but|so|because|since|though|while|which|also|as|und|aber|weil|denn|sondern|et|mais|donc|car|parce|y|pero|porque|"
    "pues"
)
_CLAUSE_START = re.compile(
    r"(?<=[,;:)\u2014\u2013\u2026])\s+"
    r"|(?<!\s)\s+(?=\()"
    r"|(?<!\s)\s+(?=[\u2013\u2014-]\s)"
    rf"|(?<!\s)\s+(?=(?:{_CONJUNCTIONS})\s)",
    re.IGNORECASE,
)
_EDGE = " \t\r\n,;:.\u2013\u2014-*\u2022"


class Segment(msgspec.Struct, frozen=True, kw_only=True):
    """One sentence or clause of a turn.

    Attributes:
        span: Where it stands in the user's own words, without the marks around it.
        whole: What is stored if it states something: its sentence, or, where that is long, the segment itself.
        text: As written.
        masked: The same with code and quotations masked.
        closing: The mark behind it, one character or empty: "?" makes a question of what else is a statement.
    """

    span: Span
    whole: Span
    text: str
    masked: str
    closing: str


def split_segments(turn: SaveTurn) -> tuple[Segment, ...]:
    """The sentences and clauses of a turn in text order, at most `SEGMENTS_MAX`."""
    found = [each for start, end in _sentences(turn) for each in _clauses(turn, start, end)]
    if len(found) <= SEGMENTS_MAX:
        return tuple(found)
    half = SEGMENTS_MAX // 2
    return (*found[:half], *found[-half:])


def _sentences(turn: SaveTurn) -> Iterator[tuple[int, int]]:
    ends = (*turn.sentence_starts[1:], len(turn.text))
    return zip(turn.sentence_starts, ends, strict=True)


def _clauses(turn: SaveTurn, start: int, end: int) -> Iterator[Segment]:
    """The sentence as it is, or its clauses; what holds no word of the user's own is left out."""
    sentence = turn.masked[start:end]
    words = len(_WORD.findall(sentence))
    cuts = _cuts(sentence) if words > SENTENCE_WORDS_MAX else [0, len(sentence)]
    whole = _trimmed(sentence, start) if words <= STATEMENT_WORDS_MAX else None
    # What a sentence is, a question or none, shows at its end and holds for its last clause alone.
    for first, last in itertools.pairwise(cuts):
        piece = sentence[first:last]
        span = _trimmed(piece, start + first)
        masked = turn.masked[span.start : span.end]
        if _WORD.search(masked) is None or len(masked) > SEGMENT_CHARS_MAX:
            continue
        closing = piece.rstrip()[-1:]
        yield Segment(
            span=span,
            whole=whole or span,
            text=turn.text[span.start : span.end],
            masked=masked,
            closing="" if closing.isalnum() else closing,
        )


def _trimmed(piece: str, start: int) -> Span:
    """Where the piece stands without the marks around it."""
    kept = piece.strip(_EDGE)
    begin = start + len(piece) - len(piece.lstrip(_EDGE))
    return Span(start=begin, end=begin + len(kept))


def _cuts(sentence: str) -> list[int]:
    """Where clauses start and end: at each break, unless that leaves too few words before or behind it."""
    words = [match.start() for match in _WORD.finditer(sentence)]
    cuts, cut_at = [0], 0
    for match in _CLAUSE_START.finditer(sentence):
        place = bisect_left(words, match.end())
        if place - cut_at >= CLAUSE_WORDS_MIN and len(words) - place >= CLAUSE_WORDS_MIN:
            cuts.append(match.end())
            cut_at = place
    return [*cuts, len(sentence)]
