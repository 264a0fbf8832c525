"""Negation: what says only what is not so.

Guards: the store against "we're not on Redshift" becoming Redshift. Cost: a look at one clause. Fails: towards nothing
stored. Kept are endings ("no longer", "not … any more"), standing orders ("never use tabs", "don't ever …"), and what a
denial says of the speaker ("I'm not a fan of dark mode", "I don't eat meat"): only denials of being and of use are
listed.
"""

from __future__ import annotations

from recalld.models.domain.reasons import AdmissionReason
from recalld.models.policy.admission.cue_words import Cue
from recalld.models.policy.admission.finding import Scene
from recalld.models.policy.admission.strike import Strike, struck


def strike_negated(scene: Scene, place: int) -> Strike | None:
    """`negated` for a clause that denies something, and neither ends it nor forbids it for good."""
    clause = scene.sentence.clauses[place]
    if scene.candidate.is_ending or clause.has(Cue.KEPT_NEGATIONS, Cue.ENDINGS):
        return None
    denial = clause.find(Cue.DENIALS)
    if denial is None or scene.sentence.tokens[denial.first].start >= scene.end:  # it denies what follows the quote
        return None
    covered = range(denial.first, denial.past_last + 1)  # "not always" stands for nothing, nor does "never used"
    if any(each.cue is Cue.STANDING and each.first not in covered for each in clause.cues):
        return None
    return struck(scene, AdmissionReason.NEGATED, denial, is_local=True)
