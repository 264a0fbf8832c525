"""What one arm made of one labelled row."""

from __future__ import annotations

import msgspec

from recalld.models.domain.recall import Candidate
from recalld.models.domain.records import MemoryKind


class Question(msgspec.Struct, frozen=True, kw_only=True):
    """A row as every arm sees it: the words and what the product's own search found, and no label.

    Attributes:
        query: The user's words as they are searched for.
        above_floor: Candidates at or above the similarity floor, best first by fusion.
        nominated: These and those below the floor, best first by fusion.
        floor_items: Ids of what the product would hand over without a gate.
    """

    query: str
    above_floor: tuple[Candidate, ...]
    nominated: tuple[Candidate, ...]
    floor_items: tuple[str, ...]


class Judged(msgspec.Struct, frozen=True, kw_only=True):
    """One candidate of an arm.

    Attributes:
        memory_id: Its id.
        kind: Of the memory.
        score: What the arm held against its threshold, larger is better; None where it has none.
        is_injected: Whether it is handed over.
    """

    memory_id: str
    kind: MemoryKind
    score: float | None
    is_injected: bool


class Label(msgspec.Struct, frozen=True, kw_only=True):
    """What is known of a row.

    Attributes:
        row_id: Its id.
        source: Where it comes from, for reports.
        query_kind: What sort of turn it is, for reports.
        is_answerable: Whether anything stored helps.
        relevant: Ids of the memories that do.
    """

    row_id: str
    source: str
    query_kind: str
    is_answerable: bool
    relevant: frozenset[str]


class RowResult(msgspec.Struct, frozen=True, kw_only=True):
    """What an arm made of a row.

    Attributes:
        label: Of the row.
        judged: The candidates that the arm's own search gave to its gate, and what became of each.
        pairs_scored: Pairs of texts that it would have had a relevance model read.
        elapsed_ms: The whole recall on one core, pairs one after another.
    """

    label: Label
    judged: tuple[Judged, ...]
    pairs_scored: int = 0
    elapsed_ms: float = 0.0

    @property
    def injected(self) -> tuple[Judged, ...]:
        """What is handed over."""
        return tuple(each for each in self.judged if each.is_injected)

    @property
    def relevant_candidates(self) -> tuple[Judged, ...]:
        """The relevant memories among the candidates."""
        return tuple(each for each in self.judged if each.memory_id in self.label.relevant)

    @property
    def is_servable(self) -> bool:
        """Whether the gate had anything relevant to let through."""
        return self.label.is_answerable and bool(self.relevant_candidates)

    @property
    def is_silent(self) -> bool:
        """Whether nothing is handed over."""
        return not self.injected

    @property
    def is_helped(self) -> bool:
        """Whether something relevant is handed over."""
        return any(each.is_injected for each in self.relevant_candidates)
