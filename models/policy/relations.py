"""Relations, one hop: a record that is handed over brings along the record about what it names.

Guards: that "lendd waits for holdq" does not leave the reader wondering what holdq is, when a record says so.
Cost: for each of the first items one look-up by words, and one pass over the few records that finds.
Fails: towards bringing nothing. Only what an entity or a convention is *about* relates: its head name, a name in its
cues, or the one well-known name it opens with, never a word it merely contains; and only while few records are about
it. Nothing is brought by what was itself brought.

A name inside a longer one is another name: "Apollo 11" is not Apollo the invoice service; see `stands_alone`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import msgspec

from recalld.models.domain.recall import Evidence, RecalledItem
from recalld.models.domain.records import Memory, MemoryKind
from recalld.models.policy.names import stands_alone
from recalld.models.policy.subjects import MENTION_WHOLE, QueryWords, Subject, holders, main_subjects, mention_of

BROUGHT_MAX = 2
"""Records brought along by one recall."""
BRINGING_MAX = 3
"""Items that may bring something along, best first."""
ABOUT_MAX = 3
"""Records that may be about the same before it relates none of them."""
RELATED_KINDS = frozenset({MemoryKind.ENTITY, MemoryKind.CONVENTION})
"""What explains something that another record names."""


class Brought(msgspec.Struct, frozen=True, kw_only=True):
    """A record that is brought along, and the id of the one that brings it."""

    memory: Memory
    by: str


def related(items: Sequence[Memory], others: Mapping[str, Sequence[Memory]]) -> tuple[Brought, ...]:
    """The records that the items bring along, at most `BROUGHT_MAX`, in the order of the items.

    Args:
        items: What is handed over, best first; the first `BRINGING_MAX` are looked at.
        others: For each of these, by id, live records in scope that share words with it and are not excluded.
    """
    about = {memory.id: _about(memory) for found in others.values() for memory in found}
    counts = holders(about)
    present = {memory.id for memory in items}
    brought: list[Brought] = []
    for item in items[:BRINGING_MAX]:
        named = QueryWords(item.text)
        for memory in others.get(item.id, ()):
            if len(brought) == BROUGHT_MAX:
                return tuple(brought)
            telling = (each for each in about[memory.id] if counts[each.keys] <= ABOUT_MAX)
            if memory.id not in present and _names_any(item.text, named, telling):
                present.add(memory.id)
                brought.append(Brought(memory=memory, by=item.id))
    return tuple(brought)


def as_item(brought: Brought) -> RecalledItem:
    """The item to hand over: no gate judged it, and no evidence speaks for it but the record that names it."""
    return RecalledItem(memory=brought.memory, evidence=Evidence(), relevance=None, brought_by=brought.by)


def _about(memory: Memory) -> tuple[Subject, ...]:
    return main_subjects(memory) if memory.kind in RELATED_KINDS else ()


def _names_any(text: str, named: QueryWords, subjects: Iterable[Subject]) -> bool:
    """Whether a text names one of the subjects, written as the record about it writes it."""
    return any(
        mention_of(named, subject) == MENTION_WHOLE and stands_alone(text, subject.words, spelled=subject.spelled)
        for subject in subjects
    )
