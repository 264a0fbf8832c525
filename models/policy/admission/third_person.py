"""Third persons: what is said of people and companies that are not the user's, and of the world at large.

Guards: the store against "my friend prefers Vim" becoming the user's preference. Cost: a look at one sentence. Fails:
towards nothing stored, but the user's own people are the user's to speak for: family, team, pets, clients ("my
daughter is allergic to nuts"), and so is who somebody is to them ("my dentist is Dr. Öz").
"""

from __future__ import annotations

from recalld.models.domain.reasons import AdmissionReason
from recalld.models.policy.admission.cue_words import Cue, Sighting
from recalld.models.policy.admission.finding import Scene
from recalld.models.policy.admission.sentence import Clause
from recalld.models.policy.admission.strike import Strike, struck

_OTHERS = (Cue.OUTSIDERS, Cue.GENERALITIES)


def strike_third_person(scene: Scene, place: int) -> Strike | None:
    """`third_person` for a clause about an outsider, and for what follows it in the sentence without the user."""
    if scene.sentence.clauses[place].has(Cue.NAMINGS):
        return None
    for earlier in reversed(scene.sentence.clauses[: place + 1]):
        other = earlier.find(*_OTHERS)
        if _speaks_of_self(earlier, other):
            return None
        if other is not None:
            return struck(scene, AdmissionReason.THIRD_PERSON, other)
    return None


def _speaks_of_self(clause: Clause, other: Sighting | None) -> bool:
    """Whether it has a first person beside that of "my friend"."""
    covered = range(0) if other is None else range(other.first, other.past_last)
    return any(each.cue is Cue.OWN and each.first not in covered for each in clause.cues)
