"""The floor of last resort: which word matches are worth handing over when neither vectors nor a gate are there.

Guards: the user's attention while the embedder is down. Cost: one set intersection per candidate.
Fails: towards silence on a single common word, towards speech on anything stronger.
"""

from __future__ import annotations

from collections.abc import Set as AbstractSet

from recalld.models.policy.term_text import classify
from recalld.models.policy.terms import TERM_PUNCTUATION

COVER_MIN = 0.5
"""Share of a query's pairs of characters that must occur, where an unspaced script says a word in several pairs."""
MATCHES_MIN = 2
"""Distinct words that are enough whatever the length of the query."""

NUMBER_DIGITS_MIN = 4
"""Digits of a number that make a chance match unlikely."""


def passes_lexical_floor(wanted: AbstractSet[str], present: AbstractSet[str]) -> bool:
    """Whether a memory shares enough words with a query to be about the same.

    That is: two of them; or the only one the query has; or one that is no plain word (an identifier, a version, a
    number of four digits), which hardly occurs by chance; or half of the query in an unspaced script. One word of
    several is not enough: "car" does not make a Volvo the answer to a question about a car loan.

    Args:
        wanted: The words of the query, in the form in which full-text search compares them (stems).
        present: The same of the memory: its text, cues and asks count alike.
    """
    shared = wanted & present
    if len(shared) >= min(MATCHES_MIN, max(len(wanted), 1)):
        return True
    if any(_is_rare(word) for word in shared):
        return True
    is_unspaced = bool(shared) and all(classify(word[0]) == "c" for word in shared)
    return is_unspaced and len(shared) >= COVER_MIN * len(wanted)


def shares_words(wanted: AbstractSet[str], present: AbstractSet[str]) -> bool:
    """Whether a memory shares two of a query's words, or half of them: evidence beside a cosine, not instead of one."""
    matches = len(wanted & present)
    return matches > 0 and (matches >= MATCHES_MIN or matches >= COVER_MIN * len(wanted))


def _is_rare(word: str) -> bool:
    if word.isdigit():
        return len(word) >= NUMBER_DIGITS_MIN
    return any(character.isdigit() or character in TERM_PUNCTUATION for character in word)
