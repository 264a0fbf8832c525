"""The slot of what a model offers: only one that the words themselves state a value of.

Guards: records against being closed by a label. A newer value of a slot closes the record of the older one, so "I like
the opera" that came labelled as an employer would take the employer away. Cost: one statement and one quote read, where
a slot was named at all. Fails: towards no slot, which closes nothing.
"""

from __future__ import annotations

from recalld.models.domain.admission import OfferedFact
from recalld.models.policy.save_turn import prepare_turn
from recalld.models.policy.slot_values import stated_slots
from recalld.models.policy.statements.find import find_stated


def fitting_slot(offered: OfferedFact) -> str:
    """The slot that came with an offer, if the shipped slots or rules read it in its statement or quote; else empty."""
    slot = offered.slot
    if not slot:
        return ""
    if any(each.slot == slot for each in stated_slots(offered.statement, offered.kind)):
        return slot
    return slot if any(each.slot == slot for each in find_stated(prepare_turn(offered.quote))) else ""
