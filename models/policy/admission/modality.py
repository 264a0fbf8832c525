"""Modality: whether any clause of what a candidate quotes states something, and if none does, why.

Guards: the store against questions, requests, suppositions, guesses, denials, reports and the past. Cost: a few looks
at each clause of one sentence. Fails: closed. Each clause is judged on its own, so that one which is rejected never
hides a valid one beside it: "we're on Snowflake? no, we're on BigQuery" keeps the second.
"""

from __future__ import annotations

from typing import Final

from recalld.models.domain.reasons import AdmissionReason
from recalld.models.policy.admission.cue_words import Cue
from recalld.models.policy.admission.durability import strike_situational
from recalld.models.policy.admission.finding import Finding, Scene
from recalld.models.policy.admission.governed import strike_governed
from recalld.models.policy.admission.guess import strike_guessed
from recalld.models.policy.admission.negation import strike_negated
from recalld.models.policy.admission.past import strike_past
from recalld.models.policy.admission.question import strike_asked
from recalld.models.policy.admission.report import strike_reported
from recalld.models.policy.admission.request import strike_requested
from recalld.models.policy.admission.sentence import Clause, Sentence
from recalld.models.policy.admission.strike import ClauseRule, Strike
from recalld.models.policy.admission.supposition import strike_supposed
from recalld.models.policy.admission.third_person import strike_third_person

CLAUSE_RULES: Final[tuple[ClauseRule, ...]] = (
    strike_governed,
    strike_reported,
    strike_asked,
    strike_supposed,
    strike_requested,
    strike_guessed,
    strike_negated,
    strike_past,
    strike_situational,
    strike_third_person,
)
STATING_WORDS_MIN: Final = 2
"""Words a clause beside a struck one must have to state anything."""

KNOWN_WORDS_MIN: Final = 4
"""Words a clause must have to say how something is: article, noun, verb, and what it says."""
_DEFINITE: Final = frozenset({"the", "der", "die", "das", "le", "la", "les", "l", "el", "los", "las"})
_COPULAS: Final = frozenset(
    {"is", "are", "'s", "'re", "has", "have", "ist", "sind", "hat", "haben", "est", "sont", "a", "ont", "es", "son"}
    | {"está", "están", "tiene", "tienen"}
)


def find_modality(scene: Scene) -> Finding | None:
    """The reason of the first struck clause, where no clause of the quote states anything."""
    sentence = scene.sentence
    own = _judged_clauses(scene)
    strikes = {place: _strike(scene, place) for place in own}
    found = [each for each in strikes.values() if each is not None]
    if not found:
        return None
    first = found[0]
    stating = (sentence.clauses[place] for place, strike in strikes.items() if strike is None)
    if any(_states(sentence, clause, first) for clause in stating):
        return None
    return Finding(reason=first.reason, evidence=(first.words,) if first.words else ())


def _judged_clauses(scene: Scene) -> range:
    """The clauses of the quote, or the one that holds the value where the candidate names it."""
    own = scene.sentence.within(scene.start, scene.end)
    value = scene.candidate.value
    at = scene.context.turn.text.find(value, scene.start, scene.end) if value else -1
    inside = scene.sentence.within(at, at + len(value)) if at >= 0 else range(0)
    return inside or own


def _strike(scene: Scene, place: int) -> Strike | None:
    return next((found for rule in CLAUSE_RULES if (found := rule(scene, place)) is not None), None)


def _states(sentence: Sentence, clause: Clause, beside: Strike) -> bool:
    """Whether a clause beside a struck one states something for itself.

    Beside a denial or a condition, anything does: "it's Graz, not Linz". Beside a question, a request and so on it must
    speak of the user or say that it stands (behind punctuation, beside a request, it may also say how something is),
    and beside the past it must speak of the user or of now.
    """
    if clause.length < STATING_WORDS_MIN or (clause.opens_with(Cue.RELATIVES) and not clause.opens_with(Cue.REASONS)):
        return False
    is_set_apart = clause.first in sentence.breaks
    if beside.reason is AdmissionReason.REQUEST and _only_stands(clause):
        return False
    if beside.is_local:
        return True
    if beside.reason is AdmissionReason.PAST:
        return clause.has(Cue.OWN, Cue.PRESENT, Cue.ENDINGS)
    if clause.has(Cue.OWN, Cue.STANDING, Cue.ENDINGS, Cue.PRESENT, Cue.KEPT_NEGATIONS):
        return True
    return beside.reason is AdmissionReason.REQUEST and is_set_apart and _says_how_it_is(sentence, clause)


def _only_stands(clause: Clause) -> bool:
    """Whether a clause says nothing but that what is beside it stands: "from now on, …"."""
    phrase = clause.find(Cue.STANDING)
    if phrase is None or clause.opens_with(Cue.CONDITIONALS):
        return False
    return clause.length - (phrase.past_last - phrase.first) < STATING_WORDS_MIN


def _says_how_it_is(sentence: Sentence, clause: Clause) -> bool:
    """Whether a clause beside a request says how something known is: "…; the cluster is stuck on 3.8".

    It must begin with a definite noun and have a finite verb that is no part of an order, and concern no one thing.
    """
    words = [token.text for token in sentence.tokens[clause.head : clause.past_last]]
    if len(words) < KNOWN_WORDS_MIN or clause.has(Cue.ONE_OFFS, Cue.FOR_ONCE, Cue.IMPERATIVES, Cue.OUTSIDERS):
        return False
    return words[0] in _DEFINITE and not _COPULAS.isdisjoint(words[2:])


def is_standing_order(scene: Scene) -> bool:
    """Whether what is quoted tells the assistant what to do from now on."""
    sentence = scene.sentence
    quoted = [sentence.clauses[place] for place in sentence.within(scene.start, scene.end)]
    is_order = any(each.has(Cue.IMPERATIVES, Cue.ADDRESSES, Cue.WISHES) for each in quoted)
    return is_order and any(each.has(Cue.STANDING, Cue.ENDINGS, Cue.ADDRESSES) for each in quoted)
