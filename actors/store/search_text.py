"""What of a memory is looked up by words, and what a query looks up."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from recalld.actors.store.bm25 import QUERY_TERMS_MAX
from recalld.actors.store.stems import stem
from recalld.models.domain.records import Memory
from recalld.models.policy.terms import index_terms


class SearchText(msgspec.Struct, frozen=True, kw_only=True):
    """The stems of one memory.

    Attributes:
        main: Distinct stems of the text, in order of first appearance.
        extras: Distinct stems of cues and asks that the text does not have.
    """

    main: tuple[str, ...]
    extras: tuple[str, ...]

    @property
    def stems(self) -> frozenset[str]:
        """All of them."""
        return frozenset((*self.main, *self.extras))


def search_text(memory: Memory) -> SearchText:
    """The stems under which a memory is found."""
    main = dict.fromkeys(_stems_of(memory.text))
    extras = dict.fromkeys(each for text in (*memory.cues, *memory.asks) for each in _stems_of(text))
    return SearchText(main=tuple(main), extras=tuple(each for each in extras if each not in main))


def query_stems(terms: Sequence[str]) -> tuple[str, ...]:
    """The distinct stems of a query's terms, at most `QUERY_TERMS_MAX`. What cannot be a term is ignored."""
    return tuple(dict.fromkeys(stem(term) for term in terms if _is_term(term)))[:QUERY_TERMS_MAX]


def terms_posted(terms: Sequence[str], stems: frozenset[str]) -> frozenset[str]:
    """Those of a query's terms whose stem is among the stems."""
    return frozenset(term for term in terms if _is_term(term) and stem(term) in stems)


def _is_term(text: str) -> bool:
    """Whether a memory could have it as a term: one unbroken word, without NUL."""
    return "\0" not in text and text.split() == [text]


def _stems_of(text: str) -> Iterable[str]:
    return map(stem, dict.fromkeys(index_terms(text)))
