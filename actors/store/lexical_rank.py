"""The steps of the search by words that every store takes alike: which words nominate, and what is ranked how.

Reading every memory that has a common word is what would make a search slow, and a common word alone says little. So
the words of a query nominate by turns, the rarest first: as many as stand in no more than `POSTINGS_MAX` memories
together, at least one. The first turn that finds a memory that may be recalled decides. Of what it nominated, the
`FINALISTS_MAX` that match best by its own words, or else are newest, are scored: by all words of the query, and by
their length. Of a word that alone has more than `POSTINGS_MAX` memories, the newest are scored. In a store of so few
memories that none of this binds, all words nominate and everything is scored by all.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from recalld.actors.store.bm25 import EXTRAS_WEIGHT, SCORES_PER_UNIT, length_factor, rounded_score
from recalld.models.domain.store import LexicalHit

POSTINGS_MAX: Final = 8_000
"""How often the words of one turn may stand in memories together: so many postings are read, in a store of any size."""
FINALISTS_MAX: Final = 100
"""Memories read and scored by all words of a query: well more than are ever asked for."""


class Word(NamedTuple):
    """A stem of a query that some memory of the user has.

    Attributes:
        stem: As the index has it.
        having: How many of the user's memories have it.
        weight: Its inverse document frequency.
    """

    stem: str
    having: int
    weight: float

    def worth(self, *, is_in_text: bool) -> float:
        """What it adds to a memory that has it: in its text, or only in its cues or asks."""
        return self.weight if is_in_text else self.weight * EXTRAS_WEIGHT


class Nominated(NamedTuple):
    """The memories that have a nominating word, best match first, then the newest.

    Attributes:
        numbers: How their store finds them again; it gives newer memories larger ones. Shape (memories,).
        matched: What the nominating words they have are worth together, shape (memories,).
    """

    numbers: NDArray[np.int64]
    matched: NDArray[np.float64]


class Finalist(NamedTuple):
    """A memory that is scored.

    Attributes:
        memory_id: Its id.
        created_at_ms: When it was made.
        terms: How many stems its text has.
        matched: What all words of the query that it has are worth together.
    """

    memory_id: str
    created_at_ms: int
    terms: int
    matched: float


def turns(words: Sequence[Word]) -> Iterator[Sequence[Word]]:
    """The words that nominate in each turn, rarest first; of equally rare ones the first of the query."""
    ordered = sorted(words, key=lambda word: word.having)
    start = 0
    while start < len(ordered):
        end, postings = start + 1, ordered[start].having
        while end < len(ordered) and postings + ordered[end].having <= POSTINGS_MAX:
            postings += ordered[end].having
            end += 1
        yield ordered[start:end]
        start = end


def is_beyond_reading(nominating: Sequence[Word]) -> bool:
    """Whether the words of a turn, one alone then, stand in more memories than are read."""
    return sum(word.having for word in nominating) > POSTINGS_MAX


def nominated_by(postings: Sequence[tuple[Sequence[int], float]]) -> Nominated:
    """Join postings: for each list of the numbers of memories, what it is worth to be in it."""
    numbers = np.concatenate([np.array(having, dtype=np.int64) for having, _ in postings])
    worth = np.repeat([worth for _, worth in postings], [len(having) for having, _ in postings])
    distinct, places = np.unique(numbers, return_inverse=True)
    matched: NDArray[np.float64] = np.bincount(places, weights=worth, minlength=len(distinct)).astype(np.float64)
    # Rounded, so that sums that differ by their last bits are equal.
    best_first = np.lexsort((-distinct, -np.round(matched * SCORES_PER_UNIT)))
    return Nominated(distinct[best_first], matched[best_first])


def matched_by(words: Sequence[Word], in_text: Collection[str], in_extras: Collection[str]) -> float:
    """What the words are worth together to a memory with these stems."""
    return sum(
        word.worth(is_in_text=word.stem in in_text) for word in words if word.stem in in_text or word.stem in in_extras
    )


def ranked(finalists: Sequence[Finalist], *, terms_mean: float, limit: int) -> list[LexicalHit]:
    """The best of the finalists, then the newest.

    Args:
        finalists: Of one turn; all of them may be recalled.
        terms_mean: The mean number of stems of the user's memories.
        limit: How many hits.
    """
    scored = [
        (rounded_score(each.matched, length_factor(each.terms, terms_mean)), each.created_at_ms, each.memory_id)
        for each in finalists
    ]
    scored.sort(reverse=True)
    return [LexicalHit(memory_id=memory_id, score=score) for score, _, memory_id in scored[: max(limit, 0)]]
