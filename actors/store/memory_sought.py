"""What beside memories holds the words by which a person has things forgotten, in the in-memory store."""

from __future__ import annotations

import msgspec

from recalld.actors.store.forgetting_rules import Sought
from recalld.actors.store.memory_state import UserState
from recalld.models.domain.store import NoteCounts


class FoundNotes(msgspec.Struct, frozen=True, kw_only=True):
    """Numbers of waiting turns, and ids of observations and proposals."""

    turns: tuple[int, ...]
    observations: tuple[str, ...]
    proposals: tuple[str, ...]

    @property
    def counts(self) -> NoteCounts:
        """How many there are of each."""
        return NoteCounts(
            pending_turns=len(self.turns), observations=len(self.observations), proposals=len(self.proposals)
        )


def found(state: UserState, sought: Sought) -> FoundNotes:
    """What of a user holds the words."""
    admission = state.admission
    return FoundNotes(
        turns=tuple(number for number, turn in state.pending.turns.items() if sought.is_in(turn.text)),
        observations=tuple(
            row.id for row in admission.observations.values() if sought.is_in_observation(row, _quotes(state, row.id))
        ),
        proposals=tuple(
            row.id for row in admission.proposals.values() if sought.is_in_proposal(row, _quotes(state, row.id))
        ),
    )


def forget_notes(state: UserState, sought: Sought) -> NoteCounts:
    """Remove it, and blank the quotes of memories that hold the words."""
    notes, admission = found(state, sought), state.admission
    for number in notes.turns:
        state.pending.remove(number)
    for note_id in notes.observations:
        del admission.observations[note_id]
    for note_id in notes.proposals:
        del admission.proposals[note_id]
    gone = {*notes.observations, *notes.proposals}
    admission.evidence = [
        msgspec.structs.replace(each, evidence=msgspec.structs.replace(each.evidence, quote=""))
        if sought.is_in(each.evidence.quote)
        else each
        for each in admission.evidence
        if each.holder_id not in gone
    ]
    return notes.counts


def _quotes(state: UserState, holder_id: str) -> tuple[str, ...]:
    return tuple(each.quote for each in state.admission.evidence_of(holder_id))
