"""When a newer statement closes an older record of the same slot.

Guards: that what holds no more is not recalled beside what holds, and that nothing else is closed. Same user, scope,
slot and subject are the caller's to see to; here values decide, and no vector is asked.
Cost: comparisons of a few words for each record of the slot. Fails: towards both staying live: a wrong closing takes a
true record out of every recall, while two values side by side are seen by whoever reads them.
"""

from __future__ import annotations

from recalld.models.domain.admission_store import SlotHolder, SlotValue
from recalld.models.policy.load_bearing import agree
from recalld.models.policy.slot_values import are_rivals, holds_value, is_multi_valued, value_key


def supersedes(text: str, value: SlotValue, holder: SlotHolder) -> bool:
    """Whether a newer statement closes a record that holds the same slot of the same subject.

    It does where both slots are single-valued and it names another value. A value that stands inside the older one is
    no other ("Berlin" after "Berlin, Germany"); a longer one replaces it. Where neither value is known apart from the
    text, statements that cannot be the same fact name different ones.

    Args:
        text: The newer statement.
        value: What it states.
        holder: The older record.
    """
    older = holder.value
    if not (value.is_single_valued and older.is_single_valued) or is_multi_valued(value.slot):
        return False
    stored = holder.memory.text
    if value.value and older.value:
        return value_key(value.value) != value_key(older.value) and not holds_value(older.value, value.value)
    if value.value or older.value:
        named, in_text = (value.value, stored) if value.value else (older.value, text)
        return not holds_value(in_text, named)
    rivals = are_rivals(text, stored)
    return not agree(text, stored) if rivals is None else rivals


def is_ended(value: str, holder: SlotHolder) -> bool:
    """Whether a statement that a slot's value holds no more means this record.

    Args:
        value: The value that ended, as said; empty means whatever the slot holds, which is clear only where it holds
            one value at a time.
        holder: The record.
    """
    if not value:
        return holder.value.is_single_valued and not is_multi_valued(holder.value.slot)
    if holder.value.value:
        return value_key(value) == value_key(holder.value.value) or holds_value(holder.value.value, value)
    return holds_value(holder.memory.text, value)
