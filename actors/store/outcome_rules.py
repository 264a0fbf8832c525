"""What may be reported on a decision, and decided about the standing block: the same in every store."""

from __future__ import annotations

from typing import Final

import msgspec

from recalld.actors.store.rules import EMPTY_BODY
from recalld.models.domain.errors import ErrorCode, RecalldError
from recalld.models.domain.outcomes import OutcomeResult, RecordOutcome
from recalld.models.domain.reasons import Op
from recalld.models.domain.standing import SetStanding
from recalld.models.domain.store import DecisionRow

_SHOWING: Final = frozenset({Op.RECALL, Op.STANDING})
"""Decisions that show memories."""
CHANGED: Final = "requested"
"""Reason of a ledger row when what a person decided about a memory was news."""
UNCHANGED: Final = "unchanged"


class _Shown(msgspec.Struct, frozen=True):
    memory_id: str


class _Body(msgspec.Struct, frozen=True):
    """The part of a body that says what was shown."""

    items: tuple[_Shown, ...] = ()


def check_outcome(command: RecordOutcome, decision: DecisionRow | None, *, is_memory_there: bool) -> None:
    """See to it that a report is about something that was decided, and about a memory that it can be about.

    Args:
        command: The report.
        decision: The row that it names, of whichever user; None when there is none.
        is_memory_there: Whether the user has the memory that it names, not forgotten; not read without one.

    Raises:
        RecalldError: `NOT_FOUND` for a decision or memory that this user does not have, `BAD_REQUEST` for a memory that
            the decision did not show, or, reported as missed, did.
    """
    if decision is None or decision.user != command.user:
        message = f"decision_id: there is no decision {command.decision_id!r} of this user"
        raise RecalldError(ErrorCode.NOT_FOUND, message)
    if not command.memory_id:
        return
    is_missed = command.result is OutcomeResult.MISSED
    is_shown = command.memory_id in shown_by(decision)
    if is_shown is is_missed:
        raise _wrong_item(command, decision, is_shown=is_shown)
    if not is_memory_there:
        message = f"item_id: there is no memory {command.memory_id!r} of this user"
        raise RecalldError(ErrorCode.NOT_FOUND, message)


def shown_by(decision: DecisionRow) -> frozenset[str]:
    """Ids of the memories that a decision handed over; none when its body was emptied by a forgetting."""
    if decision.op not in _SHOWING:
        return frozenset()
    try:
        body = msgspec.json.decode(decision.body, type=_Body)
    except msgspec.DecodeError:
        return frozenset()
    return frozenset(item.memory_id for item in body.items)


def set_decision(command: SetStanding, *, is_changed: bool) -> DecisionRow:
    """The ledger row of a `SetStanding`, with its reason filled in: only the store knows what held before."""
    return msgspec.structs.replace(command.decision, reason=CHANGED if is_changed else UNCHANGED)


def no_such_memory(memory_id: str) -> RecalldError:
    """The error for a memory that is not there, or no longer live."""
    return RecalldError(ErrorCode.NOT_FOUND, f"memory_id: there is no live memory {memory_id!r} of this user")


def _wrong_item(command: RecordOutcome, decision: DecisionRow, *, is_shown: bool) -> RecalldError:
    what = f"{command.memory_id!r} was not shown by {command.decision_id!r}"
    if is_shown:
        why = f"{command.memory_id!r} was shown, so it cannot be missed; report used, ignored or harmful"
    elif decision.op not in _SHOWING:
        why = f"{what}, which shows no memories; leave item_id out"
    elif decision.body == EMPTY_BODY:
        why = (
            f"what {command.decision_id!r} showed is no longer known, since a memory of it was forgotten; leave it out"
        )
    else:
        why = f"{what}; name one of its items, report missed, or leave item_id out"
    return RecalldError(ErrorCode.BAD_REQUEST, f"item_id: {why}")
