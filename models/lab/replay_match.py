"""Whether what a gate wrote is a labelled fact. Strict: the same turn, and the same words or the words that bear it.

Where a fact has a quote, the words decide that the record was made of: they overlap the quote by more than half of the
shorter of the two. Where it has none, the words decide that bear the statements (numbers, dates, names and content; no
stop words and no verbs that go with "I"): of those of the fact at least half are in the record, for the fact to be
found. A record that says a part of a fact is no mistake, although it finds nothing: of its own words at least half are
in the fact. Either way both have a number in common where both name some, and neither denies what the other says.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Final

from recalld.models.calibration.admission_turns import states_any
from recalld.models.domain.facts import Span
from recalld.models.lab.replay_labels import LabelledTurn, StatedFact, WrittenRecord
from recalld.models.policy.duplicates import fold
from recalld.models.policy.load_bearing import LoadBearing, load_bearing

SHARE_MIN: Final = 0.5
"""Of the words that bear a statement, the share that another one must hold to say it."""
_SPACES: Final = re.compile(r"\s+")


def places_of(quote: str, own: str) -> tuple[Span, ...]:
    """Where a quote stands in the user's own words, however its spaces and case are; empty where it does not.

    Args:
        quote: As labelled.
        own: The words.
    """
    words = [re.escape(word) for word in _SPACES.split(quote.strip()) if word]
    if not words:
        return ()
    found = re.finditer(r"\s+".join(words), own, re.IGNORECASE)
    return tuple(Span(start=each.start(), end=each.end()) for each in found)


def is_right(record: WrittenRecord, turn: LabelledTurn) -> bool:
    """Whether a record of this turn states something that is worth storing, or a part of it."""
    facts = (*turn.facts, *turn.also_right)
    return any(_is_of(record, fact, turn, _says_any) for fact in facts)


def matched(record: WrittenRecord, turn: LabelledTurn) -> frozenset[int]:
    """Which of the facts of a turn a record of it states, by their places."""
    return frozenset(place for place, fact in enumerate(turn.facts) if _is_of(record, fact, turn, _says))


def bears(own: str, statement: str) -> bool:
    """Whether the words of a turn hold at least one of the words that bear a statement."""
    return bool(_bearing(load_bearing(statement)) & _held(load_bearing(own)))


def _is_of(record: WrittenRecord, fact: StatedFact, turn: LabelledTurn, says: Callable[[str, str], bool]) -> bool:
    if fold(record.statement) == fold(fact.statement):
        return True
    # A command to remember names its fact in words of its own, which may stand nowhere in the turn.
    if not fact.places or not places_of(record.quote, turn.own):
        return says(record.statement, fact.statement)
    return _overlaps(record, turn, fact.places)


def _overlaps(record: WrittenRecord, turn: LabelledTurn, places: Sequence[Span]) -> bool:
    return any(states_any(span, places) for span in places_of(record.quote, turn.own))


def _says_any(statement: str, fact: str) -> bool:
    """Whether a statement says a fact or a part of it."""
    return _says(statement, fact) or _says(fact, statement)


def _says(statement: str, fact: str) -> bool:
    """Whether a statement says a fact."""
    made, wanted = load_bearing(statement), load_bearing(fact)
    bearing = _bearing(wanted)
    if not bearing or _is_turned(made, wanted):
        return False
    if made.numbers and wanted.numbers and not made.numbers & wanted.numbers:
        return False
    return len(bearing & _held(made)) >= SHARE_MIN * len(bearing)


def _is_turned(made: LoadBearing, wanted: LoadBearing) -> bool:
    """Whether one of two denies what the other says, or the first one leaves a denial of the other out."""
    is_denied = bool(made.negated & wanted.affirmed) or bool(made.affirmed & wanted.negated)
    return is_denied or (wanted.is_negated and not made.is_negated)


def _bearing(words: LoadBearing) -> frozenset[str]:
    return words.numbers | words.dates | words.names | words.openers | words.content


def _held(words: LoadBearing) -> frozenset[str]:
    return words.words | words.numbers | words.dates
