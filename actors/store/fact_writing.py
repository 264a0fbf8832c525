"""Writing one fact inside a transaction: as a record, an observation or a proposal, the same in every store."""

from __future__ import annotations

import enum
from collections.abc import Iterable
from typing import Final, assert_never

import msgspec

from recalld.actors.store.admission_rows import NotedFact, ObservationRow, ProposalRow
from recalld.actors.store.admission_tables import OBSERVATIONS_MAX, PROPOSALS_MAX, AdmissionTables
from recalld.actors.store.rules import brought_up_to_date, created, is_same_wording
from recalld.actors.store.slot_settling import end_slot, find_holders, merged_slots, slots_of_text, supersede_others
from recalld.models.domain.admission_store import (
    AdmissionLimits,
    Evidence,
    FactOutcome,
    FactResult,
    FactWrite,
    ProposalState,
    SlotValue,
)
from recalld.models.domain.facts import Disposition, Generator
from recalld.models.domain.reasons import AdmissionReason
from recalld.models.domain.records import Memory, MemoryKind, NewMemory
from recalld.models.domain.shadow import SHADOW_RULE
from recalld.models.policy.duplicates import canonical
from recalld.models.policy.promotion import is_due, needs_yes
from recalld.models.policy.proposals import may_ask
from recalld.models.policy.same_fact import is_same_fact
from recalld.models.policy.slot_values import is_multi_valued

_BY_THE_USER: Final = frozenset({Generator.EXPLICIT, Generator.CONFIRMED})
"""What the user did on purpose: it lifts a tombstone, and brings a stored record up to date."""


class Room(enum.IntEnum):
    """What there is room for, most first."""

    ALL = 0
    NO_PROMOTIONS = 1
    """What was observed often enough waits on."""
    NO_RECORDS = 2
    """What would be a record is refused."""


class FactWriter:
    """Writes the facts of one transaction.

    Args:
        tables: The user's tables, inside the transaction.
        now_ms: Unix epoch milliseconds.
        limits: See `AdmissionLimits`.
        session: Whose ration a proposal takes.
        proposer: See `Proposal.proposer`.
        ration_since_ms: See `AdmitTurn`.
        room: What there is room for.
    """

    def __init__(
        self,
        tables: AdmissionTables,
        *,
        now_ms: int,
        limits: AdmissionLimits,
        session: str = "",
        proposer: str = "",
        ration_since_ms: int = 0,
        room: Room = Room.ALL,
    ) -> None:
        self._tables = tables
        self._now_ms = now_ms
        self._limits = limits
        self._session = session
        self._proposer = proposer
        self._ration_since_ms = ration_since_ms
        self._room = room

    def write(self, write: FactWrite, *, said_at_ms: int | None = None) -> FactResult:
        """Write a fact as the policy ruled, or lower than that.

        Args:
            write: The fact.
            said_at_ms: When it was first said, where that was before the turn behind it, Unix epoch milliseconds.

        Raises:
            RecalldError: `CONFLICT` for an id that is taken.
        """
        text = write.memory.text
        if write.evidence.generator not in _BY_THE_USER and self._tables.is_tombstoned(text):
            return refused(AdmissionReason.TOMBSTONED)
        match write.disposition:
            case Disposition.RECORD:
                return self._record(write, said_at_ms)
            case Disposition.PROPOSE:
                return self._propose(write)
            case Disposition.OBSERVE:
                return self._observe(write, _why_observed(write))
            case Disposition.DROP:
                return refused(write.evidence.reason)
            case _:
                assert_never(write.disposition)

    # Records.

    def _record(
        self, write: FactWrite, said_at_ms: int | None = None, *, last_said_at_ms: int | None = None
    ) -> FactResult:
        if write.is_ending:  # it only takes away, so there is always room for it
            return self._end(write)
        if self._room is Room.NO_RECORDS:
            return refused(AdmissionReason.OVER_CAPACITY)
        if write.evidence.generator in _BY_THE_USER:
            self._tables.lift_tombstone(write.memory.text)
        slots = slots_of_text(write.memory, value_of(write))
        same = self._same_fact(write.memory, write.neighbours, slots)
        if same is not None:
            return self._again(write, same, slots)
        # A memory is as old as what was said, however late that was delivered; no clock makes it come from tomorrow.
        at_ms = write.evidence.at_ms if said_at_ms is None else said_at_ms
        memory = created(write.memory, write.memory_id, min(at_ms, self._now_ms))
        self._tables.create(memory, write.embedder_key, write.vectors)
        self._tables.put_slots(memory.id, slots)
        self._tables.add_evidence(memory.id, write.evidence)
        superseded = supersede_others(self._tables, memory, slots, self._now_ms, said_at_ms=last_said_at_ms)
        return FactResult(
            outcome=FactOutcome.SUPERSEDED if superseded else FactOutcome.CREATED,
            disposition=Disposition.RECORD,
            reason=write.evidence.reason,
            memory=self._tables.memory(memory.id) or memory,
            superseded=superseded,
        )

    def _again(self, write: FactWrite, same: Memory, slots: tuple[SlotValue, ...]) -> FactResult:
        """What is stored already: its evidence grows, and what the user said on purpose brings it up to date."""
        tables = self._tables
        tables.add_evidence(same.id, write.evidence)
        after = _updated(write, same, self._now_ms)
        if after is not None:
            is_embedded = is_same_wording(write.memory, after)
            tables.replace(after, write.embedder_key if is_embedded else "", write.vectors if is_embedded else ())
        memory = same if after is None else after
        known = merged_slots(tables.slots_of(same.id), slots)
        tables.put_slots(same.id, known)
        superseded = supersede_others(tables, memory, known, self._now_ms)
        outcome = FactOutcome.DUPLICATE if after is None else FactOutcome.UPDATED
        return FactResult(
            outcome=FactOutcome.SUPERSEDED if superseded else outcome,
            disposition=Disposition.RECORD,
            reason=AdmissionReason.DUPLICATE if after is None else write.evidence.reason,
            memory=memory,
            superseded=superseded,
        )

    def _same_fact(self, wanted: NewMemory, neighbours: tuple[str, ...], slots: tuple[SlotValue, ...]) -> Memory | None:
        """The live record that says the same: in the same words, or nominated and the same in all that counts."""
        tables, now_ms = self._tables, self._now_ms
        same = tables.same_words(wanted.scope, wanted.text, now_ms)
        if same is not None:
            return same
        holders = (
            holder.memory.id
            for each in slots
            for holder in find_holders(tables, wanted.scope, each.slot, each.subject, now_ms)
        )
        for memory_id in dict.fromkeys((*neighbours, *holders)):
            near = tables.live(memory_id, now_ms)
            if near is None or near.scope != wanted.scope:
                continue
            if is_same_fact(wanted.text, slots, near.text, tables.slots_of(near.id)):
                return near
        return None

    def _end(self, write: FactWrite) -> FactResult:
        closed = end_slot(self._tables, write, self._now_ms)
        return FactResult(
            outcome=FactOutcome.CLOSED,
            disposition=Disposition.RECORD if closed else Disposition.DROP,
            reason=AdmissionReason.CORRECTION if closed else AdmissionReason.NEGATED,
            superseded=closed,
        )

    # Observations.

    def _observe(self, write: FactWrite, reason: AdmissionReason = AdmissionReason.WEAK_EVIDENCE) -> FactResult:
        known = self._known(write)
        if known is not None:
            return known
        tables, now_ms = self._tables, self._now_ms
        since_ms = now_ms - self._limits.promote_window_ms
        tables.drop_observations(before_ms=since_ms, keep=OBSERVATIONS_MAX - 1)
        row = self._observation_of(write)
        row = msgspec.structs.replace(row, last_at_ms=max(row.last_at_ms, write.evidence.at_ms))
        tables.put_observation(row)
        tables.add_evidence(row.id, write.evidence)
        evidence = tables.evidence_of(row.id)
        if not self._limits.is_shadow and is_due(evidence, self._limits, now_ms=now_ms):
            if not needs_yes(evidence):
                return self._promote(write, row, evidence)
            if not self._is_declined(row.fact.memory) and self._may_ask():
                return self._ask(write, row)
        return FactResult(
            outcome=FactOutcome.OBSERVED,
            disposition=Disposition.OBSERVE,
            reason=reason,
            observation=row.view(evidence, since_ms=since_ms),
        )

    def _observation_of(self, write: FactWrite) -> ObservationRow:
        """The observation that this one adds to: of the same words, or of the same value of a slot; else a new one."""
        scope, text, value = write.memory.scope, write.memory.text, value_of(write)
        same = self._tables.waiting_observation(scope, text)
        if same is not None:
            return same
        for row in () if value is None else self._tables.waiting_observations_of(scope, value):
            stored = () if row.fact.value is None else (row.fact.value,)
            is_same = is_same_fact(text, () if value is None else (value,), row.fact.memory.text, stored)
            if row.fact.is_ending is write.is_ending and is_same:
                return row
        at_ms = write.evidence.at_ms
        return ObservationRow(id=write.note_id, fact=self._noted(write), first_at_ms=at_ms, last_at_ms=at_ms)

    def _promote(self, write: FactWrite, row: ObservationRow, evidence: tuple[Evidence, ...]) -> FactResult:
        """Make a record of an observation, in the words in which it was first observed."""
        since_ms = self._now_ms - self._limits.promote_window_ms
        if self._room is not Room.ALL:
            return FactResult(
                outcome=FactOutcome.OBSERVED,
                disposition=Disposition.OBSERVE,
                reason=AdmissionReason.OVER_CAPACITY,
                observation=row.view(evidence, since_ms=since_ms),
            )
        if self._tables.is_tombstoned(row.fact.memory.text):
            return refused(AdmissionReason.TOMBSTONED)
        said_at_ms = first_said_ms((*evidence, write.evidence))
        last_said_at_ms = max(each.at_ms for each in (*evidence, write.evidence))
        result = self._record(_as_record(write, row.fact), said_at_ms, last_said_at_ms=last_said_at_ms)
        led_to = next(iter(result.superseded), "") if result.memory is None else result.memory.id
        if led_to:
            self._tables.put_observation(msgspec.structs.replace(row, promoted_to=led_to))
            self._tables.move_evidence(row.id, led_to)
        promoted = msgspec.structs.replace(row, promoted_to=led_to).view(evidence, since_ms=since_ms)
        if result.outcome is FactOutcome.CLOSED:
            return msgspec.structs.replace(result, observation=promoted)
        return msgspec.structs.replace(
            result, outcome=FactOutcome.PROMOTED, reason=AdmissionReason.PROMOTED, observation=promoted
        )

    def _known(self, write: FactWrite) -> FactResult | None:
        """Weak evidence for what is a record already; it adds to the record's evidence and changes nothing of it."""
        if write.is_ending:
            return None
        same = self._same_fact(write.memory, write.neighbours, slots_of_text(write.memory, value_of(write)))
        if same is None:
            return None
        self._tables.add_evidence(same.id, write.evidence)
        return FactResult(
            outcome=FactOutcome.DUPLICATE,
            disposition=Disposition.RECORD,
            reason=AdmissionReason.DUPLICATE,
            memory=same,
        )

    # Proposals.

    def _propose(self, write: FactWrite) -> FactResult:
        known = self._known(write)
        if known is not None:
            return known
        row = self._tables.proposal_of(write.memory.scope, write.memory.text)
        if row is not None and row.view(self._now_ms).state is ProposalState.PENDING:
            self._tables.add_evidence(row.id, write.evidence)
            return self._proposed(row)
        if self._is_declined(write.memory):
            return refused(AdmissionReason.DECLINED)
        if not self._may_ask():
            return self._observe(_unasked(write), AdmissionReason.RATION_USED)
        return self._ask(write, self._tables.waiting_observation(write.memory.scope, write.memory.text))

    def _is_declined(self, wanted: NewMemory) -> bool:
        """Whether the user said no to these words: they are not asked for again."""
        row = self._tables.proposal_of(wanted.scope, wanted.text)
        return row is not None and row.state is ProposalState.REJECTED

    def _may_ask(self) -> bool:
        asked = self._tables.asked(self._session, self._ration_since_ms)
        return may_ask(self._limits, asked_in_session=asked, waiting=self._tables.waiting_proposals(self._now_ms))

    def _ask(self, write: FactWrite, observed: ObservationRow | None) -> FactResult:
        """Put a fact to the user. An observation that it comes from becomes the proposal, with its turns."""
        tables = self._tables
        fact = self._noted(write) if observed is None else observed.fact
        row = ProposalRow(
            id=write.note_id,
            session=self._session,
            fact=fact,
            reason=AdmissionReason.NEEDS_CONFIRMATION if observed is not None else write.evidence.reason,
            created_at_ms=self._now_ms,
            expires_at_ms=self._now_ms + self._limits.proposal_ttl_ms,
            proposer=fact.proposer or self._proposer,
        )
        if observed is not None:
            tables.remove_observation(observed.id)
            tables.move_evidence(observed.id, row.id)
        tables.put_proposal(row)
        tables.add_evidence(row.id, write.evidence)
        tables.drop_proposals(now_ms=self._now_ms, keep=PROPOSALS_MAX)
        return self._proposed(row)

    def _noted(self, write: FactWrite) -> NotedFact:
        return NotedFact(memory=write.memory, value=value_of(write), is_ending=write.is_ending, proposer=self._proposer)

    def _proposed(self, row: ProposalRow) -> FactResult:
        return FactResult(
            outcome=FactOutcome.PROPOSED,
            disposition=Disposition.PROPOSE,
            reason=row.reason,
            proposal=row.view(self._now_ms),
        )


def value_of(write: FactWrite) -> SlotValue | None:
    """What a fact states a value of, as whatever found it says; None: nothing."""
    if not write.slot:
        return None
    is_single = write.is_single_valued and not is_multi_valued(write.slot)
    return SlotValue(slot=write.slot, subject=write.subject, value=write.value, is_single_valued=is_single)


def first_said_ms(evidence: Iterable[Evidence]) -> int | None:
    """When a fact was first said, of the turns behind it, Unix epoch milliseconds; None: there are none."""
    return min((each.at_ms for each in evidence), default=None)


def refused(reason: AdmissionReason) -> FactResult:
    """The result of a fact that led to nothing."""
    return FactResult(outcome=FactOutcome.REFUSED, disposition=Disposition.DROP, reason=reason)


def _updated(write: FactWrite, same: Memory, now_ms: int) -> Memory | None:
    """The stored record with what its repetition brings along; None when nothing of it changes.

    Only the same words, saved on purpose, change cues, asks or kind. Whatever says until when it holds changes that;
    what does not say never erases it.
    """
    wanted = write.memory
    is_on_purpose = write.evidence.generator in _BY_THE_USER and canonical(wanted.text) == canonical(same.text)
    if not is_on_purpose:
        wanted = msgspec.structs.replace(
            wanted,
            cues=(),
            asks=(),
            added_cues=0,
            added_asks=0,
            kind=MemoryKind.FACT,  # keeps what is stored
        )
    return brought_up_to_date(same, wanted, now_ms)


def _why_observed(write: FactWrite) -> AdmissionReason:
    """Why a fact is an observation: its evidence is weak, or shadow mode only notes what would be more."""
    is_shadowed = write.found is not None and write.found.decided_by.startswith(SHADOW_RULE)
    return AdmissionReason.SHADOW if is_shadowed else AdmissionReason.WEAK_EVIDENCE


def _unasked(write: FactWrite) -> FactWrite:
    """A fact that should have been confirmed, as an observation: its evidence says that it still needs a yes."""
    if needs_yes((write.evidence,)):
        return write
    evidence = msgspec.structs.replace(write.evidence, reason=AdmissionReason.NEEDS_CONFIRMATION)
    return msgspec.structs.replace(write, evidence=evidence)


def _as_record(write: FactWrite, fact: NotedFact) -> FactWrite:
    """A write that makes a record of a noted fact; vectors of other words do not come along."""
    value = fact.value or SlotValue(slot="")
    has_vectors = fact.memory == write.memory
    return msgspec.structs.replace(
        write,
        memory=fact.memory,
        disposition=Disposition.RECORD,
        slot=value.slot,
        subject=value.subject,
        value=value.value,
        is_single_valued=value.is_single_valued,
        is_ending=fact.is_ending,
        embedder_key=write.embedder_key if has_vectors else "",
        vectors=write.vectors if has_vectors else (),
    )
