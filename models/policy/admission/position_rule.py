"""Position: what each generator may write where this deployment stands, and what needs the user's yes first.

Guards: the store against the weaker generators. Cost: none. Fails: towards an observation or a question to the user.
Rules and explicit saves may become records; the judge's finds are observations, or records from a score on that depends
on `admission.position`; a model's are nothing, observations or records by that setting. A model's change of the user's
name or form of address, a model's standing order, and one that the judge is not sure of, wait for a yes: they change
what the assistant does in every later session. So does a permission, whoever found it and however sure.
"""

from __future__ import annotations

from typing import Final, assert_never

from recalld.models.domain.facts import Disposition, Generator
from recalld.models.domain.position import Position
from recalld.models.domain.reasons import AdmissionReason
from recalld.models.policy.admission.finding import Finding, Scene
from recalld.models.policy.admission.modality import is_standing_order
from recalld.models.policy.admission.permission import find_permission

NAMING_SLOTS: Final = frozenset({"name", "form_of_address"})
STANDING_SLOTS: Final = frozenset({"standing_instruction"})


def find_position(scene: Scene) -> Finding | None:
    """What the generator may not write here; None where it may write a record."""
    generator = scene.candidate.generator
    match generator:
        case Generator.EXPLICIT | Generator.CONFIRMED:
            return None
        case Generator.RULE:
            return find_permission(scene)
        case Generator.JUDGE:
            return find_permission(scene) or _judge(scene)
        case Generator.MODEL:
            return _model(scene)
        case _:
            assert_never(generator)


def _judge(scene: Scene) -> Finding | None:
    score, strict = scene.candidate.score, scene.context.judge_strict
    is_sure = score is not None and strict is not None and score >= strict
    if is_sure:
        return None
    return _confirmation(scene) or Finding(reason=AdmissionReason.WEAK_EVIDENCE, disposition=Disposition.OBSERVE)


def _model(scene: Scene) -> Finding | None:
    position = scene.context.position
    match position:
        case Position.STRICT:
            return Finding(reason=AdmissionReason.POSITION)
        case Position.BALANCED:
            return _confirmation(scene) or Finding(
                reason=AdmissionReason.WEAK_EVIDENCE, disposition=Disposition.OBSERVE
            )
        case Position.OPEN:
            return _confirmation(scene)
        case _:
            assert_never(position)


def _confirmation(scene: Scene) -> Finding | None:
    """What needs the user's yes, whoever is sure of it."""
    if (permission := find_permission(scene)) is not None:
        return permission
    candidate = scene.candidate
    is_naming = candidate.generator is Generator.MODEL and candidate.slot in NAMING_SLOTS
    if is_naming or candidate.slot in STANDING_SLOTS or is_standing_order(scene):
        return Finding(reason=AdmissionReason.NEEDS_CONFIRMATION, disposition=Disposition.PROPOSE)
    return None
