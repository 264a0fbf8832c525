"""What the supervisor is told."""

from __future__ import annotations

import msgspec

from recalld.models.domain.reasons import DegradedReason, RecallMode


class GateTrouble(msgspec.Struct, frozen=True, kw_only=True):
    """Why a recall could not use its gate, or its vectors.

    Attributes:
        reason: Why.
        detail: A type name, never a text.
        is_scorer_overdue: Whether the scorer was still running a pair that should have ended long before.
    """

    reason: DegradedReason
    detail: str = ""
    is_scorer_overdue: bool = False

    @property
    def cause(self) -> str:
        """The key under which events of this kind are counted and cooled down."""
        return f"{self.reason}:{self.detail}" if self.detail else self.reason.value


class RecallFinished(msgspec.Struct, frozen=True, kw_only=True):
    """One recall ended.

    Attributes:
        gate: Why the gate did not judge; None when it did, or when there was nothing to judge.
        has_gated: Whether the scorer scored at least one pair for it. A remembered score proves nothing about the
            scorer.
        is_vector_used: Whether the embedder answered; None when it was not asked.
        vector: Why there were no vectors.
        was_alone: No other recall was in the gate meanwhile, so a time-out cannot be blamed on a burst.
        is_budget_own: The caller allowed no more time than the gate alone may take, so a time-out is its own choice.
    """

    mode: RecallMode
    gate: GateTrouble | None
    has_gated: bool
    vector: GateTrouble | None
    is_vector_used: bool | None
    was_alone: bool
    is_budget_own: bool = False
    gate_ms: float
    total_ms: float


class Flush(msgspec.Struct, frozen=True, kw_only=True):
    """Let events out whose cooldown has passed with something held back."""


class ActorFailed(msgspec.Struct, frozen=True, kw_only=True):
    """An actor was restarted, or a temporary one is gone."""

    actor: str
    error_type: str


SupervisorMessage = RecallFinished | Flush | ActorFailed
