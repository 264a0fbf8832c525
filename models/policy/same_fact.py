"""When a stored record says already what a new statement says, in other words.

Guards: that an update is swallowed as a repetition. Embeddings nominate and never decide: "15th" and "16th" lie nearer
to each other than most repetitions.
Cost: two passes over two short texts for each nominated record. Fails: towards another record: a repetition that is
kept costs a line, an update that is dropped is what the user said last.
"""

from __future__ import annotations

from collections.abc import Sequence

from recalld.models.domain.admission_store import SlotValue
from recalld.models.policy.load_bearing import agree, load_bearing
from recalld.models.policy.slot_values import value_key


def is_same_fact(text: str, slots: Sequence[SlotValue], stored_text: str, stored_slots: Sequence[SlotValue]) -> bool:
    """Whether a stored record is the same fact as a new statement, so that nothing of the new one is lost with it.

    Numbers, dates, names and negations must agree, slots must not contradict, and the new statement must have no
    ordinary word that the stored one lacks, unless both state the same value of the same slot.

    Args:
        text: The new statement.
        slots: What it states values of.
        stored_text: The record's text.
        stored_slots: What the record states values of.
    """
    if not agree(text, stored_text):
        return False
    mine = {(each.slot, each.subject): value_key(each.value) for each in slots if each.value}
    theirs = {(each.slot, each.subject): value_key(each.value) for each in stored_slots if each.value}
    shared = mine.keys() & theirs.keys()
    if any(mine[key] != theirs[key] for key in shared):
        return False
    if mine and theirs and not shared:
        return False
    return bool(shared) or load_bearing(text).content <= load_bearing(stored_text).words
