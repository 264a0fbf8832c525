"""The past: what held once.

Guards: the store against "I used to live in Rome" and "our Redshift was shut down in May". Cost: a look at one clause.
Fails: towards nothing stored; but what has stayed so ("was born in 1980"), what ends something ("no longer"), and what
says that it holds now ("… and still do") is no past. "I used to live in Rome, now I live in Turin" keeps Turin.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Final

from recalld.models.domain.reasons import AdmissionReason
from recalld.models.policy.admission.cue_words import Cue
from recalld.models.policy.admission.finding import Scene
from recalld.models.policy.admission.sentence import Clause
from recalld.models.policy.admission.strike import Strike, struck

_YEAR: Final = re.compile(r"(?:19|20)\d\d", re.ASCII)


def strike_past(scene: Scene, place: int) -> Strike | None:
    """`past` for a clause that speaks of what was, and says nothing of now."""
    clause = scene.sentence.clauses[place]
    if scene.candidate.is_ending or clause.has(Cue.PRESENT, Cue.PAST_EXEMPT, Cue.ENDINGS):
        return None
    past = clause.find(Cue.PASTS)
    if past is None and _has_past_year(scene, clause):
        past = clause.find(Cue.PAST_VERBS)
    return struck(scene, AdmissionReason.PAST, past)


def _has_past_year(scene: Scene, clause: Clause) -> bool:
    present = datetime.fromtimestamp(scene.context.at_ms / 1000, UTC).year
    tokens = scene.sentence.tokens[clause.first : clause.past_last]
    return any(_YEAR.fullmatch(each.text) is not None and int(each.text) < present for each in tokens)
