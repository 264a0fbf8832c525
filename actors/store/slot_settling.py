"""Slots of records: what a newer statement closes, and what an ending ends."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from recalld.actors.store.admission_tables import AdmissionTables
from recalld.models.domain.admission_store import FactWrite, SlotHolder, SlotValue
from recalld.models.domain.records import Memory, NewMemory
from recalld.models.policy.load_bearing import load_bearing
from recalld.models.policy.slot_values import holds_value, stated_slots
from recalld.models.policy.supersession import is_ended, supersedes

UNREAD_MAX: Final = 500
"""Older records whose slots are read in one transaction: a sixth of a second, and the next one goes on."""


def slots_of_text(memory: NewMemory, given: SlotValue | None) -> tuple[SlotValue, ...]:
    """What a record states values of: what it came with, and what its words say beside that."""
    read = stated_slots(memory.text, memory.kind)
    if given is None:
        return read
    return (given, *(each for each in read if each.slot != given.slot))


def merged_slots(stored: Sequence[SlotValue], new: Sequence[SlotValue]) -> tuple[SlotValue, ...]:
    """The slots of a record that was said again: a value that was not known is taken from the new words."""
    by_name = {(each.slot, each.subject): each for each in stored}
    for each in new:
        known = by_name.get((each.slot, each.subject))
        if known is None or not known.value:
            by_name[each.slot, each.subject] = each
    return tuple(by_name.values())


def supersede_others(
    tables: AdmissionTables,
    memory: Memory,
    slots: Sequence[SlotValue],
    now_ms: int,
    *,
    said_at_ms: int | None = None,
) -> tuple[str, ...]:
    """Close the live records whose value of a slot a record replaces; their ids, oldest first.

    A record that states other slots as well stays: "I'm a manager now" does not take the employer out of "works at Acme
    as an engineer". And where the other value was said later, because this turn was delivered late, the record itself
    is closed by it: it is history already.

    Args:
        tables: The user's tables.
        memory: The record, stored with its evidence.
        slots: What it states.
        now_ms: Unix epoch milliseconds.
        said_at_ms: When it was said last, where its evidence does not have that yet.
    """
    mine = {(each.slot, each.subject) for each in slots}
    said_ms = max(last_said_ms(tables, memory), 0 if said_at_ms is None else min(said_at_ms, now_ms))
    closed: dict[str, None] = {}
    for value in slots:
        for holder in find_holders(tables, memory.scope, value.slot, value.subject, now_ms):
            if holder.memory.id == memory.id or holder.memory.id in closed:
                continue
            states = {(each.slot, each.subject) for each in tables.slots_of(holder.memory.id)}
            if states <= mine and supersedes(memory.text, value, holder):
                if last_said_ms(tables, holder.memory) > said_ms:
                    tables.close(memory.id, by=holder.memory.id, now_ms=now_ms)
                    return tuple(closed)
                tables.close(holder.memory.id, by=memory.id, now_ms=now_ms)
                closed[holder.memory.id] = None
    return tuple(closed)


def last_said_ms(tables: AdmissionTables, memory: Memory) -> int:
    """When a record was said last, Unix epoch milliseconds, by the turns behind it; 0 where none is known."""
    return max((each.at_ms for each in tables.evidence_of(memory.id)), default=0)


def end_slot(tables: AdmissionTables, write: FactWrite, now_ms: int) -> tuple[str, ...]:
    """Close the records whose value an ending says holds no more; their ids, oldest first.

    They are looked for in the scope of the statement, and in the global one where it has none: "I no longer work at
    Initech" is meant wherever it is said.
    """
    for scope in dict.fromkeys((write.memory.scope, "")):
        found = _ended(tables, scope, write, now_ms)
        for memory_id in found:
            tables.close(memory_id, by="", now_ms=now_ms)
            tables.add_evidence(memory_id, write.evidence)
        if found:
            return found
    return ()


def _ended(tables: AdmissionTables, scope: str, write: FactWrite, now_ms: int) -> tuple[str, ...]:
    holders = find_holders(tables, scope, write.slot, write.subject, now_ms) if write.slot else ()
    said_ms = write.evidence.at_ms
    ended = [
        holder.memory.id
        for holder in holders
        if is_ended(write.value, holder) and last_said_ms(tables, holder.memory) <= said_ms
    ]
    if ended or not write.value:
        return tuple(ended)
    nominated = (tables.live(memory_id, now_ms) for memory_id in dict.fromkeys(write.neighbours))
    return tuple(
        memory.id
        for memory in nominated
        if memory is not None
        and memory.scope == scope
        and not tables.slots_of(memory.id)
        and last_said_ms(tables, memory) <= said_ms
        and _says_no_more(memory.text, write)
    )


def _says_no_more(text: str, write: FactWrite) -> bool:
    """Whether a record without slots says nothing beyond what an ending ends."""
    stored, ending = load_bearing(text), load_bearing(write.memory.text)
    return holds_value(text, write.value) and (stored.content | stored.names | stored.numbers) <= (
        ending.words | ending.numbers
    )


def find_holders(tables: AdmissionTables, scope: str, slot: str, subject: str, now_ms: int) -> tuple[SlotHolder, ...]:
    """Live records that hold a slot, oldest first. Those that were stored before slots were noted are read first."""
    for memory in tables.unread(now_ms, UNREAD_MAX):
        tables.put_slots(memory.id, stated_slots(memory.text, memory.kind))
    return tables.holders(scope, slot, subject, now_ms)
