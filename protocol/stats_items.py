"""Parts of a `stats_report`: what the ledger counted over a window of days."""

from __future__ import annotations

import msgspec


class Share(msgspec.Struct, frozen=True, kw_only=True):
    """A proportion with its 95 % Wilson interval."""

    k: int
    """How many."""
    n: int
    """Of how many."""
    rate: float
    """`k / n`; 0 when `n` is 0."""
    low: float
    """Lower end of the interval."""
    high: float
    """Upper end; 1 when `n` is 0."""


class DecisionCount(msgspec.Struct, frozen=True, kw_only=True):
    """How often an operation was decided so."""

    op: str
    """`recall`, `observe`, `remember`, `confirm`, `decide`, …; see the vocabulary."""
    decision: str
    reason: str
    share: Share
    """Of all decisions of the operation."""


class ModeCount(msgspec.Struct, frozen=True, kw_only=True):
    """How often a recall ran so far down the ladder of degradation."""

    mode: str
    degraded_reason: str
    """Empty: nothing was degraded."""
    share: Share
    """Of all recalls."""


class CandidateCount(msgspec.Struct, frozen=True, kw_only=True):
    """How many candidates of recalls ended so."""

    stage: str
    """`injected`, or the step that dropped them: `search`, `exclusions`, `floor`, `budget`, `relevance` or `pack`."""
    reason: str
    """Why they were dropped; empty for those that were injected."""
    share: Share
    """Of all candidates."""


class FactCount(msgspec.Struct, frozen=True, kw_only=True):
    """How many facts of turns ended so."""

    found_by: str
    """`rule`, `judge`, `model` or `explicit`; empty: nothing was found."""
    outcome: str
    """`created`, `duplicate`, `observed`, `proposed`, `dropped`, …"""
    reason: str
    share: Share
    """Of all facts of turns."""


class Reconciliation(msgspec.Struct, frozen=True, kw_only=True):
    """A total beside the sum of its parts, counted apart from each other."""

    name: str
    total: int
    parts: dict[str, int]
    holds: bool
    """Whether the parts add up to the total. They do not where a ledger row was lost or erased."""


class TimeBucket(msgspec.Struct, frozen=True, kw_only=True):
    """How many times lie in one bucket of a histogram."""

    up_to_ms: float
    """Upper edge: 0.01 ms times a power of the fourth root of 2."""
    count: int


class GateTime(msgspec.Struct, frozen=True, kw_only=True):
    """Milliseconds that one step took, over the decisions in which it ran."""

    gate: str
    """`turn`, `embed`, `search`, `relevance`, `recall` (all of it), `read`, `judge`, `policy`, `write` (these three) or
    `decide`."""
    n: int
    """In how many decisions it ran."""
    total_ms: float
    p50_ms: float
    """From a histogram: at most a fifth above the true value. So are the other percentiles."""
    p95_ms: float
    p99_ms: float
    buckets: tuple[TimeBucket, ...] = ()
    """Those that hold something, lowest first."""


class CompoundStep(msgspec.Struct, frozen=True, kw_only=True):
    """One gate of the chain, judged on what reached it."""

    gate: str
    """`turn`, `search`, `exclusions`, `floor`, `budget`, `relevance` or `pack`."""
    passed: Share
    """`turn`: of recalls; the others: of the candidates that reached the gate."""


class CompoundReport(msgspec.Struct, frozen=True, kw_only=True):
    """All gates of a recall together."""

    steps: tuple[CompoundStep, ...]
    candidates: Share
    """Candidates that were injected, of those that the search nominated: the joint pass share."""
    recalls: Share
    """Recalls that injected something, of all recalls."""


class GateCost(msgspec.Struct, frozen=True, kw_only=True):
    """What one gate spent, against the work that it avoided."""

    gate: str
    """`turn`, `relevance` or `write`."""
    decisions: int
    """In how many decisions it ran."""
    spent_ms: float
    p50_ms: float
    p95_ms: float
    spent_tokens: int
    """Tokens that a language model read and wrote for it, estimated at four characters each."""
    avoided: int
    """`turn`: searches; `relevance`: memories that would have been injected without it; `write`: facts that did not
    become records."""
    avoided_ms: float | None = None
    """`turn`: those searches, each at the mean time of one that ran. Null: nothing to estimate it from."""
    avoided_tokens: int | None = None
    """`relevance`: of the memories not injected, estimated at four characters each. Null: not counted for this gate."""


class LedgerReport(msgspec.Struct, frozen=True, kw_only=True):
    """What the ledger counted over a window, in whole hours."""

    since_ms: int
    """Unix epoch milliseconds; where the first hour that counts begins."""
    until_ms: int
    decisions: tuple[DecisionCount, ...] = ()
    modes: tuple[ModeCount, ...] = ()
    candidates: tuple[CandidateCount, ...] = ()
    facts: tuple[FactCount, ...] = ()
    reconciliations: tuple[Reconciliation, ...] = ()
    times: tuple[GateTime, ...] = ()
    compound: CompoundReport | None = None
    """Null: there was no recall."""
    costs: tuple[GateCost, ...] = ()
    pairs_scored: int = 0
    unreadable: int = 0
    """Ledger rows whose body could not be read, so that only their decision is counted."""
