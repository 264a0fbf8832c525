"""Shadow mode of the write gate: what it decides is written down, and nothing of it becomes a record or a question.

Guards: a deployment that wants to see what would be kept before anything is. Cost: none. Fails: towards an observation,
which no recall hands over; the store makes no record of any number of them while `AdmissionLimits.is_shadow` is set.
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from recalld.models.domain.facts import Disposition
from recalld.models.domain.shadow import SHADOW_RULE
from recalld.models.policy.turn_rulings import RuledFact


def shadowed(facts: Iterable[RuledFact]) -> tuple[RuledFact, ...]:
    """Facts as they are kept in shadow mode: observations, whose rule names what would have become of them.

    The rule reads `shadow:record/stated`, say: the disposition that was decided, and the rule that decided.

    Args:
        facts: As the policy ruled.
    """
    return tuple(map(_shadowed, facts))


def _shadowed(fact: RuledFact) -> RuledFact:
    ruling = fact.ruling
    if ruling.disposition not in {Disposition.RECORD, Disposition.PROPOSE}:
        return fact
    rule = f"{SHADOW_RULE}{ruling.disposition}/{ruling.rule}"
    kept = msgspec.structs.replace(ruling, disposition=Disposition.OBSERVE, rule=rule)
    return msgspec.structs.replace(fact, ruling=kept)
