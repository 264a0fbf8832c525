"""Governed clauses: what a clause with "that" says is not stated where the words before it deny it or ask about it.

Guards: the store against "it isn't true that we use BigQuery" and "please verify that we use BigQuery". Cost: a look at
the phrases of one sentence. Fails: towards nothing stored, up to the next punctuation: "it's false that I live in Rome,
I live in Oslo" states the second. A standing order to check something ("always verify that …") is no question, and
"it's true that …" states what follows.
"""

from __future__ import annotations

from typing import Final

from recalld.models.domain.reasons import AdmissionReason
from recalld.models.policy.admission.cue_words import Cue, Sighting
from recalld.models.policy.admission.finding import Scene
from recalld.models.policy.admission.sentence import Clause, Sentence
from recalld.models.policy.admission.strike import Strike, struck

_REASONS: Final = {Cue.UNTRUTHS: AdmissionReason.NEGATED, Cue.CHECKS: AdmissionReason.QUESTION}


def strike_governed(scene: Scene, place: int) -> Strike | None:
    """`negated` or `question` for a clause with words that deny it or ask about it, or behind them."""
    sentence = scene.sentence
    clause = sentence.clauses[place]
    for each in sentence.sightings:
        if each.cue in _REASONS and _governs(sentence, each, clause):
            return struck(scene, _REASONS[each.cue], each, is_local=each.cue is Cue.UNTRUTHS)
    return None


def _governs(sentence: Sentence, sighting: Sighting, clause: Clause) -> bool:
    """Whether a clause holds the phrase, or follows it before any punctuation."""
    if sighting.first >= clause.past_last or any(sighting.past_last < each <= clause.first for each in sentence.breaks):
        return False
    own = next(each for each in sentence.clauses if each.first <= sighting.first < each.past_last)
    if sighting.is_anchored and sighting.first not in {own.first, own.head}:
        return False
    return not own.opens_with(Cue.STANDING)
