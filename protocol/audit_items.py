"""Samples for an audit, and what marks on them say of the gates."""

from __future__ import annotations

import msgspec


class SampleItem(msgspec.Struct, frozen=True, kw_only=True):
    """One decision that was kept for a person to judge."""

    id: str
    kind: str
    """What was decided, and so what is asked; see the vocabulary."""
    decision_id: str
    """For `explain`."""
    memory_id: str = ""
    """The memory it is about; empty for turns."""
    memory_text: str = ""
    """As it is now; empty for turns, and for a memory that is not there any more."""
    text: str = ""
    """The user's own words of the turn, without secrets and private spans."""
    probability: float
    """With which it was kept."""
    relevance: float | None = None
    """As the gate judged it."""
    reason: str = ""
    at_ms: int
    """When it was decided, Unix epoch milliseconds."""
    answer: str | None = None
    """`yes`, `no` or `unsure`; null: not marked."""
    marked_at_ms: int | None = None
    marked_by: str = ""


class EstimateItem(msgspec.Struct, frozen=True, kw_only=True):
    """A rate with its 95 % interval."""

    rate: float
    low: float
    high: float
    audited: int
    """Marks that it rests on."""


class SampleCount(msgspec.Struct, frozen=True, kw_only=True):
    """Samples of one kind that were kept with the same probability."""

    kind: str
    probability: float
    sampled: int
    yes: int = 0
    """Marked so; likewise `no` and `unsure`."""
    no: int = 0
    unsure: int = 0


class AuditSection(msgspec.Struct, frozen=True, kw_only=True):
    """What audits say of the gates. A rate is null where nothing was audited that it needs."""

    recall_misses: EstimateItem | None = None
    """Relevant memories that the relevance gate held back, of all relevant ones that it judged."""
    turn_misses: EstimateItem | None = None
    """Turns that needed memory and were not searched for, of all that needed it."""
    wrong_injections: EstimateItem | None = None
    """Memories recalled that were not relevant, of all recalled."""
    write_misses: EstimateItem | None = None
    """Turns of which something should have been kept, of those of which nothing was."""
    wrong_records_per_1000: EstimateItem | None = None
    """Wrong memories made of 1,000 turns of the user."""
    counts: tuple[SampleCount, ...] = ()
