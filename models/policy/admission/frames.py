"""Frames: refusals, plays, tales, tasks and requests to forget, which say of their clause and more that it is no fact.

Guards: the store against a pirate's name, a novel's hero, a sentence to be translated, and what the user asked not to
be kept. Cost: none per candidate; frames are found once per turn. Fails: closed. A play goes on to the end of the turn,
a tale to the end of its paragraph, a task to the end of its sentence or, behind a colon, of the turn, a request to
forget to the end of its clause; a joke takes back what stands before it, in its sentence or in the one before; a
refusal covers the whole turn, because what it refuses may stand on either side of it.
"""

from __future__ import annotations

from typing import Final

from recalld.models.domain.reasons import AdmissionReason
from recalld.models.policy.admission.cue_words import Cue
from recalld.models.policy.admission.finding import Finding, Scene

_REASONS: Final = {
    Cue.FORGETS: AdmissionReason.FORGET_REQUEST,
    Cue.REFUSALS: AdmissionReason.REFUSED_IN_COMMAND,
    Cue.ROLE_PLAYS: AdmissionReason.FICTION,
    Cue.FICTIONS: AdmissionReason.FICTION,
    Cue.TASKS: AdmissionReason.REQUEST,
    Cue.REWORKINGS: AdmissionReason.REQUEST,
    Cue.DRAFTS: AdmissionReason.REQUEST,
    Cue.CHOICES: AdmissionReason.REQUEST,
    Cue.JESTS: AdmissionReason.FICTION,
}


def find_forgetting(scene: Scene) -> Finding | None:
    """`forget_request` for what the user asks to have forgotten: naming it must not store it."""
    return _frame(scene, Cue.FORGETS)


def find_refusal(scene: Scene) -> Finding | None:
    """`refused_in_command` for everything in a turn that asks not to be kept."""
    return _frame(scene, Cue.REFUSALS)


def find_fiction(scene: Scene) -> Finding | None:
    """`fiction` for what belongs to a play or a tale."""
    return _frame(scene, Cue.ROLE_PLAYS) or _frame(scene, Cue.FICTIONS)


def find_task(scene: Scene) -> Finding | None:
    """`request` for words that the assistant is to work on."""
    kinds = (Cue.TASKS, Cue.REWORKINGS, Cue.DRAFTS, Cue.CHOICES)
    return next(filter(None, (_frame(scene, each) for each in kinds)), None)


def find_jest(scene: Scene) -> Finding | None:
    """`fiction` for what the user takes back as a joke."""
    return _frame(scene, Cue.JESTS)


def _frame(scene: Scene, cue: Cue) -> Finding | None:
    frame = scene.reading.frame(cue, scene.start, scene.end)
    return None if frame is None else Finding(reason=_REASONS[cue], evidence=(frame.words,))
