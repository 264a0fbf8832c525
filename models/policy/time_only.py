"""Records that answer by their time alone: "what did we decide yesterday?" asks for whatever is of yesterday.

Neither a cosine nor a relevance model has anything to compare such a record with, so both would drop it. The rule:

* the query asks for nothing but a time (see `temporal.query_times`), and
* the record was made or changed inside an interval that is sure (a named day, week, month or date, read in the user's
  own zone).

Then it passes floor and gate unjudged, before what was judged; it carries no relevance. What says what the question's
verb asks for ("decide": decided, decision, beschlossen) comes first, and then the newest. In every
other query a record that was nominated for its time is judged like all others, and its time only moves it up.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache

import msgspec

from recalld.models.domain.recall import Candidate
from recalld.models.policy import word_lists
from recalld.models.policy.caps import capped
from recalld.models.policy.temporal.query_times import QueryTimes
from recalld.models.policy.term_text import fold_word

_LOOKED_AT_CHARS_MAX = 2_000
"""Characters of a memory that are looked at for the question's verb."""


class TimeSplit(msgspec.Struct, frozen=True, kw_only=True):
    """Candidates that pass by their time, best first, and those that are to be judged, order kept."""

    passed: tuple[Candidate, ...]
    others: tuple[Candidate, ...]


def split_by_time(candidates: Sequence[Candidate], times: QueryTimes) -> TimeSplit:
    """Take out what answers by its time alone."""
    if not times.asks_only_for_time:
        return TimeSplit(passed=(), others=tuple(candidates))
    passed: list[Candidate] = []
    others: list[Candidate] = []
    for candidate in candidates:
        memory = candidate.memory
        is_answer = times.answers_alone(memory.created_at_ms, memory.updated_at_ms)
        (passed if is_answer else others).append(candidate)
    asked = times.asking_words
    passed.sort(
        key=lambda each: (says_what_is_asked(each.memory.text, asked), each.memory.updated_at_ms, each.memory.id),
        reverse=True,
    )
    return TimeSplit(passed=tuple(passed), others=tuple(others))


def says_what_is_asked(text: str, asking_words: Iterable[str]) -> bool:
    """Whether a word of the text means what one of the asking words means: "decided" for "decide", in any language.

    Args:
        text: Of a memory.
        asking_words: Folded, as `QueryTimes.asking_words`.
    """
    openings = _openings(asking_words)
    if not openings:
        return False
    seen = capped(text, _LOOKED_AT_CHARS_MAX)
    return any(fold_word(word.lstrip("\"'([")).startswith(openings) for word in seen.split())


def _openings(asking_words: Iterable[str]) -> tuple[str, ...]:
    """How words begin that say the same as one of these, in any of the languages."""
    return tuple(
        dict.fromkeys(
            opening for family in _families() for word in asking_words if word.startswith(family) for opening in family
        )
    )


@cache
def _families() -> tuple[tuple[str, ...], ...]:
    return tuple(tuple(entry.split()) for entry in word_lists.entries("time_asking_families.txt"))
