"""The shape of a pair: which names a query and a record share, and whether the record asks something itself.

Guards: the meaning of a score. A relevance model that is asked about one person is easily content with a record about
another who did the same, and takes a question for its own answer. Neither decides alone, because a name that only the
record has may be the answer; a head fitted on one's own data can weigh them.

Cost: one pass over each text, of bounded length; what was looked at lately is remembered. Fails: it cannot; without
capital letters there are no names, and the shape says nothing.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Final

import msgspec

from recalld.models.domain.recall import Candidate, PairShape
from recalld.models.policy.apostrophes import straight_apostrophes
from recalld.models.policy.caps import capped
from recalld.models.policy.stop_words import stop_words
from recalld.models.policy.term_text import fold_word

CHARS_MAX: Final = 2_000
"""Characters of each text that are looked at: a longer record is judged by one passage of about this size."""
OTHER_NAMES_MAX: Final = 5
"""Where names stop counting: a list of many names is no stronger evidence than one of a few."""
_WORD: Final = re.compile(r"[^\W\d_][\w'-]*")
_OPENING: Final = re.compile(r"(?:^|[.!?:]\s+|\n)[\"'(\[]*([^\W\d_][\w'-]*)")
_REMEMBERED_MAX: Final = 4_096


class _Words(msgspec.Struct, frozen=True, kw_only=True):
    """The words of a text, folded."""

    every: frozenset[str]
    names: frozenset[str]
    """Those with a capital inside of a sentence, without the words of grammar and single letters."""


def pair_shape(query: str, record: str) -> PairShape:
    """Look at a query and a record beside each other.

    Args:
        query: The message, or one clause of it.
        record: As it is stored.
    """
    asked, stored = _words_of(query), _words_of(record)
    return PairShape(
        other_names=min(len(stored.names - asked.every), OTHER_NAMES_MAX),
        names_held=0 if not asked.names else 1 if asked.names <= stored.every else -1,
        is_record_asking="?" in capped(record, CHARS_MAX),
    )


def with_pair_shapes(candidates: Sequence[Candidate], text: str) -> tuple[Candidate, ...]:
    """The candidates with the shape of each with what it was found for as evidence.

    Args:
        candidates: In any order.
        text: The message, for candidates that no clause of it was found for.
    """
    return tuple(
        msgspec.structs.replace(
            candidate,
            evidence=msgspec.structs.replace(
                candidate.evidence, pair=pair_shape(candidate.query or text, candidate.memory.text)
            ),
        )
        for candidate in candidates
    )


@lru_cache(maxsize=_REMEMBERED_MAX)
def _words_of(text: str) -> _Words:
    seen = straight_apostrophes(capped(text, CHARS_MAX))
    openings = {match.start(1) for match in _OPENING.finditer(seen)}
    found = [(match.start(), match.group()) for match in _WORD.finditer(seen)]
    ignored = stop_words()["en"]
    names = {_folded(word) for start, word in found if word[0].isupper() and start not in openings}
    return _Words(
        every=frozenset(_folded(word) for _, word in found),
        names=frozenset(name for name in names if len(name.partition("'")[0]) > 1 and _bare(name) not in ignored),
    )


def _bare(name: str) -> str:
    """As stop words are listed."""
    return name.replace("'", "")


def _folded(word: str) -> str:
    return fold_word(word).removesuffix("'s")
