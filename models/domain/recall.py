"""One recall, as data: the request, the candidates, what the gate saw and what came out."""

from __future__ import annotations

import msgspec

from recalld.models.domain.reasons import DegradedReason, DropReason, RecallDecision, RecallMode, RecallReason
from recalld.models.domain.records import Memory


class RecallQuery(msgspec.Struct, frozen=True, kw_only=True):
    """What a runtime asks at the start of a turn."""

    user: str
    session: str
    text: str
    turn_id: str = ""
    scope: str | None = None
    """None: every scope of the user. Otherwise this scope and the global one."""
    exclude: tuple[str, ...] = ()
    max_items: int | None = None
    max_chars: int | None = None
    is_search: bool = False
    """An explicit search demotes instead of dropping."""
    explain: bool = False
    deadline_s: float
    """Absolute, on the monotonic clock; made from `budget_ms` once, at the gateway."""


class Evidence(msgspec.Struct, frozen=True, kw_only=True):
    """What is known about one candidate. Cosines are in [-1, 1]; logits are raw cross-encoder outputs."""

    cosine: float | None = None
    """Query against the record's text; None when the record has no vector for the running embedder."""
    cue_cosine: float | None = None
    ask_cosine: float | None = None
    lexical: float | None = None
    """bm25 turned round once, so that larger is better and never negative."""
    logit: float | None = None
    """The largest logit over the views that were scored."""


class Candidate(msgspec.Struct, frozen=True, kw_only=True):
    """A memory nominated by at least one leg, with the fused score that orders it."""

    memory: Memory
    evidence: Evidence
    fused: float
    best_cue: str = ""
    """The cue nearest to the query; empty when the record has none."""


class RecalledItem(msgspec.Struct, frozen=True, kw_only=True):
    """A memory handed to the runtime."""

    memory: Memory
    evidence: Evidence
    relevance: float | None
    """In [0, 1]; None when no gate judged the item."""


class DroppedItem(msgspec.Struct, frozen=True, kw_only=True):
    """A candidate that was not handed over, and why."""

    memory_id: str
    reason: DropReason
    evidence: Evidence
    relevance: float | None = None


class Coverage(msgspec.Struct, frozen=True, kw_only=True):
    """What the search could see of this user's memories: `discovered = searched + Σ skipped`, always."""

    discovered: int
    """Live memories of the user."""
    searched: int
    skipped_wrong_scope: int = 0
    pending_embedding: int = 0
    """Of the searched ones: no vector yet, so only their words could nominate them."""
    records_without_asks: int = 0


class RecallTimings(msgspec.Struct, frozen=True, kw_only=True):
    """Where the time went, in milliseconds."""

    total_ms: float = 0.0
    embed_ms: float = 0.0
    search_ms: float = 0.0
    gate_ms: float = 0.0
    queue_ms: float = 0.0
    deadline_left_ms: float = 0.0


class GateReport(msgspec.Struct, frozen=True, kw_only=True):
    """What the gate did, for the ledger and the canonical log line."""

    threshold: float | None = None
    pairs_scored: int = 0
    pairs_cached: int = 0
    filtered_by_floor: int = 0
    dropped_by_gate: int = 0
    dropped_by_budget: int = 0
    calibration_id: str = ""


class RecallOutcome(msgspec.Struct, frozen=True, kw_only=True):
    """The answer to one recall."""

    recall_id: str
    decision: RecallDecision
    mode: RecallMode
    reason: RecallReason
    items: tuple[RecalledItem, ...] = ()
    dropped: tuple[DroppedItem, ...] = ()
    floor_items: tuple[str, ...] = ()
    """Ids that floor-only recall would have injected: what the gate is compared with."""
    degraded_reason: DegradedReason | None = None
    degraded_detail: str = ""
    """For `score_failed` and `embed_failed`: the type of the failure, never its text."""
    coverage: Coverage
    gate: GateReport
    timings: RecallTimings
