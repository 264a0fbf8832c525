"""How a recall in shadow mode is told to clients: what was done, and beside it what the gates decided."""

from __future__ import annotations

from recalld.models.domain.reasons import RecallDecision, RecallReason
from recalld.models.domain.recall import RecallOutcome
from recalld.protocol import items


def done_decision(outcome: RecallOutcome) -> RecallDecision:
    """What was done. Silence because something broke stays an error."""
    if outcome.shadow is None or outcome.decision is RecallDecision.ERROR:
        return outcome.decision
    return RecallDecision.INJECT if outcome.shadow.items else RecallDecision.SILENT


def done_reason(outcome: RecallOutcome) -> RecallReason:
    """Why that was done."""
    if outcome.shadow is None or outcome.decision is RecallDecision.ERROR:
        return outcome.reason
    return RecallReason.SHADOW


def shadow_item(outcome: RecallOutcome) -> items.ShadowItem | None:
    """What the gates decided; None where they are obeyed."""
    if outcome.shadow is None:
        return None
    return items.ShadowItem(
        mode=outcome.shadow.mode.value,
        decision=outcome.decision.value,
        reason=outcome.reason.value,
        item_ids=tuple(item.memory.id for item in outcome.items),
    )
