"""What a forgetting reaches beside the memory itself, the same in every store."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from recalld.actors.store.admission_rows import NotedFact, ObservationRow, ProposalRow
from recalld.models.domain.admission_store import SlotValue
from recalld.models.domain.records import Memory
from recalld.models.policy.duplicates import fold
from recalld.models.policy.slot_values import stated_slots, value_key, value_words
from recalld.models.policy.terms import index_terms


class Sought(msgspec.Struct, frozen=True, kw_only=True):
    """Words by which a person has things forgotten: what holds all of them goes, whether or not it became a memory.

    Attributes:
        words: As index terms; none: nothing is sought.
    """

    words: frozenset[str]

    def is_in(self, *texts: str) -> bool:
        """Whether one of some texts holds every word."""
        return bool(self.words) and any(self.words <= set(index_terms(text)) for text in texts if text)

    def is_in_observation(self, row: ObservationRow, quotes: Iterable[str]) -> bool:
        """Whether an observation, or a turn behind it, holds the words."""
        return self.is_in(*_texts_of(row.fact), *quotes)

    def is_in_proposal(self, row: ProposalRow, quotes: Iterable[str]) -> bool:
        """Whether a proposal, what was accepted of it, or a turn behind it holds the words."""
        return self.is_in(*_texts_of(row.fact), row.accepted_text, *quotes)


class Reach(msgspec.Struct, frozen=True, kw_only=True):
    """A memory that is forgotten, as it is looked for in everything else.

    Attributes:
        memory_id: Its id.
        text: Its words, folded.
        values: Slot, subject and value of what it states, in one spelling.
        quotes: The user's words behind it and its own, word by word.
    """

    memory_id: str
    text: str
    values: frozenset[tuple[str, str, str]]
    quotes: frozenset[str]

    def holds_observation(self, row: ObservationRow) -> bool:
        """Whether an observation led to the memory, or would bring it back."""
        return row.promoted_to == self.memory_id or self._says(row.fact)

    def holds_proposal(self, row: ProposalRow) -> bool:
        """Whether a proposal led to the memory, or would bring it back."""
        return row.memory_id == self.memory_id or self._says(row.fact)

    def holds_quote(self, quote: str) -> bool:
        """Whether words quoted for something else repeat the memory's, or are a part of them."""
        quoted = _spaced(quote)
        return bool(quoted) and any(quoted in words or words in quoted for words in self.quotes)

    def _says(self, fact: NotedFact) -> bool:
        return fold(fact.memory.text) == self.text or bool(self.values & _values(_slots(fact)))


def reach_of(memory: Memory, slots: Sequence[SlotValue], quotes: Iterable[str]) -> Reach:
    """What a forgetting of a memory looks for.

    Args:
        memory: As it is before its words go.
        slots: What was noted of its slots; what its words say is looked at as well.
        quotes: Of its evidence.
    """
    text = fold(memory.text)
    return Reach(
        memory_id=memory.id,
        text=text,
        values=_values((*slots, *stated_slots(memory.text, memory.kind))),
        quotes=frozenset(words for words in map(_spaced, (memory.text, *quotes)) if words),
    )


def _texts_of(fact: NotedFact) -> tuple[str, ...]:
    memory = fact.memory
    value = () if fact.value is None else (fact.value.value, fact.value.subject)
    return (memory.text, *memory.cues, *memory.asks, *value)


def _spaced(text: str) -> str:
    """Words between spaces, so that one text is looked for in another word by word; empty for no words."""
    words = value_words(text)
    return f" {' '.join(words)} " if words else ""


def _slots(fact: NotedFact) -> tuple[SlotValue, ...]:
    return () if fact.value is None else (fact.value,)


def _values(slots: Iterable[SlotValue]) -> frozenset[tuple[str, str, str]]:
    return frozenset((each.slot, each.subject, value_key(each.value)) for each in slots if each.value)
