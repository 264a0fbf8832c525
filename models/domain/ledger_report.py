"""What was decided over a window of days, counted: decisions, candidates, facts, times and costs."""

from __future__ import annotations

import msgspec


class Share(msgspec.Struct, frozen=True, kw_only=True):
    """A proportion with its 95 % Wilson interval: `k` of `n`; of nothing, the rate is 0 and the interval [0, 1]."""

    k: int
    n: int
    rate: float
    low: float
    high: float


class DecisionCount(msgspec.Struct, frozen=True, kw_only=True):
    """How often an operation was decided so; the share is of all decisions of the operation."""

    op: str
    decision: str
    reason: str
    share: Share


class ModeCount(msgspec.Struct, frozen=True, kw_only=True):
    """How often a recall ran so far down the ladder, of all recalls; without a reason nothing was degraded."""

    mode: str
    degraded_reason: str
    share: Share


class CandidateCount(msgspec.Struct, frozen=True, kw_only=True):
    """How many candidates ended so, of all; `reason` is empty for those that were injected."""

    stage: str
    reason: str
    share: Share


class FactCount(msgspec.Struct, frozen=True, kw_only=True):
    """How many facts of turns ended so, of all; `found_by` is empty where nothing was found."""

    found_by: str
    outcome: str
    reason: str
    share: Share


class Reconciliation(msgspec.Struct, frozen=True, kw_only=True):
    """A total beside the sum of its parts, each counted for itself."""

    name: str
    total: int
    parts: dict[str, int]

    @property
    def holds(self) -> bool:
        """Whether the parts add up to the total."""
        return sum(self.parts.values()) == self.total


class TimeBucket(msgspec.Struct, frozen=True, kw_only=True):
    """How many times lie in one bucket of a histogram, which ends at `up_to_ms`."""

    up_to_ms: float
    count: int


class GateTime(msgspec.Struct, frozen=True, kw_only=True):
    """Milliseconds that one step took over the `n` decisions in which it ran; percentiles are from a histogram."""

    gate: str
    n: int
    total_ms: float
    p50_ms: float
    p95_ms: float
    p99_ms: float
    buckets: tuple[TimeBucket, ...] = ()
    """Those that hold something, lowest first."""


class CompoundStep(msgspec.Struct, frozen=True, kw_only=True):
    """What one gate of the chain let through of what reached it."""

    gate: str
    passed: Share


class CompoundReport(msgspec.Struct, frozen=True, kw_only=True):
    """All gates of a recall together.

    Attributes:
        steps: In the order of the chain.
        candidates: Candidates that were injected, of those nominated.
        recalls: Recalls that injected something, of all.
    """

    steps: tuple[CompoundStep, ...]
    candidates: Share
    recalls: Share


class GateCost(msgspec.Struct, frozen=True, kw_only=True):
    """What one gate spent, against the work that it avoided.

    Attributes:
        decisions: In how many decisions it ran.
        spent_tokens: Read and written by a language model for it, estimated from characters.
        avoided: Searches, memories not injected, or facts that became no record.
        avoided_ms: Time that those would have taken; None: nothing to estimate it from.
        avoided_tokens: Of memories not injected, estimated from characters; None: not counted for this gate.
    """

    gate: str
    decisions: int
    spent_ms: float
    p50_ms: float
    p95_ms: float
    spent_tokens: int
    avoided: int
    avoided_ms: float | None = None
    avoided_tokens: int | None = None


class LedgerReport(msgspec.Struct, frozen=True, kw_only=True):
    """What the ledger counted over a window.

    Attributes:
        since_ms: Where the first hour that counts begins, Unix epoch milliseconds.
        until_ms: When it was counted.
        compound: None without a recall.
        unreadable: Ledger rows whose body could not be read, so that only their decision is counted.
    """

    since_ms: int
    until_ms: int
    decisions: tuple[DecisionCount, ...] = ()
    modes: tuple[ModeCount, ...] = ()
    candidates: tuple[CandidateCount, ...] = ()
    facts: tuple[FactCount, ...] = ()
    reconciliations: tuple[Reconciliation, ...] = ()
    times: tuple[GateTime, ...] = ()
    compound: CompoundReport | None = None
    costs: tuple[GateCost, ...] = ()
    pairs_scored: int = 0
    unreadable: int = 0
