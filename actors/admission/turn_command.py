"""The one command that a turn becomes, and the key under which it is recorded."""

from __future__ import annotations

from typing import Final

from recalld.models.domain.admission import ObservedTurn
from recalld.models.domain.admission_store import AdmissionLimits, AdmitTurn, DroppedFact, FactWrite
from recalld.models.domain.facts import Generator
from recalld.models.domain.gate_spent import UNSPENT, GateSpent
from recalld.models.domain.reasons import Op
from recalld.models.domain.store import DecisionRow

KEY_SEPARATOR: Final = "\x1f"
"""Joins session and turn id; refused inside either at the gateway."""


def turn_command(
    turn: ObservedTurn,
    *,
    decision_id: str,
    now_ms: int,
    writes: tuple[FactWrite, ...] = (),
    dropped: tuple[DroppedFact, ...] = (),
    limits: AdmissionLimits,
    ration_since_ms: int = 0,
    decision: str = "",
    spent: GateSpent = UNSPENT,
) -> AdmitTurn:
    """The command. What the turn came to is the store's to say, and so are reason and body of its ledger row.

    Args:
        turn: As it was said.
        decision_id: A fresh id for the ledger row.
        now_ms: Present time, Unix epoch milliseconds.
        writes: What the policy let through, in text order.
        dropped: What it did not.
        limits: See `AdmissionLimits`.
        ration_since_ms: See `AdmitTurn`.
        decision: What the row says was decided; empty: the store says it.
        spent: Time that deciding took.
    """
    is_offered = any(map(_is_by_model, writes))
    return AdmitTurn(
        user=turn.user,
        session=turn.session,
        turn_key=f"{turn.session}{KEY_SEPARATOR}{turn.turn_id}",
        now_ms=now_ms,
        writes=writes,
        dropped=dropped,
        limits=limits,
        proposer=turn.client if is_offered else "",
        ration_since_ms=ration_since_ms,
        spent=spent,
        decision=DecisionRow(
            id=decision_id,
            user=turn.user,
            session=turn.session,
            op=Op.OBSERVE,
            at_ms=now_ms,
            decision=decision,
            reason="",
        ),
    )


def _is_by_model(write: FactWrite) -> bool:
    """Whether a model of the client found a fact, alone or beside a rule that had it as well."""
    also = () if write.found is None else write.found.also
    return write.evidence.generator is Generator.MODEL or any(each.startswith(f"{Generator.MODEL}:") for each in also)
