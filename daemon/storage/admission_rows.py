"""Between rows of the write path's tables and its types."""

from __future__ import annotations

from typing import Final, TypeVar

import msgspec

from recalld.actors.store.admission_rows import NotedFact, ObservationRow, ProposalRow, RecordedFacts
from recalld.daemon.storage.errors import DamagedRowError, RowKind
from recalld.models.domain.admission_store import Evidence, ProposalState, SlotValue
from recalld.models.domain.facts import Generator
from recalld.models.domain.reasons import AdmissionReason

T = TypeVar("T")

EVIDENCE_COLUMNS: Final = "e.session, e.turn_id, e.at_ms, e.generator, e.rule, e.reason, e.quote, e.decision_id"
"""The columns `evidence_from_row` takes, in its order, of `evidence AS e`."""
EvidenceRow = tuple[str, str, int, str, str, str, str, str]

SLOT_COLUMNS: Final = "s.slot, s.subject, s.value, s.is_single_valued"
"""The columns `slot_from_row` takes, in its order, of `memory_slots AS s`."""
SlotRow = tuple[str, str, str, int]

OBSERVATION_COLUMNS: Final = "o.id, o.first_at_ms, o.last_at_ms, o.promoted_to, o.fact"
"""The columns `observation_from_row` takes, in its order, of `observations AS o`."""
ObservationCells = tuple[str, int, int, str, bytes]

PROPOSAL_COLUMNS: Final = (
    "p.id, p.session, p.reason, p.state, p.created_at_ms, p.expires_at_ms, p.proposer, p.memory_id, p.accepted_text,"
    " p.fact"
)
"""The columns `proposal_from_row` takes, in its order, of `proposals AS p`."""
ProposalCells = tuple[str, str, str, str, int, int, str, str, str, bytes]


def evidence_from_row(holder_id: str, row: EvidenceRow) -> Evidence:
    """A turn from `EVIDENCE_COLUMNS`.

    Raises:
        DamagedRowError: The row cannot be what this program wrote.
    """
    try:
        return Evidence(
            session=row[0],
            turn_id=row[1],
            at_ms=row[2],
            generator=Generator(row[3]),
            rule=row[4],
            reason=AdmissionReason(row[5]),
            quote=row[6],
            decision_id=row[7],
        )
    except ValueError as error:
        raise DamagedRowError(RowKind.EVIDENCE, holder_id) from error


def slot_from_row(row: SlotRow) -> SlotValue:
    """A slot from `SLOT_COLUMNS`."""
    return SlotValue(slot=row[0], subject=row[1], value=row[2], is_single_valued=bool(row[3]))


def observation_from_row(row: ObservationCells) -> ObservationRow:
    """An observation from `OBSERVATION_COLUMNS`.

    Raises:
        DamagedRowError: The row cannot be what this program wrote.
    """
    return ObservationRow(
        id=row[0],
        first_at_ms=row[1],
        last_at_ms=row[2],
        promoted_to=row[3],
        fact=decoded(row[4], NotedFact, RowKind.OBSERVATION, row[0]),
    )


def proposal_from_row(row: ProposalCells) -> ProposalRow:
    """A proposal from `PROPOSAL_COLUMNS`.

    Raises:
        DamagedRowError: The row cannot be what this program wrote.
    """
    try:
        return ProposalRow(
            id=row[0],
            session=row[1],
            reason=AdmissionReason(row[2]),
            state=ProposalState(row[3]),
            created_at_ms=row[4],
            expires_at_ms=row[5],
            proposer=row[6],
            memory_id=row[7],
            accepted_text=row[8],
            fact=decoded(row[9], NotedFact, RowKind.PROPOSAL, row[0]),
        )
    except ValueError as error:
        raise DamagedRowError(RowKind.PROPOSAL, row[0]) from error


def facts_from_row(decision_id: str, stored: bytes) -> RecordedFacts:
    """What became of a turn's facts.

    Raises:
        DamagedRowError: The row cannot be what this program wrote.
    """
    return decoded(stored, RecordedFacts, RowKind.TURN, decision_id)


def decoded(stored: bytes, kind: type[T], row_kind: RowKind, row_id: str) -> T:
    """A struct from the JSON in a row.

    Raises:
        DamagedRowError: It is none.
    """
    try:
        return msgspec.json.decode(stored, type=kind)
    except msgspec.DecodeError as error:
        raise DamagedRowError(row_kind, row_id) from error
