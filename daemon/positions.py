"""Whether the configured position of the write path is earned, judged by what the store says of itself."""

from __future__ import annotations

from recalld.daemon.config import Settings
from recalld.models.domain.errors import ErrorCode, RecalldError
from recalld.models.domain.position import Position
from recalld.models.domain.store import StoreHealth
from recalld.models.policy.position import MissingSafeguard, Safeguards, missing_safeguards, why_not_open


def lacking(settings: Settings, health: StoreHealth, *, now_ms: int) -> tuple[MissingSafeguard, ...]:
    """What the configured position lacks; nothing for the strict one.

    Args:
        settings: The settings in force.
        health: What the store says of itself.
        now_ms: Present time, Unix epoch milliseconds.
    """
    admission = settings.admission
    have = Safeguards(
        is_visible=health.is_readable and not health.damaged,
        can_forget=health.is_writable,
        audited_at_ms=health.audited_at_ms,
        # Slots are what tells that two statements contradict each other, and it is the rules that read them.
        detects_conflicts=admission.enabled and admission.rules,
    )
    return missing_safeguards(admission.position, have, now_ms=now_ms)


def require_earned(settings: Settings, health: StoreHealth, *, now_ms: int) -> None:
    """Refuse to start in the open position unless it is earned.

    Raises:
        RecalldError: `BAD_REQUEST`; the message says what is missing and what to do.
    """
    if settings.admission.position is not Position.OPEN:
        return
    missing = lacking(settings, health, now_ms=now_ms)
    if missing:
        raise RecalldError(ErrorCode.BAD_REQUEST, why_not_open(missing))
