"""Decisions that were kept at random for a person to look at, and what the person said of them."""

from __future__ import annotations

import enum

import msgspec

from recalld.models.domain.records import Memory


class SampleKind(enum.StrEnum):
    """What was decided, and by that what a mark says of it."""

    GATE_DROP = "gate_drop"
    """A memory that the relevance gate judged and held back. Yes: it should have been recalled."""
    INJECTION = "injection"
    """A memory that was recalled. Yes: it was relevant."""
    TURN_SKIP = "turn_skip"
    """A turn that the turn gate did not search for. Yes: memory should have been searched."""
    TURN_SEARCH = "turn_search"
    """A turn that was searched for. Yes: it needed memory."""
    WRITE_DROP = "write_drop"
    """A turn of which nothing was kept. Yes: something of it should have been."""
    RECORD = "record"
    """A memory made of a turn. Yes: it is right. All of these are kept, and none with text."""


class SampleAnswer(enum.StrEnum):
    """What a person said of a sample."""

    YES = "yes"
    NO = "no"
    UNSURE = "unsure"


class Sample(msgspec.Struct, frozen=True, kw_only=True):
    """One decision that is kept for an audit.

    Attributes:
        id: Made of user, decision, kind and memory: the same decision is never kept twice.
        kind: What was decided.
        decision_id: Its ledger row.
        memory_id: The memory it is about; empty for turns, and for one that was forgotten.
        text: The user's own words of the turn, without secrets and private spans; empty when none are kept.
        probability: With which it was kept, above 0 and at most 1.
        relevance: As the gate judged it.
        reason: Of the decision.
        at_ms: When it was decided, Unix epoch milliseconds.
        answer: What was said of it; None: nothing yet.
        marked_at_ms: When; 0: not yet.
        marked_by: Who said it.
    """

    id: str
    kind: SampleKind
    decision_id: str
    memory_id: str = ""
    text: str = ""
    probability: float
    relevance: float | None = None
    reason: str = ""
    at_ms: int
    answer: SampleAnswer | None = None
    marked_at_ms: int = 0
    marked_by: str = ""

    @property
    def is_auditable(self) -> bool:
        """Whether there is anything left to judge it by: the turn, or for a record the memory itself."""
        return bool(self.memory_id) if self.kind is SampleKind.RECORD else bool(self.text)


class AppendSamples(msgspec.Struct, frozen=True, kw_only=True):
    """Command: keep samples of one user; those whose decision is not in the ledger (any more) are left out.

    Attributes:
        rows_max: Samples of the user that are kept; the oldest go.
    """

    user: str
    samples: tuple[Sample, ...]
    rows_max: int


class MarkSample(msgspec.Struct, frozen=True, kw_only=True):
    """Command: note what somebody says of a sample. A later mark takes the place of an earlier one.

    Attributes:
        answer: None: take the mark back.
        by: Who says it.
        at_ms: When, Unix epoch milliseconds.
    """

    user: str
    sample_id: str
    answer: SampleAnswer | None
    by: str
    at_ms: int


class SamplePage(msgspec.Struct, frozen=True, kw_only=True):
    """The newest samples that were asked for, newest first, and how many more there are."""

    samples: tuple[Sample, ...] = ()
    left: int = 0


class ShownSamples(msgspec.Struct, frozen=True, kw_only=True):
    """Samples, and the memories they are about as far as those are there, by id."""

    page: SamplePage
    memories: dict[str, Memory] = {}


class SampleGroup(msgspec.Struct, frozen=True, kw_only=True):
    """Samples of one kind that were kept with the same probability, counted.

    Attributes:
        sampled: How many were kept.
        yes: Marked so; likewise `no` and `unsure`.
        first_at_ms: When the oldest was decided.
    """

    kind: SampleKind
    probability: float
    sampled: int
    yes: int = 0
    no: int = 0
    unsure: int = 0
    first_at_ms: int = 0

    @property
    def audited(self) -> int:
        """Those of which somebody knew the answer."""
        return self.yes + self.no


class Estimate(msgspec.Struct, frozen=True, kw_only=True):
    """A rate and its 95 % interval.

    Attributes:
        rate: The estimate.
        low: Lower end.
        high: Upper end.
        audited: Marks it rests on.
    """

    rate: float
    low: float
    high: float
    audited: int


class AuditReport(msgspec.Struct, frozen=True, kw_only=True):
    """What audits say of the gates. An estimate is None where nothing was audited that it needs.

    Attributes:
        recall_misses: Relevant memories held back by the relevance gate, of all relevant ones that it judged.
        turn_misses: Turns that needed memory and were not searched for, of all that needed it.
        wrong_injections: Memories recalled that were not relevant, of all recalled.
        write_misses: Turns of which something should have been kept, of those of which nothing was.
        wrong_records_per_1000: Wrong memories made of 1,000 turns of the user.
        groups: The counts behind them.
    """

    recall_misses: Estimate | None = None
    turn_misses: Estimate | None = None
    wrong_injections: Estimate | None = None
    write_misses: Estimate | None = None
    wrong_records_per_1000: Estimate | None = None
    groups: tuple[SampleGroup, ...] = ()
