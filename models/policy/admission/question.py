"""Questions, with and without a question mark.

Guards: the store against "do we use Snowflake?" becoming a fact, and the next question finding it. Cost: a look at one
sentence. Fails: towards nothing stored; but a reason given with a question is stated: "since I'm vegetarian, what could
I cook tonight?" says that the user is vegetarian.
"""

from __future__ import annotations

from typing import Final

from recalld.models.domain.reasons import AdmissionReason
from recalld.models.policy.admission.cue_words import Cue, Sighting
from recalld.models.policy.admission.finding import Scene
from recalld.models.policy.admission.sentence import Clause, Sentence
from recalld.models.policy.admission.strike import Strike, struck

TAG_WORDS_MAX: Final = 5
"""Words of a clause that makes a question of the statement before it, at most: "or isn't it"."""


def strike_asked(scene: Scene, place: int) -> Strike | None:
    """`question` for a clause that asks, or that belongs to one."""
    sentence = scene.sentence
    clause = sentence.clauses[place]
    if (tag := _plain_tag(sentence)) is not None:
        return struck(scene, AdmissionReason.QUESTION, tag)
    if _is_order(sentence, clause) or (place > 0 and not sentence.is_question and clause.opens_with(Cue.RELATIVES)):
        return None
    if (asked := clause.find(Cue.ASKS)) is not None:
        return struck(scene, AdmissionReason.QUESTION, asked)
    if not sentence.is_question or clause.opens_with(Cue.REASONS):
        return None
    if (asked := clause.find(Cue.MARKED_ASKS)) is not None:
        return struck(scene, AdmissionReason.QUESTION, asked)
    first = _first_asking(sentence)
    is_stated = place < first or (place > first and clause.opens_with(Cue.OWN))
    return None if is_stated else Strike(AdmissionReason.QUESTION)


def _first_asking(sentence: Sentence) -> int:
    """The first clause that asks; 0 where a tag makes a question of all ("we use Redis, right?")."""
    last = sentence.clauses[-1]
    if last.opens_with(Cue.TAGS) and last.length <= TAG_WORDS_MAX:
        return 0
    found = (place for place, each in enumerate(sentence.clauses) if each.has(Cue.ASKS, Cue.MARKED_ASKS))
    return next(found, len(sentence.clauses) - 1)


def _plain_tag(sentence: Sentence) -> Sighting | None:
    """What makes a question of a sentence without a question mark: all that stands behind its last comma is a tag."""
    if sentence.is_question or not sentence.breaks:
        return None
    last = max(sentence.breaks), len(sentence.tokens)
    return next(
        (each for each in sentence.sightings if each.cue is Cue.PLAIN_TAGS and (each.first, each.past_last) == last),
        None,
    )


def _is_order(sentence: Sentence, clause: Clause) -> bool:
    """Whether it only has the form of a question: "could you always …?", "should you be unsure, say so"."""
    is_polite = clause.has(Cue.STANDING) and any(each.has(Cue.WISHES) for each in sentence.clauses)
    return is_polite or (clause.opens_with(Cue.STANDING) and not sentence.is_question)
