"""Guesses: what the user is not sure of.

Guards: the store against "we probably use Kafka". Cost: a look at three clauses. Fails: towards nothing stored. A
remark of its own beside a statement ("not sure though", "I think") makes a guess of it as well.
"""

from __future__ import annotations

from typing import Final

from recalld.models.domain.reasons import AdmissionReason
from recalld.models.policy.admission.cue_words import Cue, Sighting
from recalld.models.policy.admission.finding import Scene
from recalld.models.policy.admission.sentence import Clause
from recalld.models.policy.admission.strike import Strike, struck

REMARK_WORDS_MAX: Final = 5
"""A neighbouring clause of so many words is a remark on the statement, and no statement of its own."""


def strike_guessed(scene: Scene, place: int) -> Strike | None:
    """`guess` for a clause that says that it is one, or has a remark beside it that does."""
    clauses = scene.sentence.clauses
    remembered = next(filter(None, map(_memory, clauses[place : place + 2])), None)
    if remembered is not None:
        return struck(scene, AdmissionReason.GUESS, remembered)
    if clauses[place].opens_with(Cue.STANDING):  # "when you are not sure, say so" is an order
        return None
    beside = (each for each in clauses[max(0, place - 1) : place + 2] if _is_remark(each))
    for clause in (clauses[place], *beside):
        if (doubt := clause.find(Cue.GUESSES)) is not None:
            return struck(scene, AdmissionReason.GUESS, doubt)
    believed = next(filter(None, map(_belief, clauses[place : place + 2])), None)
    return struck(scene, AdmissionReason.GUESS, believed)


def _memory(clause: Clause) -> Sighting | None:
    """A condition on what the user remembers, which is no courtesy behind a statement: "…, if I remember correctly"."""
    guess = clause.find(Cue.GUESSES)
    is_condition = (
        guess is not None and guess.first in {clause.first, clause.head} and clause.length <= REMARK_WORDS_MAX
    )
    return guess if is_condition else None


def _belief(clause: Clause) -> Sighting | None:
    """What a clause says to be believed that says nothing else: "…, I think"."""
    belief = clause.find(Cue.BELIEFS)
    return belief if belief is not None and belief.past_last - belief.first == clause.length else None


def _is_remark(clause: Clause) -> bool:
    return clause.length <= REMARK_WORDS_MAX and not clause.opens_with(Cue.STANDING)
