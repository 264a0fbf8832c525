"""Requests: something to do once, and not something that holds.

Guards: the store against "please call me tomorrow" and "use tabs in this file" becoming standing orders. Cost: a look
at one sentence. Fails: towards nothing stored: an order counts as standing only where it says so ("always", "from now
on", "when I paste a log …"), or says how to address somebody or how to answer ("keep answers short").
"""

from __future__ import annotations

from recalld.models.domain.facts import Generator
from recalld.models.domain.reasons import AdmissionReason
from recalld.models.policy.admission.cue_words import Cue, Sighting
from recalld.models.policy.admission.finding import Scene
from recalld.models.policy.admission.sentence import Clause
from recalld.models.policy.admission.strike import Strike, struck

LIMIT_WORDS_MAX = 2
"""Words beside the limit in a clause that does nothing but limit the one beside it: "and for this report"."""
_STANDING = (Cue.STANDING, Cue.CONDITIONALS, Cue.ENDINGS)
_MANNERS = frozenset({"answer_language", "answer_length", "answer_format", "tone"})
"""How to answer: what a rule finds of it is about every answer, unless the clause names the one that it is about."""
_UNTIL = (Cue.UNTILS, Cue.WEEK_ENDS, Cue.MONTH_ENDS, Cue.YEAR_ENDS)
"""In front of an order, what says that it stands until then; elsewhere it may be the verb's: "wait until Friday"."""


def strike_requested(scene: Scene, place: int) -> Strike | None:
    """`request` for a clause that tells the assistant to do something, unless it says that it stands."""
    sentence = scene.sentence
    clause = sentence.clauses[place]
    near = sentence.clauses[max(0, place - 1) : place + 2]
    order = clause.find(Cue.IMPERATIVES)
    limits = [clause.find(Cue.FOR_ONCE)]
    if order is not None or clause.opens_with(Cue.STANDING):
        limits += (_place_at_hand(clause), *map(_limit, near))
    if (limit := next(filter(None, limits), None)) is not None:
        return struck(scene, AdmissionReason.REQUEST, limit)
    if order is None:
        return None
    if not clause.opens_with(Cue.STANDING) and any(each.has(Cue.ONE_OFFS) for each in near):
        return struck(scene, AdmissionReason.REQUEST, order)
    if clause.has(Cue.ADDRESSES) or any(each.has(*_STANDING) or each.opens_with(*_UNTIL) for each in near):
        return None
    if scene.candidate.generator is Generator.RULE and scene.candidate.slot in _MANNERS:
        return None
    return struck(scene, AdmissionReason.REQUEST, order)


def _place_at_hand(clause: Clause) -> Sighting | None:
    """What limits an order to where it is given: "always use short words here", and not "here at Acme"."""
    return next(
        (
            each
            for each in clause.cues
            if each.cue is Cue.PLACES and (each.past_last == clause.past_last or each.past_last - each.first > 1)
        ),
        None,
    )


def _limit(clause: Clause) -> Sighting | None:
    """What a clause limits the one beside it to, where it does nothing else: "for this report, always use tabs"."""
    limit = clause.find(Cue.FOR_ONCE)
    is_all = limit is not None and clause.length - (limit.past_last - limit.first) <= LIMIT_WORDS_MAX
    return limit if is_all else None
