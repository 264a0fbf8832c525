"""What the ledger keeps of a turn's facts: outcomes, ids and names of rules, never text."""

from __future__ import annotations

import msgspec

from recalld.models.domain.admission_store import DroppedFact, FactOutcome
from recalld.models.domain.facts import Disposition, Generator
from recalld.models.domain.reasons import AdmissionReason


class FactLine(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One fact of a turn, as the ledger keeps it.

    Attributes:
        memory_id: Of the record; empty: there is none.
        note_id: Of the observation or the proposal; empty: there is none.
        superseded: Ids of the records that it closed.
        source_rule: Rule, model or calibration record that found it.
        decided_by: Rule of the policy that decided.
    """

    outcome: FactOutcome
    disposition: Disposition
    reason: AdmissionReason
    generator: Generator
    source_rule: str = ""
    decided_by: str = ""
    memory_id: str = ""
    note_id: str = ""
    superseded: tuple[str, ...] = ()


class TurnBody(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The body of the ledger row of a turn, where its caller brings none; times as in `GateSpent`."""

    facts: tuple[FactLine, ...] = ()
    dropped: tuple[DroppedFact, ...] = ()
    read_ms: float = 0.0
    judge_ms: float = 0.0
    policy_ms: float = 0.0
