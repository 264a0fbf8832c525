"""What a standing block leaves behind: one ledger row and one event. Neither holds memory text."""

from __future__ import annotations

from typing import Final

import msgspec

from recalld.models.domain.events import Event, EventName
from recalld.models.domain.outcomes import OutcomeTally
from recalld.models.domain.reasons import Op
from recalld.models.domain.standing import StandingBlock, StandingReason, StandingRequest, StandingRow
from recalld.models.domain.store import DecisionRow
from recalld.models.policy.standing.word import word_of

INJECT: Final = "inject"
SILENT: Final = "silent"
ROWS_MAX: Final = 100
"""Rows of a ranking that the ledger keeps; a block shows a few dozen."""


class LedgerStanding(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One candidate in the ledger."""

    memory_id: str
    verdict: str = ""
    usefulness: float
    value: float
    words: int
    choice: str = ""
    word: str = ""
    outcomes: OutcomeTally = OutcomeTally()


class StandingBody(msgspec.Struct, frozen=True, kw_only=True):
    """The body of a block's ledger row: what was shown, and how the first of the others were judged."""

    scope: str
    items: tuple[LedgerStanding, ...]
    others: tuple[LedgerStanding, ...]
    pointers: tuple[str, ...]
    left_out: int
    chars: int
    chars_max: int
    tokens: int


def standing_row(request: StandingRequest, block: StandingBlock, *, at_ms: int) -> DecisionRow:
    """The ledger row of a block; outcomes are reported by its id."""
    shown = {memory.id for memory in block.memories}
    rows = [_ledger_row(row) for row in block.rows]
    body = StandingBody(
        scope=request.scope,
        items=tuple(row for row in rows if row.memory_id in shown),
        others=tuple(row for row in rows if row.memory_id not in shown)[:ROWS_MAX],
        pointers=tuple(pointer.memory_id for pointer in block.pointers),
        left_out=block.left_out,
        chars=block.chars,
        chars_max=block.chars_max,
        tokens=block.tokens,
    )
    return DecisionRow(
        id=block.decision_id,
        user=request.user,
        session=request.session,
        op=Op.STANDING,
        at_ms=at_ms,
        decision=INJECT if block.reason is StandingReason.GIVEN else SILENT,
        reason=block.reason,
        body=msgspec.json.encode(body),
    )


def standing_event(request: StandingRequest, block: StandingBlock, *, at_ms: int) -> Event:
    """The event of a block, `memory_standing_final`."""
    return Event(
        name=EventName.MEMORY_STANDING_FINAL,
        at_ms=at_ms,
        user=request.user,
        fields={
            "decision_id": block.decision_id,
            "session": request.session,
            "reason": block.reason,
            "shown_count": len(block.memories),
            "pointer_count": len(block.pointers),
            "left_out": block.left_out,
            "chars": block.chars,
            "chars_max": block.chars_max,
            "tokens": block.tokens,
        },
    )


def _ledger_row(row: StandingRow) -> LedgerStanding:
    candidate = row.candidate
    return LedgerStanding(
        memory_id=candidate.memory.id,
        verdict=row.verdict,
        usefulness=round(row.usefulness, 4),
        value=round(row.value, 4),
        words=row.words,
        choice=candidate.choice or "",
        word=word_of(candidate),
        outcomes=candidate.tally,
    )
