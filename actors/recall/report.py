"""What a recall leaves behind: one ledger row and one canonical event. Neither holds query or memory text."""

from __future__ import annotations

import msgspec

from recalld.models.domain.events import Event, EventName, FieldValue
from recalld.models.domain.reasons import Op
from recalld.models.domain.recall import Evidence, RecallLimit, RecallOutcome, RecallQuery
from recalld.models.domain.store import DecisionRow
from recalld.models.domain.turn_report import TurnReport

SCORES_IN_EVENT_MAX = 8
"""Scores named in the canonical line: as many candidates as the gate judges by default."""


class LedgerItem(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One candidate in the ledger. `reason` is empty for an injected one."""

    memory_id: str
    reason: str = ""
    relevance: float | None = None
    evidence: Evidence
    is_mentioned: bool = False
    brought_by: str = ""


class RecallBody(msgspec.Struct, frozen=True, kw_only=True):
    """The body of a recall's ledger row: enough to say later why it decided as it did."""

    turn_id: str
    query_chars: int
    is_search: bool
    items: tuple[LedgerItem, ...]
    dropped: tuple[LedgerItem, ...]
    floor_items: tuple[str, ...]
    threshold: float | None
    calibration_id: str
    degraded_detail: str
    discovered: int
    searched: int
    pairs_scored: int
    pairs_cached: int
    total_ms: float
    gate_ms: float
    turn_ms: float = 0.0
    embed_ms: float = 0.0
    search_ms: float = 0.0
    kept_back: int = 0
    """Of `floor_items`, those that were not injected."""
    kept_back_chars: int = 0
    turn: TurnReport | None = None
    """What the turn gate saw: rules, families and counts."""
    skipped_wrong_scope: int = 0
    skipped_out_of_interval: int = 0
    skipped_unreadable: int = 0
    pending_embedding: int = 0
    limited_by: tuple[RecallLimit, ...] = ()
    index_seq: int = 0
    store_seq: int = 0
    shadow_mode: str = ""
    """In shadow mode, which: then `items` is what the gates would have injected."""
    served: tuple[str, ...] = ()
    """Ids of what was injected in shadow mode instead."""


def ledger_row(query: RecallQuery, outcome: RecallOutcome, *, at_ms: int) -> DecisionRow:
    """The ledger row of a recall; its id is the recall's own."""
    body = RecallBody(
        turn_id=query.turn_id,
        query_chars=len(query.text),
        is_search=query.is_search,
        items=tuple(
            LedgerItem(
                memory_id=item.memory.id,
                relevance=item.relevance,
                evidence=item.evidence,
                is_mentioned=item.is_mentioned,
                brought_by=item.brought_by,
            )
            for item in outcome.items
        ),
        dropped=tuple(
            LedgerItem(memory_id=item.memory_id, reason=item.reason, relevance=item.relevance, evidence=item.evidence)
            for item in outcome.dropped
        ),
        floor_items=outcome.floor_items,
        threshold=outcome.gate.threshold,
        calibration_id=outcome.gate.calibration_id,
        degraded_detail=outcome.degraded_detail,
        discovered=outcome.coverage.discovered,
        searched=outcome.coverage.searched,
        pairs_scored=outcome.gate.pairs_scored,
        pairs_cached=outcome.gate.pairs_cached,
        total_ms=round(outcome.timings.total_ms, 3),
        gate_ms=round(outcome.timings.gate_ms, 3),
        turn_ms=round(outcome.timings.turn_ms, 3),
        embed_ms=round(outcome.timings.embed_ms, 3),
        search_ms=round(outcome.timings.search_ms, 3),
        kept_back=outcome.gate.kept_back,
        kept_back_chars=outcome.gate.kept_back_chars,
        turn=outcome.turn,
        skipped_wrong_scope=outcome.coverage.skipped_wrong_scope,
        skipped_out_of_interval=outcome.coverage.skipped_out_of_interval,
        skipped_unreadable=outcome.coverage.skipped_unreadable,
        pending_embedding=outcome.coverage.pending_embedding,
        limited_by=outcome.coverage.limited_by,
        index_seq=outcome.coverage.index_seq,
        store_seq=outcome.coverage.store_seq,
        shadow_mode="" if outcome.shadow is None else outcome.shadow.mode,
        served=() if outcome.shadow is None else tuple(item.memory.id for item in outcome.shadow.items),
    )
    return DecisionRow(
        id=outcome.recall_id,
        user=query.user,
        session=query.session,
        op=Op.RECALL,
        at_ms=at_ms,
        decision=outcome.decision,
        reason=outcome.reason,
        mode=outcome.mode,
        degraded_reason=outcome.degraded_reason or "",
        body=msgspec.json.encode(body),
    )


def final_event(query: RecallQuery, outcome: RecallOutcome, *, floors: str, at_ms: int) -> Event:
    """The canonical line of a recall, `memory_retrieval_final`."""
    scores = [
        f"{memory_id}={relevance:.4f}"
        for memory_id, relevance in (
            *((item.memory.id, item.relevance) for item in outcome.items),
            *((item.memory_id, item.relevance) for item in outcome.dropped),
        )
        if relevance is not None
    ]
    fields: dict[str, FieldValue] = {
        "recall_id": outcome.recall_id,
        "session": query.session,
        "mode": outcome.mode,
        "decision": outcome.decision,
        "reason": outcome.reason,
        "injected_count": len(outcome.items),
        "shadow_mode": "" if outcome.shadow is None else outcome.shadow.mode,
        "served_count": len(outcome.served),
        "filtered_by_floor": outcome.gate.filtered_by_floor,
        "applied_floor": floors,
        "dropped_by_gate": outcome.gate.dropped_by_gate,
        "gate_scores": " ".join(scores[:SCORES_IN_EVENT_MAX]),
        "gate_elapsed_ms": round(outcome.timings.gate_ms, 2),
        "queue_ms": round(outcome.timings.queue_ms, 2),
        "pairs_scored": outcome.gate.pairs_scored,
        "pairs_cached": outcome.gate.pairs_cached,
        "dropped_by_budget": outcome.gate.dropped_by_budget,
        "deadline_left_ms": round(outcome.timings.deadline_left_ms, 2),
        "total_ms": round(outcome.timings.total_ms, 2),
        "turn_rule": "" if outcome.turn is None else outcome.turn.decided_by,
        "turn_ms": round(outcome.timings.turn_ms, 2),
        "degraded_reason": outcome.degraded_reason or "",
    }
    return Event(name=EventName.MEMORY_RETRIEVAL_FINAL, at_ms=at_ms, user=query.user, fields=fields)
