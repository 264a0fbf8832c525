"""How lexical hits are scored: BM25 over one user's memories, with presence instead of frequency.

Memories are a sentence or two, so a word said twice says nothing more; each term of the query counts once, at full
weight where the memory's own text has it and at less where only its cues or asks do. All statistics (how many memories,
how many of them have the term, how long they are) are the user's own: a neighbour's memories cannot move a score,
which the statistics of a shared full-text index would let them do. The inverse document frequency is the form that
never turns negative (ln(1 + ...)), so that a user's only memory and a word in every memory still score above zero.

Source of formula and constants: S. Robertson and H. Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond",
2009, k1 = 1.2, b = 0.75; the +1 inside the logarithm is Lucene's.

Which memories are scored at all, and which by all words of a query, is told by `lexical_rank`.
"""

from __future__ import annotations

import math
from typing import Final

K1: Final = 1.2
B: Final = 0.75
EXTRAS_WEIGHT: Final = 0.5
"""What a term is worth that only the cues or asks of a memory contain: they are paraphrase, not what was said."""
QUERY_TERMS_MAX: Final = 32
"""Terms of one query that are looked up; the rest is ignored. Callers cap far below this."""
SCORES_PER_UNIT: Final = 1e9
"""Scores are rounded to multiples of its inverse, so that sums that differ by their last bits are equal."""


def inverse_document_frequency(memories: int, memories_with_term: int) -> float:
    """How much a term tells, given how many of the user's memories have it. Always positive."""
    return math.log(1.0 + (memories - memories_with_term + 0.5) / (memories_with_term + 0.5))


def length_factor(terms: int, terms_mean: float) -> float:
    """What one matched term is worth in a memory of this many terms: above 1 in short memories, below in long ones."""
    return (K1 + 1.0) / (1.0 + K1 * (1.0 - B + B * terms / max(terms_mean, 1.0)))


def rounded_score(matched: float, factor: float) -> float:
    """The score of a memory.

    Args:
        matched: What the terms it has are worth together.
        factor: Its `length_factor`.
    """
    return round(matched * factor * SCORES_PER_UNIT) / SCORES_PER_UNIT
