"""The wording of a segment: the words and pairs of words in it, in its neighbours and in its turn.

A vector blurs how something is said and flags know only the words on their lists. Which words matter beside those is
learnt from labelled turns: "for this file", "in the story", "as of this spring", in the segment or right beside it.
Cost: one pass over the words of a turn of bounded length. Fails: towards phrases that no fit has seen, which weigh
nothing.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from recalld.models.policy.judge.segments import Segment
from recalld.models.policy.protected_spans import MASK
from recalld.models.policy.save_turn import SaveTurn

TURN_CHARS_READ_MAX = 1_000
"""Characters of a turn whose words count for every segment of it."""
PHRASE_WORDS_MAX = 2
"""Words of a phrase in a segment or in its neighbour; of a turn single words count."""
NEIGHBOUR_SHARE, TURN_SHARE = 0.5, 0.3
"""How long the phrases beside a segment and those of its turn are as vectors, where those in it have length 1."""

_TOKEN = re.compile(r"[\w']+|[^\w\s]")
_DIGITS = re.compile(r"\d+")
_MASKED = re.compile(re.escape(MASK) + "+")
_START, _NO_MARK, _NOTHING = "<", "<none>", "<nothing>"


class Phrases(NamedTuple):
    """The phrases of one segment: a sparse vector.

    Attributes:
        ids: Shape (phrases,), ascending: the CRC-32 of place and phrase.
        values: Shape (phrases,).
    """

    ids: NDArray[np.uint32]
    values: NDArray[np.float64]


def read_phrases(turn: SaveTurn, segments: Sequence[Segment]) -> tuple[Phrases, ...]:
    """The phrases of each segment of a turn."""
    words = [[_NOTHING], *(_words(segment.masked) for segment in segments), [_NOTHING]]
    of_turn = _weighed("t", _grams(_words(turn.masked[:TURN_CHARS_READ_MAX]), 1), TURN_SHARE)
    return tuple(
        _sparse(
            (
                _weighed("o", _grams([_START, *own, segment.closing or _NO_MARK], PHRASE_WORDS_MAX), 1.0),
                _weighed("p", _grams(before, PHRASE_WORDS_MAX), NEIGHBOUR_SHARE),
                _weighed("n", _grams(after, PHRASE_WORDS_MAX), NEIGHBOUR_SHARE),
                of_turn,
            )
        )
        for segment, before, own, after in zip(segments, words, words[1:], words[2:], strict=False)
    )


def _words(text: str) -> list[str]:
    """Words and marks in small letters; all numbers are one number, and all masked text is one mark."""
    plain = _DIGITS.sub("0", _MASKED.sub(MASK, text.lower()))
    return _TOKEN.findall(plain)


def _grams(words: Sequence[str], longest: int) -> Iterator[str]:
    for length in range(1, longest + 1):
        for place in range(len(words) - length + 1):
            yield " ".join(words[place : place + length])


def _weighed(place: str, phrases: Iterable[str], norm: float) -> dict[int, float]:
    """Each phrase once, all of them together a vector of length `norm`."""
    ids = {crc32(f"{place} {phrase}".encode()) for phrase in phrases}
    return dict.fromkeys(ids, norm / math.sqrt(max(len(ids), 1)))


def _sparse(parts: Iterable[dict[int, float]]) -> Phrases:
    # Two places of one phrase have different ids but for a chance of one in four thousand million.
    merged: dict[int, float] = {}
    for part in parts:
        merged |= part
    ids = np.fromiter(merged, dtype=np.uint32, count=len(merged))
    order = np.argsort(ids)
    values = np.fromiter(merged.values(), dtype=np.float64, count=len(merged))
    return Phrases(ids=ids[order], values=values[order])
