"""Whose word a memory rests on: only the user's own may stand before any use of it was reported.

Guards: that what a model or a classifier made of one turn is put in front of every later one. Costs a few look-ups. Its
two errors: what a rule misread stands until somebody demotes it or its outcomes do, and what only the local judge or a
model understood does not stand until it was said again, confirmed, or used.
"""

from __future__ import annotations

from recalld.models.domain.facts import Generator
from recalld.models.domain.records import MemorySource
from recalld.models.domain.standing import StandingCandidate, StandingWord


def word_of(candidate: StandingCandidate) -> StandingWord:
    """Whose word it is, the strongest first: asked for, said yes to, said outright, said again and again.

    An import keeps the evidence of a record, so that what was the user's word elsewhere is so here.
    """
    source, found_by = candidate.memory.source, candidate.found_by
    if source is MemorySource.EXPLICIT or Generator.EXPLICIT in found_by:
        return StandingWord.ASKED
    if source is MemorySource.CONFIRMED or Generator.CONFIRMED in found_by:
        return StandingWord.CONFIRMED
    if Generator.RULE in found_by:
        return StandingWord.SAID
    return StandingWord.REPEATED if candidate.is_promoted else StandingWord.NOBODY


def is_users_word(candidate: StandingCandidate) -> bool:
    """Whether the user stated it in any of these ways."""
    return word_of(candidate) is not StandingWord.NOBODY
