"""Which slots a record's own words state a value of, and how values are compared.

Guards: that "Works at Acme", saved by a command years ago, is found by "I no longer work at Acme".
Cost: a third of a millisecond per record, once, when it is stored or first looked at. Fails: towards no slot, which
closes nothing.
"""

from __future__ import annotations

from functools import cache
from typing import Final

from recalld.models.domain.admission_store import SlotValue
from recalld.models.domain.records import MemoryKind
from recalld.models.policy import word_lists
from recalld.models.policy.apostrophes import straight_apostrophes
from recalld.models.policy.duplicates import fold
from recalld.models.policy.gazetteer import gazetteer
from recalld.models.policy.language import is_english
from recalld.models.policy.slots import TEXT_CHARS_MAX, match_slots
from recalld.models.policy.stated import is_own_statement, stated_names

_ENDS: Final = ".,;:!?()[]\"'"
"""What stands at the ends of a word and is no part of it. A sign inside or in front is: UTC-2 is not UTC+2."""
_LEGAL_FORMS: Final = frozenset(
    {"inc", "corp", "corporation", "ltd", "limited", "llc", "gmbh", "ag", "plc", "sa", "sas", "srl", "bv", "ab", "co"}
)
"""Behind a company's name, which is the same name without."""


def stated_slots(text: str, kind: MemoryKind) -> tuple[SlotValue, ...]:
    """The slots that a record's text states values of; none for notes, long texts and what is not the user's own."""
    if kind is MemoryKind.NOTE or len(text) > TEXT_CHARS_MAX or not (is_english(text) and is_own_statement(text)):
        return ()
    sightings = stated_names(text, gazetteer().find(text))
    return tuple(
        SlotValue(slot=match.slot.id, value=match.value, is_single_valued=is_single_valued(match.slot.id))
        for match in match_slots(text, sightings)
    )


def is_single_valued(slot: str) -> bool:
    """Whether a shipped slot holds one value at a time."""
    return slot in word_lists.words("slot_values/single_valued.txt")


def is_multi_valued(slot: str) -> bool:
    """Whether a slot is known to hold several values at a time, whatever a rule says of it."""
    return slot in word_lists.words("slot_values/multi_valued.txt")


def value_words(value: str) -> tuple[str, ...]:
    """A value or a text as it is compared: folded words, without what stands at their ends."""
    words = (word.strip(_ENDS).removesuffix("'s") for word in fold(straight_apostrophes(value)).split())
    return tuple(word for word in words if word)


def value_key(value: str) -> str:
    """One spelling for each value: that of the gazetteer for a name that it knows, and no legal form of a company."""
    entry = gazetteer().entry_of(value.strip(_ENDS + " "))
    words = value_words(value if entry is None else entry.name)
    return " ".join(words[:-1] if len(words) > 1 and words[-1] in _LEGAL_FORMS else words)


def holds_value(text: str, value: str) -> bool:
    """Whether a text, or a longer value, has a value's words in it one behind the other, or its name otherwise spelled.

    An empty value is held by nothing.
    """
    wanted, words = value_words(value), value_words(text)
    if not wanted:
        return False
    length = len(wanted)
    if any(words[place : place + length] == wanted for place in range(len(words) - length + 1)):
        return True
    entry = gazetteer().entry_of(value.strip(_ENDS + " "))
    return entry is not None and any(sighting.entry == entry for sighting in gazetteer().find(text))


def are_rivals(text: str, other: str) -> bool | None:
    """Whether two texts have different words of a group of which only one can hold; None where neither has any."""
    words, others = frozenset(value_words(text)), frozenset(value_words(other))
    groups = [group for group in _rivals() if words & group or others & group]
    if not groups:
        return None
    return any(words & group and others & group and words & group != others & group for group in groups)


@cache
def _rivals() -> tuple[frozenset[str], ...]:
    return tuple(frozenset(entry.split()) for entry in word_lists.entries("slot_values/rivals.txt"))
