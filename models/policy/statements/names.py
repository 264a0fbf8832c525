"""The gazetteer's names in a turn, marked so that a pattern can ask for one of a certain category.

Each character of a name is replaced by one that stands for its category, so that positions stay and one marked text
serves every rule. Cost: one pass of the gazetteer, linear in the turn.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import cache

import msgspec

from recalld.models.policy.gazetteer import UNINFORMATIVE_CATEGORIES, Sighting, gazetteer
from recalld.models.policy.slots import Slot, slots

_FIRST_MARK = 0xE100
"""Private characters stand for categories, in the order of the categories' names."""
_PRIVATE = re.compile("[\ue000-\uf8ff]")


class MarkedTurn(msgspec.Struct, frozen=True, kw_only=True):
    """A turn's masked text with names marked, and the names by where they start."""

    text: str
    names: Mapping[int, Sighting]


@cache
def category_marks() -> Mapping[str, str]:
    """The character that stands for each category that tells something."""
    told = sorted({entry.category for entry in gazetteer().entries} - UNINFORMATIVE_CATEGORIES)
    return {category: chr(_FIRST_MARK + number) for number, category in enumerate(told)}


def marks_of(categories: Iterable[str]) -> str:
    """A character class of the marks of some categories."""
    return "[" + "".join(category_marks()[each] for each in categories if each in category_marks()) + "]"


def mark_names(masked: str) -> MarkedTurn:
    """Mark the names in a turn's masked text; positions stay."""
    text = masked if masked.isascii() else _PRIVATE.sub(" ", masked)
    names = {each.start: each for each in gazetteer().find(text) if each.entry.category in category_marks()}
    pieces: list[str] = []
    position = 0
    for start, name in names.items():
        pieces += (text[position:start], category_marks()[name.entry.category] * (name.end - start))
        position = name.end
    pieces.append(text[position:])
    return MarkedTurn(text="".join(pieces), names=names)


def spelled(name: Sighting) -> str:
    """A name as the user said it; where only its capitals are wrong, with the gazetteer's."""
    is_same = name.surface.casefold() == name.entry.name.casefold()
    return name.entry.name if is_same else name.surface


def slot_by_use(name: Sighting) -> str:
    """The slot that "we use …" fills with this name; empty if the name alone does not say what for."""
    return next((slot.id for slot in _used_slots() if name.entry.category in slot.categories), "")


def slot_by_noun(name: Sighting, noun: str) -> str:
    """The slot that "our … is …" fills with this name; empty if it is not that sort of thing."""
    folded = " ".join(noun.casefold().split())
    return next((slot.id for slot in slots() if name.entry.category in slot.categories and folded in slot.nouns), "")


@cache
def _used_slots() -> tuple[Slot, ...]:
    return tuple(slot for slot in slots() if slot.categories and slot.by_use and (slot.nouns or slot.patterns))
