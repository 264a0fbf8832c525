"""From a turn's candidates to what becomes of each: collapse, then policy.

Guards: that the policy judges each fact once, and that what it ruled is told with everything that found it. Cost: that
of both steps. Fails: as the policy does.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import msgspec

from recalld.models.domain.admission_store import DroppedFact
from recalld.models.domain.facts import Disposition, FactCandidate, Ruling, Span
from recalld.models.domain.reasons import AdmissionReason
from recalld.models.policy.admission.context import AdmissionContext
from recalld.models.policy.admission.pipeline import rule_all
from recalld.models.policy.admission.quoted_words import locate
from recalld.models.policy.collapse import Collapsed, collapse

FACTS_MAX: Final = 32
"""Facts of one turn that go on to the store: a turn that states more is a document."""
DROPPED_MAX: Final = 64
"""Candidates that were dropped and are told of."""
_CAP_RULE: Final = "facts_max"


class RuledFact(msgspec.Struct, frozen=True, kw_only=True):
    """One fact that goes on, and what else found it."""

    ruling: Ruling
    also_found_by: tuple[str, ...] = ()


class TurnRulings(msgspec.Struct, frozen=True, kw_only=True):
    """What becomes of the facts of a turn.

    Attributes:
        facts: Those that go on to the store, in text order.
        dropped: Those that do not.
    """

    facts: tuple[RuledFact, ...] = ()
    dropped: tuple[DroppedFact, ...] = ()


def rule_turn(candidates: Sequence[FactCandidate], context: AdmissionContext) -> TurnRulings:
    """Put together what is one fact, and rule on each.

    Args:
        candidates: Of all generators.
        context: The turn, and what is known about it.
    """
    placed = [_placed(candidate, context) for candidate in candidates]
    collapsed = collapse(placed, context.position)
    rulings = _rulings(collapsed, context)
    facts: list[RuledFact] = []
    dropped: list[DroppedFact] = []
    for ruling, each in zip(rulings, collapsed, strict=True):
        if ruling.disposition is Disposition.DROP:
            dropped.append(dropped_fact(ruling, each.also_found_by))
        elif len(facts) >= FACTS_MAX:
            cut = msgspec.structs.replace(ruling, reason=AdmissionReason.TOO_LONG, rule=_CAP_RULE)
            dropped.append(dropped_fact(cut, each.also_found_by))
        else:
            facts.append(RuledFact(ruling=ruling, also_found_by=each.also_found_by))
    return TurnRulings(facts=tuple(facts), dropped=tuple(dropped[:DROPPED_MAX]))


def _rulings(collapsed: Sequence[Collapsed], context: AdmissionContext) -> list[Ruling]:
    """One ruling for each fact. Words that another generator lent may not cost it anything: they are left out then."""
    rulings = list(rule_all([each.candidate for each in collapsed], context))
    spoilt = [
        place
        for place, (ruling, each) in enumerate(zip(rulings, collapsed, strict=True))
        if ruling.disposition is not Disposition.RECORD and each.candidate != each.bare
    ]
    for place, ruling in zip(spoilt, rule_all([collapsed[place].bare for place in spoilt], context), strict=True):
        if list(Disposition).index(ruling.disposition) < list(Disposition).index(rulings[place].disposition):
            rulings[place] = ruling
    return rulings


def dropped_fact(ruling: Ruling, also_found_by: tuple[str, ...] = ()) -> DroppedFact:
    """What is kept of a candidate that led to nothing, and of what else found it: never its text."""
    return DroppedFact(
        reason=ruling.reason,
        rule=ruling.rule,
        generator=ruling.candidate.generator,
        source_rule=ruling.candidate.rule,
        also=also_found_by,
    )


def _placed(candidate: FactCandidate, context: AdmissionContext) -> FactCandidate:
    """The candidate with the place of its quote, where that can be found; where it cannot, the policy says why."""
    if candidate.span is not None:
        return candidate
    found = locate(candidate, context)
    return msgspec.structs.replace(candidate, span=found) if isinstance(found, Span) else candidate
