"""Support: whether the words that a candidate quotes say what its statement says.

Guards: the store against "I hate cilantro" stored as a liking, and against what a model made up. Cost: two short
texts read. Fails: closed: numbers of the statement must stand in the turn, a statement turns round nothing that the
quote says, and a model's is about whom and what the quoted sentence is about.
"""

from __future__ import annotations

from typing import Final

from recalld.models.domain.facts import Disposition, Generator
from recalld.models.domain.reasons import AdmissionReason
from recalld.models.policy.admission.cue_words import Cue
from recalld.models.policy.admission.faithfulness import Fault, find_fault
from recalld.models.policy.admission.finding import Finding, Scene
from recalld.models.policy.load_bearing import LoadBearing, load_bearing
from recalld.models.policy.stop_words import DEFAULT_LANGUAGE

_HELD: Final = frozenset({Generator.MODEL, Generator.JUDGE, Generator.RULE})
LIKINGS: Final = frozenset({"like", "likes", "love", "loves", "prefer", "prefers", "enjoy", "enjoys", "want", "wants"})
"""Verbs of a statement that need a quote without denial: "prefers cilantro" of "I hate cilantro"."""


def find_unsupported(scene: Scene) -> Finding | None:
    """`not_user_stated` for a statement whose polarity, numbers or names the user's words do not have."""
    candidate = scene.candidate
    is_model = candidate.generator is Generator.MODEL
    if candidate.generator not in _HELD or scene.sentence.language != DEFAULT_LANGUAGE:
        return _unfaithful(scene) if is_model else None
    if not is_model and LIKINGS.isdisjoint(candidate.statement.lower().split()):
        return None
    quote = scene.context.turn.text[scene.start : scene.end]
    said, stated = load_bearing(quote), load_bearing(candidate.statement)
    if _is_turned_round(scene, said, stated):
        return Finding(reason=AdmissionReason.NOT_USER_STATED, evidence=(quote,))
    return _invented(scene, stated) or _unfaithful(scene) if is_model else None


def _invented(scene: Scene, stated: LoadBearing) -> Finding | None:
    """Numbers and names of a statement that the turn does not have."""
    own = load_bearing(scene.context.turn.text)
    invented = stated.numbers - own.numbers - own.words
    if invented or stated.names - own.words:
        return Finding(reason=AdmissionReason.NOT_USER_STATED, evidence=tuple(sorted(invented))[:1])
    return None


def _unfaithful(scene: Scene) -> Finding | None:
    """What the quoted sentence does not bear out of a model's statement; see `faithfulness`."""
    turn, start, end = scene.context.turn, scene.start, scene.end
    opening, past = turn.sentence_start(start), turn.sentence_end(max(start, end - 1))
    quote = turn.text[start:end]
    fault = find_fault(
        scene.candidate.statement,
        quote,
        turn.text[opening:past],
        turn.text[opening:end],
        said_in=scene.sentence.language,
    )
    if fault is None:
        return None
    if fault is Fault.UNSEEN:
        return Finding(reason=AdmissionReason.WEAK_EVIDENCE, disposition=Disposition.OBSERVE, evidence=(quote,))
    return Finding(reason=AdmissionReason.NOT_USER_STATED, evidence=(quote,))


def _is_turned_round(scene: Scene, said: LoadBearing, stated: LoadBearing) -> bool:
    """Whether a liking is made of a dislike: the one polarity that statements keep getting wrong."""
    sentence = scene.sentence
    is_ending = any(sentence.clauses[place].has(Cue.ENDINGS) for place in sentence.within(scene.start, scene.end))
    if is_ending or not (stated.words & LIKINGS):
        return False
    if said.affirmed & LIKINGS:
        return False
    return said.is_negated and not stated.is_negated and bool(said.negated & stated.affirmed)
