"""The registry of event names, and the shape of an event."""

from __future__ import annotations

import enum

import msgspec

FieldValue = str | int | float | bool | None
"""What an event field may hold. Never query or memory text."""


class EventName(enum.StrEnum):
    """Every event the daemon emits; also the names of its log lines."""

    MEMORY_RETRIEVAL_FINAL = "memory_retrieval_final"
    """Once per recall; the canonical line."""
    MEMORY_RECALL_GATE_DEGRADED = "memory_recall_gate_degraded"
    MEMORY_RECALL_GATE_RECOVERED = "memory_recall_gate_recovered"
    MEMORY_RECALL_VECTOR_DEGRADED = "memory_recall_vector_degraded"
    MEMORY_RECALL_VECTOR_RECOVERED = "memory_recall_vector_recovered"
    MEMORY_RECALL_NO_USER_TEXT = "memory_recall_no_user_text"
    """Several recalls of a session in a row had no word of the user: the host sends text in a wrong part."""
    MEMORY_ADMITTED = "memory_admitted"
    """Once per remember or observed turn."""
    MEMORY_CONFIRMED = "memory_confirmed"
    """Once per answered proposal, whatever the answer."""
    MEMORY_FORGOTTEN = "memory_forgotten"
    MEMORY_UPDATED = "memory_updated"
    MEMORY_STANDING_FINAL = "memory_standing_final"
    """Once per request for a standing block."""
    MEMORY_OUTCOME_RECORDED = "memory_outcome_recorded"
    """Once per new outcome that a runtime reported."""
    DECIDE_GATE_FAILING = "decide_gate_failing"
    """A gate of `decide` failed several times in a row for a user; says what that means and what to look at."""
    GATE_DRIFT_ALARM = "gate_drift_alarm"
    """A gate decides otherwise than before, or always the same: names the gate, the figures and the remedy."""
    MODEL_READY = "model_ready"
    MODEL_UNAVAILABLE = "model_unavailable"
    ACTOR_RESTARTED = "actor_restarted"
    LEDGER_ROWS_DROPPED = "ledger_rows_dropped"
    STORE_WRITE_FAILED = "store_write_failed"
    """Once when writing begins to fail, or fails otherwise than before; the requests themselves are all answered."""
    STORE_WRITE_RECOVERED = "store_write_recovered"
    DAEMON_READY = "daemon_ready"
    DAEMON_STOPPING = "daemon_stopping"


class Event(msgspec.Struct, frozen=True, kw_only=True):
    """Something that happened. `user` is empty for events that concern no one user."""

    name: EventName
    at_ms: int
    user: str = ""
    fields: dict[str, FieldValue] = {}
