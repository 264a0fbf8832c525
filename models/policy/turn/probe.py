"""The store probe: does this user's store know any word of the message?

Cost for the store: one posting count per term, at most `PROBE_TERMS_MAX`, and no text is read. The gate itself does
not ask the store; its caller does, and hands the result in.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import msgspec

from recalld.models.policy.terms import QUERY_TERMS_MAX, query_terms
from recalld.models.policy.turn.inflections import inflection_key
from recalld.models.policy.turn.words import TurnWords, read_words

PROBE_TERMS_MAX = QUERY_TERMS_MAX
"""As many as a search takes, so that the terms of a message need be cut out only once."""
ENTITIES_MAX = 2_000
"""Entities of a probe that are looked at."""


class TermPostings(msgspec.Struct, frozen=True, kw_only=True):
    """How many of the user's live records have a term."""

    term: str
    postings: int


class ProbeResult(msgspec.Struct, frozen=True, kw_only=True):
    """What the store said.

    Attributes:
        terms: Counts for terms of `probe_terms`; a term left out has no posting.
        entities: Names the store knows for this user (people, projects, hosts …), as written; the gate itself checks
            which of them the message mentions.
    """

    terms: tuple[TermPostings, ...] = ()
    entities: tuple[str, ...] = ()


def probe_terms(text: str) -> tuple[str, ...]:
    """The salient terms of a message: distinct, folded, without stop words, identifiers whole and in parts.

    Args:
        text: The user's own words.
    """
    return tuple(query_terms(text, terms_max=PROBE_TERMS_MAX))


def count_postings(terms: Iterable[str], unit_counts: Mapping[str, int]) -> tuple[TermPostings, ...]:
    """Credit each term with the records that have it as a whole unit or an inflection of it.

    Counts of several inflections are added, so a record that has two of them counts twice; the gate asks only whether
    there is any.

    Args:
        terms: As `probe_terms` gives them.
        unit_counts: Records by unit, units as `index_terms` gives them.
    """
    by_key: dict[str, int] = {}
    for unit, count in unit_counts.items():
        key = inflection_key(unit)
        by_key[key] = by_key.get(key, 0) + count
    return tuple(TermPostings(term=term, postings=by_key.get(inflection_key(term), 0)) for term in terms)


def posted_terms(terms: Iterable[str], probe: ProbeResult) -> tuple[str, ...]:
    """The salient terms with at least one posting; counts for words that the message does not have are ignored."""
    known = {each.term for each in probe.terms if each.postings > 0}
    return tuple(term for term in terms if term in known)


def mentioned_entities(message: TurnWords, probe: ProbeResult) -> tuple[str, ...]:
    """The known names that a message mentions, on whole words: Ann is not in planning.

    A name of stop words alone ("It") proves nothing and is ignored.
    """
    places: dict[str, list[int]] = {}
    for place, word in enumerate(message.words):
        places.setdefault(word, []).append(place)
    found: list[str] = []
    for entity in dict.fromkeys(probe.entities[:ENTITIES_MAX]):
        name = read_words(entity).words
        starts = places.get(name[0], ()) if name else ()
        if any(message.words[start : start + len(name)] == name for start in starts) and probe_terms(entity):
            found.append(entity)
    return tuple(found)
