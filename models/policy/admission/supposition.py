"""Suppositions: what is only imagined, weighed, planned or made a condition.

Guards: the store against "if we were on Databricks" and "suppose from now on everything were UTC". Cost: a look at one
sentence. Fails: towards nothing stored; but scoped to the clause: "If you have a minute: we use BigQuery now." states
what it states behind its courtesy, and a condition for a standing order ("if I paste a log, always …") is part of it.
"""

from __future__ import annotations

from typing import Final

from recalld.models.domain.reasons import AdmissionReason
from recalld.models.policy.admission.cue_words import Cue, Sighting
from recalld.models.policy.admission.finding import Scene
from recalld.models.policy.admission.sentence import Clause
from recalld.models.policy.admission.strike import Strike, struck

GOVERNED_MAX: Final = 4
"""Clauses behind "suppose" that belong to what is supposed; a sentence without stops says other things as well."""


def strike_supposed(scene: Scene, place: int) -> Strike | None:
    """`hypothetical` for a clause that is supposed, considered, or the condition of something."""
    clauses = scene.sentence.clauses
    clause = clauses[place]
    for earlier in clauses[max(0, place - GOVERNED_MAX) : place + 1]:
        supposed = earlier.find(Cue.SUPPOSITIONS)
        if supposed is not None and not _is_ordered(earlier, supposed):
            return struck(scene, AdmissionReason.HYPOTHETICAL, supposed)
    if clause.opens_with(Cue.STANDING):
        return None
    condition = clause.find(Cue.CONDITIONALS)
    if condition is not None and not clause.has(Cue.COURTESIES, Cue.STANDING):
        return struck(scene, AdmissionReason.HYPOTHETICAL, condition, is_local=True)
    if clause.has(Cue.WISHES):
        return None
    considered = clause.find(Cue.CONSIDERATIONS)
    if considered is None and scene.sentence.has(Cue.CONDITIONALS):
        considered = clause.find(Cue.MODALS)
    return struck(scene, AdmissionReason.HYPOTHETICAL, considered)


def _is_ordered(clause: Clause, supposed: Sighting) -> bool:
    """Whether it is an order for good: "always assume that …"."""
    return any(each.cue is Cue.STANDING and each.past_last <= supposed.first for each in clause.cues)
