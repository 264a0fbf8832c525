"""Capability claims: what the assistant can or cannot do.

Guards: the store against "you can't process audio", which was true of one model on one day and would keep the next one
from trying. Cost: a look at the statement. Fails: closed.
"""

from __future__ import annotations

from recalld.models.domain.reasons import AdmissionReason
from recalld.models.policy.admission.cue_words import Cue
from recalld.models.policy.admission.finding import Finding, Scene
from recalld.models.policy.admission.statement_cues import statement_cues


def find_capability_claim(scene: Scene) -> Finding | None:
    """`capability_claim` where the quote, or the statement made of it, says what the assistant can do."""
    sentence = scene.sentence
    quoted = (sentence.clauses[place] for place in sentence.within(scene.start, scene.end))
    claims = [sentence.words(claim) for each in quoted if (claim := each.find(Cue.CAPABILITIES)) is not None]
    claims += [words for cue, words in statement_cues(scene.candidate.statement) if cue is Cue.CAPABILITIES]
    return Finding(reason=AdmissionReason.CAPABILITY_CLAIM, evidence=tuple(claims[:1])) if claims else None


def find_inability(scene: Scene) -> Finding | None:
    """`capability_claim` for what even a command to remember does not make last: "remember that you cannot open PDFs".

    "Remember that you cannot touch production" is a rule, and stays one.
    """
    claims = [words for cue, words in statement_cues(scene.candidate.statement) if cue is Cue.INABILITIES]
    return Finding(reason=AdmissionReason.CAPABILITY_CLAIM, evidence=tuple(claims[:1])) if claims else None
