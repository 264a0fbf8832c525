"""What an explicit save leads to beside its record: evidence, slots, and what they close; the same in every store."""

from __future__ import annotations

import msgspec

from recalld.actors.store.admission_rows import RecordedFact, RecordedFacts, RecordedTurn
from recalld.actors.store.admission_tables import AdmissionTables
from recalld.actors.store.caps import refused_usage, within_caps
from recalld.actors.store.rules import (
    admission_decision,
    brought_up_to_date,
    is_same_wording,
    new_record,
    turn_reason,
)
from recalld.actors.store.slot_settling import merged_slots, slots_of_text, supersede_others
from recalld.models.domain.admission_store import AdmissionLimits, Evidence, FactOutcome, SlotValue
from recalld.models.domain.facts import Disposition, Generator
from recalld.models.domain.reasons import AdmissionReason, RememberOutcome
from recalld.models.domain.records import Memory
from recalld.models.domain.store import Remember, Remembered
from recalld.models.policy.slot_values import is_multi_valued, is_single_valued

_RULE = "remember"
_TURN_ID_MARK = "\x1f"


def remember(tables: AdmissionTables, command: Remember) -> Remembered:
    """Store what was saved, or find that the same words are stored already, with its turn and its ledger row.

    Raises:
        RecalldError: `CONFLICT` when a new memory's id is taken.
    """
    earlier = tables.turn(command.turn_key) if command.turn_key else None
    if earlier is not None:
        memory = tables.memory(earlier.memory_id) if earlier.memory_id else None
        superseded = () if earlier.facts is None else earlier.facts.facts[:1]
        return Remembered(
            outcome=earlier.outcome,
            memory=memory,
            decision_id=earlier.decision_id,
            superseded=tuple(memory_id for fact in superseded for memory_id in fact.superseded),
        )
    saved = _save(tables, command)
    tables.append_decision(admission_decision(command, saved.outcome, saved.refusal))
    if command.turn_key:
        tables.record_turn(command.turn_key, _turn(saved), command.now_ms)
    return saved


def _turn(saved: Remembered) -> RecordedTurn:
    reason = turn_reason(saved.outcome, saved.refusal)
    facts = None
    if saved.superseded and saved.memory is not None:
        fact = RecordedFact(
            outcome=FactOutcome.SUPERSEDED,
            disposition=Disposition.RECORD,
            reason=reason,
            memory_id=saved.memory.id,
            superseded=saved.superseded,
        )
        facts = RecordedFacts(facts=(fact,))
    return RecordedTurn(
        decision_id=saved.decision_id,
        reason=reason,
        outcome=saved.outcome,
        memory_id=None if saved.memory is None else saved.memory.id,
        facts=facts,
    )


def _save(tables: AdmissionTables, command: Remember) -> Remembered:
    wanted, decision_id = command.memory, command.decision.id
    if command.is_explicit:
        tables.lift_tombstone(wanted.text)
    elif tables.is_tombstoned(wanted.text):
        return Remembered(outcome=None, memory=None, decision_id=decision_id, refusal=AdmissionReason.TOMBSTONED)
    limits = AdmissionLimits(records_max=command.records_max, chars_max=command.chars_max)
    done = within_caps(tables, wanted.scope, limits, command.now_ms, lambda: _saved(tables, command))
    if done is not None:
        return msgspec.structs.replace(done.value, usage=done.usage)
    return Remembered(
        outcome=None,
        memory=None,
        decision_id=decision_id,
        refusal=AdmissionReason.OVER_CAPACITY,
        usage=refused_usage(tables, wanted.scope, limits, command.now_ms),
    )


def _saved(tables: AdmissionTables, command: Remember) -> Remembered:
    same = tables.same_words(command.memory.scope, command.memory.text, command.now_ms)
    outcome, memory = _created(tables, command) if same is None else _updated(tables, same, command)
    tables.add_evidence(memory.id, _evidence(command))
    slots = slots_of_text(command.memory, _value(command))
    known = slots if same is None else merged_slots(tables.slots_of(memory.id), slots)
    tables.put_slots(memory.id, known)
    superseded = supersede_others(tables, memory, known, command.now_ms)
    return Remembered(
        outcome=RememberOutcome.SUPERSEDED if superseded else outcome,
        memory=memory,
        decision_id=command.decision.id,
        superseded=superseded,
    )


def _created(tables: AdmissionTables, command: Remember) -> tuple[RememberOutcome, Memory]:
    memory = new_record(command)
    tables.create(memory, command.embedder_key, command.vectors)
    return RememberOutcome.CREATED, memory


def _updated(tables: AdmissionTables, same: Memory, command: Remember) -> tuple[RememberOutcome, Memory]:
    memory = brought_up_to_date(same, command.memory, command.now_ms)
    if memory is None:
        return RememberOutcome.DUPLICATE, same
    is_embedded = is_same_wording(command.memory, memory)
    tables.replace(memory, command.embedder_key if is_embedded else "", command.vectors if is_embedded else ())
    return RememberOutcome.UPDATED, memory


def _value(command: Remember) -> SlotValue | None:
    """The slot that came with a save; a slot that nobody knows holds several values at a time."""
    if not command.slot:
        return None
    is_single = is_single_valued(command.slot) and not is_multi_valued(command.slot)
    return SlotValue(slot=command.slot, subject=command.subject, value=command.value, is_single_valued=is_single)


def _evidence(command: Remember) -> Evidence:
    turn_id = command.turn_key.split(_TURN_ID_MARK)[1] if _TURN_ID_MARK in command.turn_key else ""
    return Evidence(
        session=command.decision.session,
        turn_id=turn_id,
        at_ms=command.now_ms,
        generator=Generator.EXPLICIT if command.is_explicit else Generator.RULE,
        rule=_RULE,
        reason=AdmissionReason.EXPLICIT_SAVE if command.is_explicit else AdmissionReason.STATED,
        quote=command.quote,
        decision_id=command.decision.id,
    )
