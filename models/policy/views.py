"""Views: the texts under which one (query, record) pair is scored; the largest logit counts.

Scoring a pair as given, with its query in the third person and with its record in the first, makes one threshold mean
the same for records of every style; a heading in front of the record is the strongest view of all, because it says what
the record answers.
"""

from __future__ import annotations

import enum
from functools import lru_cache

import msgspec

from recalld.models.policy.apostrophes import straight_apostrophes
from recalld.models.policy.person import to_first_person, to_third_person

REWRITE_CHARS_MAX = 2_000
"""A longer text is scored as given only: its grammar no longer decides what it is about, and rewriting costs time."""


class ViewName(enum.StrEnum):
    """Which text of a pair was changed."""

    CUE = "cue"
    AS_GIVEN = "as_given"
    QUERY_THIRD_PERSON = "query_third_person"
    RECORD_FIRST_PERSON = "record_first_person"


class View(msgspec.Struct, frozen=True, kw_only=True):
    """One pair of texts to score."""

    name: ViewName
    query: str
    text: str


def plain_view(query: str, memory_text: str) -> View:
    """The pair as given, as it is: for a pair that is never scored."""
    return View(name=ViewName.AS_GIVEN, query=query, text=memory_text)


def plan_views(query: str, memory_text: str, cue: str = "") -> tuple[View, ...]:
    """The views of a pair in order of worth, without repetitions; never empty.

    With a cue, "cue: record" comes first and the pair as given second; without one, the pair as given is first. A view
    is only there where its text really differs. Apostrophes are straight in all of them: to the models a curly one is
    another character, and a name typed with one would be another name.

    Args:
        query: As the user wrote it.
        memory_text: As it is stored.
        cue: The record's cue nearest to the query; empty when it has none.
    """
    query, memory_text, cue = map(straight_apostrophes, (query, memory_text, cue))
    wanted = [View(name=ViewName.AS_GIVEN, query=query, text=memory_text)]
    if cue and not memory_text.casefold().startswith(cue.casefold()):
        wanted.insert(0, View(name=ViewName.CUE, query=query, text=f"{cue}: {memory_text}"))
    if len(query) <= REWRITE_CHARS_MAX:
        wanted.append(View(name=ViewName.QUERY_THIRD_PERSON, query=_third_person(query), text=memory_text))
    if len(memory_text) <= REWRITE_CHARS_MAX:
        wanted.append(View(name=ViewName.RECORD_FIRST_PERSON, query=query, text=to_first_person(memory_text)))
    distinct: dict[tuple[str, str], View] = {}
    for view in wanted:
        distinct.setdefault((view.query, view.text), view)
    return tuple(distinct.values())


@lru_cache(maxsize=8)
def _third_person(query: str) -> str:
    """As `to_third_person`: one recall asks for the same query with each of its candidates."""
    return to_third_person(query)


def chosen_views(query: str, memory_text: str, cue: str = "", *, has_asks: bool) -> tuple[View, ...]:
    """The views worth their time: for a record with a cue and asks the cue view alone, otherwise all of them.

    Its cue is what the other views are there to make up for, and they would more than double the pairs. The shipped
    calibration is fitted with the same choice.

    Args:
        query: As for `plan_views`.
        memory_text: As for `plan_views`.
        cue: As for `plan_views`.
        has_asks: Whether the record says which questions it answers.
    """
    views = plan_views(query, memory_text, cue)
    return views[:1] if has_asks and views[0].name is ViewName.CUE else views
