"""Mentions as evidence: which candidates a query names by their subject, and when that alone is enough.

Guards: records that answer no question and are still wanted whenever their subject comes up ("Web client is Svelte 5"
for "how should I lay out the SvelteJS routes?"), without letting every record in that shares a word with the query.
Cost: one look-up per subject of each candidate. Fails: towards no mention.

A subject counts only while few of the candidates hold it: what many records of a user are about tells none of them
apart. Candidates are what stands in for all records there: whoever holds a subject that the query names shares its
words, so full-text search has nominated it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from recalld.models.domain.recall import Candidate, Evidence
from recalld.models.domain.records import Memory, MemoryKind, TextOrigin
from recalld.models.policy.clauses import asks_for_work
from recalld.models.policy.floor import FloorResult, FloorValues, passes_floor
from recalld.models.policy.subjects import MENTION_GENERAL, QueryWords, Subject, holders, mention, subjects_of
from recalld.models.policy.terms import index_terms, query_terms
from recalld.models.policy.text_origins import origin_at
from recalld.models.policy.turn.inflections import inflection_key

HOLDERS_MAX = 3
"""Candidates that may hold a subject before it tells none of them apart."""
MENTION_MIN = 0.8
"""The weakest mention that may be enough by itself: one letter wrong."""
SUFFICIENT_KINDS = frozenset({MemoryKind.CONVENTION, MemoryKind.ENTITY, MemoryKind.PREFERENCE})
"""Kinds that apply when their subject comes up. A fact or a note answers something; its subject alone asks nothing."""


def mentions(query: QueryWords, subjects: Mapping[str, Sequence[Subject]]) -> dict[str, float]:
    """How far the query names each candidate by a subject that few of them hold.

    Args:
        query: The turn.
        subjects: The subjects of each candidate, by its id.
    """
    counts = holders(subjects)
    return {
        memory_id: mention(query, (each for each in held if counts[each.keys] <= HOLDERS_MAX))
        for memory_id, held in subjects.items()
    }


class MentionRule:
    """When a mention lets a candidate of one recall pass, although the relevance head says no.

    Args:
        floors: The calibrated cosines.
        text: The user's own words; a candidate that was found for a clause of them is held against its clause.
    """

    def __init__(self, floors: FloorValues, text: str) -> None:
        self._floors = floors
        self._text = text
        self._asks_for_work: dict[str, bool] = {}

    def passes(self, candidate: Candidate) -> bool:
        """Whether this candidate passes; the look at the words is made once for each text."""
        if not mention_passes(candidate.memory.kind, candidate.evidence, self._floors):
            return False
        query = candidate.query or self._text
        if _is_general(candidate) and not shares_more(query, candidate.memory):
            return False
        known = self._asks_for_work.get(query)
        if known is None:
            known = self._asks_for_work[query] = asks_for_work(query)
        return known


def mention_passes(kind: MemoryKind, evidence: Evidence, floors: FloorValues) -> bool:
    """Whether a mention is enough by itself for a request of work or advice.

    It is for conventions, entities and preferences of which some text is near to the query: a cosine at or above its
    own floor. What has no vector, or is far from the query in all its texts, needs more than a mention. A question for
    a fact ("what did Woodpecker cost?") needs more, too: it wants an answer, not whatever is known of the subject. So
    does a mention of a mere language or the like; see `shares_more`, which `MentionRule` asks besides.
    """
    if kind not in SUFFICIENT_KINDS or evidence.mention is None:
        return False
    if evidence.mention < MENTION_MIN and evidence.mention != MENTION_GENERAL:
        return False
    return passes_floor(evidence, floors) is FloorResult.PASSED


def shares_more(query: str, memory: Memory) -> bool:
    """Whether a query has a content word of a memory besides the names of what the memory is about.

    "How do I reverse a list in Python?" shares with "Python projects use uv" that name alone, and is not about it.
    Headings that a rule added do not count: they are about the name.
    """
    written = (
        cue for place, cue in enumerate(memory.cues) if origin_at(memory.cue_origins, place) is not TextOrigin.RULE
    )
    named = {key for subject in subjects_of(memory) for key in subject.keys}
    own = set(map(inflection_key, index_terms(" ".join((memory.text, *written)))))
    return not own.isdisjoint(set(map(inflection_key, query_terms(query))) - named)


def _is_general(candidate: Candidate) -> bool:
    mentioned = candidate.evidence.mention
    return mentioned is not None and mentioned < MENTION_MIN
