"""Permissions: what lets the assistant act more freely than it did.

Guards: the user's say in what is done in their name. Cost: a look at the clauses of the quote. Fails: towards asking
the user: a permission becomes a memory only with a yes, whoever found it and however sure, and is never noted as
evidence, so that saying it often does not make it one either. What narrows what the assistant does ("never deploy
without asking me") is no permission.
"""

from __future__ import annotations

from recalld.models.domain.facts import Disposition
from recalld.models.domain.reasons import AdmissionReason
from recalld.models.policy.admission.cue_words import Cue, Sighting
from recalld.models.policy.admission.finding import Finding, Scene
from recalld.models.policy.admission.sentence import Clause


def find_permission(scene: Scene) -> Finding | None:
    """`needs_confirmation` for a quote that allows the assistant something."""
    sentence = scene.sentence
    clauses = (sentence.clauses[place] for place in sentence.within(scene.start, scene.end))
    allowed = next((found for each in clauses if (found := _permission(each)) is not None), None)
    if allowed is None:
        return None
    return Finding(
        reason=AdmissionReason.NEEDS_CONFIRMATION,
        disposition=Disposition.PROPOSE,
        evidence=(sentence.words(allowed),),
    )


def _permission(clause: Clause) -> Sighting | None:
    """What allows something in a clause that forbids nothing. How to address somebody is no permission."""
    found = clause.find(Cue.PERMISSIONS)
    if found is None and not clause.opens_with(Cue.OWN):
        found = clause.find(Cue.GRANTS)
    if found is None or clause.has(Cue.ADDRESSES):
        return None
    is_forbidden = any(
        each.cue is Cue.PROHIBITIONS and not found.first <= each.first < found.past_last for each in clause.cues
    )
    return None if is_forbidden else found
