"""What waits to be a memory: proposals without an answer, and observations that are nearly one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

import msgspec

from recalld.models.domain.admission_store import ProposalState
from recalld.protocol import portable_items as p

DAY_MS: Final = 86_400_000


class Waiting(msgspec.Struct, frozen=True, kw_only=True):
    """One fact that waits for a word.

    Attributes:
        id: Of the proposal or the observation.
        sort: `proposal` or `observation`.
        text: What would be stored.
        reason: Why it waits, as the daemon says.
        proposer: The client that brought it; empty: the daemon's own rules.
        turns: Distinct turns that speak for it.
        sessions: In how many sessions.
        since_ms: Since when it waits, Unix epoch milliseconds.
        until_ms: Until when.
        is_ending: It would end a memory and store none.
        evidence: The turns, oldest first.
    """

    id: str
    sort: str
    text: str
    kind: str
    scope: str = ""
    slot: str = ""
    reason: str
    proposer: str = ""
    turns: int
    sessions: int
    since_ms: int
    until_ms: int
    is_ending: bool = False
    evidence: tuple[p.PortableEvidence, ...] = ()

    @property
    def is_proposal(self) -> bool:
        """Whether the user was asked; otherwise it is only noted."""
        return self.sort == PROPOSAL


PROPOSAL: Final = "proposal"
OBSERVATION: Final = "observation"
_WEAK: Final = "weak_evidence"


def waiting_in(records: Iterable[p.Portable], *, now_ms: int, window_ms: int, turns_min: int) -> tuple[Waiting, ...]:
    """What waits, proposals first, the one that expires first in front; then observations, most turns first.

    Args:
        records: Observations and proposals as they are exported.
        now_ms: Unix epoch milliseconds.
        window_ms: How far back the turns behind an observation count.
        turns_min: Observations with fewer turns are left out.
    """
    found = tuple(_each(records, now_ms=now_ms, window_ms=window_ms, turns_min=turns_min))
    proposals = sorted((each for each in found if each.is_proposal), key=lambda each: (each.until_ms, each.id))
    observations = sorted((each for each in found if not each.is_proposal), key=lambda each: (-each.turns, each.id))
    return (*proposals, *observations)


def _each(records: Iterable[p.Portable], *, now_ms: int, window_ms: int, turns_min: int) -> Iterator[Waiting]:
    for record in records:
        match record:
            case p.PortableProposal(state=ProposalState.PENDING.value, expires_at_ms=until_ms) if now_ms < until_ms:
                yield _proposal(record)
            case p.PortableObservation(promoted_to="", last_at_ms=last_ms) if now_ms <= last_ms + window_ms:
                waiting = _observation(record, now_ms=now_ms, window_ms=window_ms)
                if waiting.turns >= turns_min:
                    yield waiting
            case _:
                pass  # answered, over, or a memory by now


def _proposal(record: p.PortableProposal) -> Waiting:
    turns, sessions = _counted(record.evidence, since_ms=0)
    return Waiting(
        id=record.proposal_id,
        sort=PROPOSAL,
        text=record.fact.text,
        kind=record.fact.kind,
        scope=record.fact.scope,
        slot=_slot(record.fact),
        reason=record.reason,
        proposer=record.proposer,
        turns=turns,
        sessions=sessions,
        since_ms=record.created_at_ms,
        until_ms=record.expires_at_ms,
        is_ending=record.fact.is_ending,
        evidence=record.evidence,
    )


def _observation(record: p.PortableObservation, *, now_ms: int, window_ms: int) -> Waiting:
    turns, sessions = _counted(record.evidence, since_ms=now_ms - window_ms)
    reasons = [each.reason for each in record.evidence if each.reason != _WEAK]
    return Waiting(
        id=record.observation_id,
        sort=OBSERVATION,
        text=record.fact.text,
        kind=record.fact.kind,
        scope=record.fact.scope,
        slot=_slot(record.fact),
        reason=reasons[-1] if reasons else _WEAK,
        turns=turns,
        sessions=sessions,
        since_ms=record.first_at_ms,
        until_ms=record.last_at_ms + window_ms,
        is_ending=record.fact.is_ending,
        evidence=record.evidence,
    )


def _slot(fact: p.PortableFact) -> str:
    return "" if fact.slot is None else fact.slot.slot


def _counted(evidence: Iterable[p.PortableEvidence], *, since_ms: int) -> tuple[int, int]:
    turns = {(each.session, each.turn_id or each.decision_id) for each in evidence if each.at_ms >= since_ms}
    return len(turns), len({session for session, _ in turns})
