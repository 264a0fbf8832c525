"""Reported speech: somebody else's words inside the user's.

Guards: the store against "our competitor says call it Delta". Cost: a look at one sentence. Fails: towards nothing
stored. What stands in quotation marks, mail and fences is told by `quotation`.
"""

from __future__ import annotations

from typing import Final

from recalld.models.domain.reasons import AdmissionReason
from recalld.models.policy.admission.cue_words import Cue
from recalld.models.policy.admission.finding import Scene
from recalld.models.policy.admission.strike import Strike, struck

GOVERNED_MAX: Final = 3
"""Clauses behind a verb of saying that are taken for what was said."""


def strike_reported(scene: Scene, place: int) -> Strike | None:
    """`quotation` for a clause with a verb of saying, and for what follows it in the sentence."""
    for clause in scene.sentence.clauses[max(0, place - GOVERNED_MAX) : place + 1]:
        if (reported := clause.find(Cue.REPORTS)) is not None:
            return struck(scene, AdmissionReason.QUOTATION, reported)
    return None
