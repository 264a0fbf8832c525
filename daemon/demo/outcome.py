"""What the demo says of each turn, and its summary: the documents behind `recalld demo --json`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from recalld.daemon.demo.material import DemoTurn
from recalld.protocol.replies import Recalled


class ItemDocument(msgspec.Struct, frozen=True, kw_only=True):
    """One injected memory."""

    id: str
    text: str
    cosine: float | None
    relevance: float | None


class TurnDocument(msgspec.Struct, frozen=True, kw_only=True):
    """One turn. Ids are the daemon's; times are in milliseconds, as the daemon measured them."""

    turn: int
    query: str
    mode: str
    decision: str
    reason: str
    floor_items: tuple[str, ...]
    items: tuple[ItemDocument, ...]
    relevant: tuple[str, ...]
    gate_ms: float
    total_ms: float

    @property
    def is_silent(self) -> bool:
        """Whether nothing was injected."""
        return not self.items

    @property
    def has_kept(self) -> bool:
        """Whether at least one relevant memory was injected."""
        return any(item.id in self.relevant for item in self.items)


class Summary(msgspec.Struct, frozen=True, kw_only=True):
    """Counts over all turns.

    Attributes:
        turns: All of them.
        nothing_relevant: Turns for which nothing stored is relevant.
        silent_correct: Of these, turns on which nothing was injected.
        relevant_turns: Turns for which something stored is relevant.
        relevant_kept: Of these, turns on which at least one relevant memory was injected.
        degraded_events: `memory_recall_gate_degraded` events received.
    """

    turns: int
    nothing_relevant: int
    silent_correct: int
    relevant_turns: int
    relevant_kept: int
    degraded_events: int


class SummaryDocument(msgspec.Struct, frozen=True, kw_only=True):
    """The last line."""

    summary: Summary


def turn_document(number: int, turn: DemoTurn, recalled: Recalled, ids: Mapping[str, str]) -> TurnDocument:
    """The document of one turn.

    Args:
        number: Position, from 1.
        turn: What was asked.
        recalled: What came back.
        ids: The daemon's id for each of the demo's.
    """
    return TurnDocument(
        turn=number,
        query=turn.query,
        mode=recalled.mode,
        decision=recalled.decision,
        reason=recalled.reason,
        floor_items=recalled.floor_items,
        items=tuple(
            ItemDocument(id=item.id, text=item.text, cosine=item.cosine, relevance=item.relevance)
            for item in recalled.items
        ),
        relevant=tuple(ids[memory_id] for memory_id in turn.relevant),
        gate_ms=round(recalled.timings.gate_ms, 2),
        total_ms=round(recalled.timings.total_ms, 2),
    )


def summarise(documents: Sequence[TurnDocument], *, degraded_events: int) -> Summary:
    """Count."""
    nothing = [document for document in documents if not document.relevant]
    something = [document for document in documents if document.relevant]
    return Summary(
        turns=len(documents),
        nothing_relevant=len(nothing),
        silent_correct=sum(document.is_silent for document in nothing),
        relevant_turns=len(something),
        relevant_kept=sum(document.has_kept for document in something),
        degraded_events=degraded_events,
    )
