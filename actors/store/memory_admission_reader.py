"""Reading observations, proposals, lineage and exports of the in-memory store."""

from __future__ import annotations

from collections.abc import Sequence

from recalld.actors.store.admission_rows import ObservationRow, ProposalRow
from recalld.actors.store.cursors import PagePosition, decode_cursor, encode_cursor
from recalld.actors.store.export_pages import ExportPart, cursor_of, next_page, position_of
from recalld.actors.store.listing import checked_limit
from recalld.actors.store.memory_state import UserState
from recalld.models.domain.admission_store import (
    Evidence,
    Lineage,
    ObservationPage,
    ProposalPage,
    ProposalState,
    SlotHolder,
)
from recalld.models.domain.records import Memory, MemoryStatus
from recalld.models.domain.usage import Usage
from recalld.models.domain.user_data import ExportPage, PortableMemory, PortableObservation, PortableProposal
from recalld.models.policy.capacity import used_by


def observations(state: UserState, *, since_ms: int, limit: int, cursor: str | None) -> ObservationPage:
    """A page of observations, the one made last first."""
    before = None if cursor is None else decode_cursor(cursor)
    size = checked_limit(limit)
    rows = sorted(state.admission.observations.values(), key=_lateness, reverse=True)
    left = [row for row in rows if before is None or _lateness(row) < (before.created_at_ms, before.memory_id)]
    page = left[:size]
    return ObservationPage(
        observations=tuple(row.view(_turns(state, row), since_ms=since_ms) for row in page),
        cursor=encode_cursor(PagePosition(*_lateness(page[-1]))) if len(left) > size else None,
        total=len(rows),
    )


def proposals(
    state: UserState, states: Sequence[ProposalState], *, now_ms: int, limit: int, cursor: str | None
) -> ProposalPage:
    """A page of proposals, newest first."""
    before = None if cursor is None else decode_cursor(cursor)
    size = checked_limit(limit)
    rows = [row for row in state.admission.proposals.values() if not states or row.view(now_ms).state in states]
    rows.sort(key=_newness, reverse=True)
    left = [row for row in rows if before is None or _newness(row) < (before.created_at_ms, before.memory_id)]
    page = left[:size]
    return ProposalPage(
        proposals=tuple(row.view(now_ms) for row in page),
        cursor=encode_cursor(PagePosition(*_newness(page[-1]))) if len(left) > size else None,
        total=len(rows),
    )


def lineage(state: UserState, memory_id: str, *, now_ms: int) -> Lineage | None:
    """Everything behind a record."""
    memory = _known(state, memory_id)
    if memory is None:
        return None
    admission = state.admission
    slot = next(iter(admission.slots.get(memory_id, ())), None)
    observed = [row for row in admission.observations.values() if row.promoted_to == memory_id]
    proposed = [row for row in admission.proposals.values() if row.memory_id == memory_id]
    closing = admission.closings.get(memory_id)
    older = [(each.at_ms, older_id) for older_id, each in admission.closings.items() if each.by == memory_id]
    replaced = (_known(state, older_id) for _, older_id in sorted(older, reverse=True))
    row = max(observed, key=_lateness, default=None)
    answer = max(proposed, key=_newness, default=None)
    return Lineage(
        memory=memory,
        evidence=admission.evidence_of(memory_id),
        observation=None if row is None else row.view(_turns(state, row), since_ms=0),
        proposal=None if answer is None else answer.view(now_ms),
        supersedes=tuple(each for each in replaced if each is not None),
        superseded_by=None if closing is None else _known(state, closing.by),
        slot="" if slot is None else slot.slot,
        subject="" if slot is None else slot.subject,
    )


def usage(state: UserState, scope: str, *, now_ms: int) -> Usage:
    """What live memories of a scope use."""
    return used_by(len(memory.text) for memory in live_oldest_first(state, now_ms) if memory.scope == scope)


def slot_holders(state: UserState, scope: str, name: tuple[str, str], *, now_ms: int) -> tuple[SlotHolder, ...]:
    """Live memories of a scope that hold a slot, by slot and subject, oldest first."""
    return tuple(
        SlotHolder(memory=memory, value=value)
        for memory in live_oldest_first(state, now_ms)
        if memory.scope == scope
        for value in state.admission.slots.get(memory.id, ())
        if (value.slot, value.subject) == name
    )


def live_oldest_first(state: UserState, now_ms: int) -> list[Memory]:
    """Memories that may be recalled, oldest first."""
    live = [entry.memory for entry in state.live(now_ms)]
    return sorted(live, key=lambda memory: (memory.created_at_ms, memory.id))


def exported(state: UserState, *, now_ms: int, limit: int, cursor: str | None) -> ExportPage:
    """A page of everything that is kept of the user."""
    size = checked_limit(limit)
    part, after = position_of(cursor)
    match part:
        case ExportPart.MEMORIES:
            memories = [entry.memory for entry in state.entries.values()]
            memories = [each for each in memories if each.status is not MemoryStatus.FORGOTTEN]
            found = sorted((each.created_at_ms, each.id) for each in memories)
            ids, more = next_page(found, after, size)
            return ExportPage(
                memories=tuple(_portable(state, memory_id) for memory_id in ids), cursor=cursor_of(part, more)
            )
        case ExportPart.OBSERVATIONS:
            ids, more = next_page(
                sorted((row.first_at_ms, row.id) for row in state.admission.observations.values()), after, size
            )
            rows = (state.admission.observations[each] for each in ids)
            return ExportPage(
                observations=tuple(
                    PortableObservation(
                        observation=row.view(_turns(state, row), since_ms=0),
                        fact=row.fact.portable(),
                        evidence=state.admission.evidence_of(row.id),
                    )
                    for row in rows
                ),
                cursor=cursor_of(part, more),
            )
        case ExportPart.PROPOSALS:
            ids, more = next_page(
                sorted((row.created_at_ms, row.id) for row in state.admission.proposals.values()), after, size
            )
            answers = (state.admission.proposals[each] for each in ids)
            return ExportPage(
                proposals=tuple(
                    PortableProposal(
                        proposal=row.view(now_ms),
                        fact=row.fact.portable(),
                        evidence=state.admission.evidence_of(row.id),
                    )
                    for row in answers
                ),
                cursor=cursor_of(part, more),
            )


def _portable(state: UserState, memory_id: str) -> PortableMemory:
    admission = state.admission
    closing = admission.closings.get(memory_id)
    return PortableMemory(
        memory=state.entries[memory_id].memory,
        evidence=admission.evidence_of(memory_id),
        slots=admission.slots.get(memory_id, ()),
        superseded_by="" if closing is None else closing.by,
        closed_at_ms=None if closing is None else closing.at_ms,
    )


def _known(state: UserState, memory_id: str) -> Memory | None:
    entry = state.entries.get(memory_id)
    return None if entry is None or entry.memory.status is MemoryStatus.FORGOTTEN else entry.memory


def _turns(state: UserState, row: ObservationRow) -> tuple[Evidence, ...]:
    """The turns behind an observation; those of a promoted one went to its record."""
    return state.admission.evidence_of(row.promoted_to or row.id)


def _lateness(row: ObservationRow) -> tuple[int, str]:
    return row.last_at_ms, row.id


def _newness(row: ProposalRow) -> tuple[int, str]:
    return row.created_at_ms, row.id
