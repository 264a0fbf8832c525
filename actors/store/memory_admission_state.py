"""The tables of the in-memory store for facts on their way to becoming memories, and for what speaks for memories."""

from __future__ import annotations

import msgspec

from recalld.actors.store.admission_rows import ObservationRow, ProposalRow, RecordedFacts
from recalld.models.domain.admission_store import Evidence, SlotValue


class KeptEvidence(msgspec.Struct, frozen=True, kw_only=True):
    """A turn and what it speaks for: a memory, an observation or a proposal."""

    holder_id: str
    evidence: Evidence


class Closing(msgspec.Struct, frozen=True, kw_only=True):
    """That a record was superseded: by which one (empty: by none), and when."""

    by: str
    at_ms: int


class AdmissionState(msgspec.Struct, kw_only=True):
    """Of one user. Evidence stands in the order in which it came; a memory without slots has an entry all the same."""

    evidence: list[KeptEvidence] = msgspec.field(default_factory=list)
    slots: dict[str, tuple[SlotValue, ...]] = msgspec.field(default_factory=dict)
    observations: dict[str, ObservationRow] = msgspec.field(default_factory=dict)
    proposals: dict[str, ProposalRow] = msgspec.field(default_factory=dict)
    closings: dict[str, Closing] = msgspec.field(default_factory=dict)
    results: dict[str, RecordedFacts] = msgspec.field(default_factory=dict)

    def copied(self) -> AdmissionState:
        """A copy that later changes leave alone; the rows themselves never change."""
        return AdmissionState(
            evidence=list(self.evidence),
            slots=dict(self.slots),
            observations=dict(self.observations),
            proposals=dict(self.proposals),
            closings=dict(self.closings),
            results=dict(self.results),
        )

    def evidence_of(self, holder_id: str) -> tuple[Evidence, ...]:
        """What speaks for a thing, oldest first."""
        found = (each.evidence for each in self.evidence if each.holder_id == holder_id)
        return tuple(sorted(found, key=lambda each: each.at_ms))

    def drop_evidence(self, holder_id: str) -> None:
        """Drop what speaks for a thing."""
        self.evidence = [each for each in self.evidence if each.holder_id != holder_id]
