"""The pipeline: every rule in turn, gravest first. A stage only removes a candidate or lowers it.

Guards: the store. Errors of precision have no remedy further down, so doubt ends in an observation or in nothing.
Cost: the turn is read once for all of its candidates; then a look at one sentence for each. Fails: closed.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice
from typing import Final

import msgspec

from recalld.models.domain.admission import Speaker
from recalld.models.domain.facts import Disposition, FactCandidate, Generator, Ruling
from recalld.models.domain.reasons import AdmissionReason
from recalld.models.policy.admission.capability import find_capability_claim, find_inability
from recalld.models.policy.admission.context import AdmissionContext
from recalld.models.policy.admission.durability import judge_durability
from recalld.models.policy.admission.echo import find_echo
from recalld.models.policy.admission.finding import Finding, Rule, Scene
from recalld.models.policy.admission.frames import find_fiction, find_forgetting, find_jest, find_refusal, find_task
from recalld.models.policy.admission.injection import find_injection
from recalld.models.policy.admission.language_rule import find_unread_language
from recalld.models.policy.admission.modality import find_modality
from recalld.models.policy.admission.position_rule import find_position
from recalld.models.policy.admission.quotation import find_quotation
from recalld.models.policy.admission.quoted_words import find_all, locate
from recalld.models.policy.admission.secrets import find_secret
from recalld.models.policy.admission.support import find_unsupported
from recalld.models.policy.admission.turn_reading import TurnReading

_EVERY: Final[tuple[tuple[str, Rule], ...]] = (
    ("secrets", find_secret),
    ("injection", find_injection),
    ("jest", find_jest),
    ("inability", find_inability),
)
"""Rules that hold for everybody, the user's own command included."""
_FOUND: Final[tuple[tuple[str, Rule], ...]] = (
    ("refusal", find_refusal),
    ("forgetting", find_forgetting),
    ("quotation", find_quotation),
    ("fiction", find_fiction),
    ("task", find_task),
    ("language", find_unread_language),
    ("modality", find_modality),
    ("capability", find_capability_claim),
    ("support", find_unsupported),
    ("echo", find_echo),
    ("position", find_position),
)
"""Rules for what a generator found; a command to remember has had its own."""
OCCURRENCES_MAX: Final = 4
"""Places of one quote that are looked at."""
_ORDER: Final = tuple(Disposition)
_ADMITTED: Final = {
    Generator.RULE: AdmissionReason.STATED,
    Generator.JUDGE: AdmissionReason.JUDGED,
    Generator.MODEL: AdmissionReason.MODEL_FOUND,
    Generator.EXPLICIT: AdmissionReason.EXPLICIT_SAVE,
    Generator.CONFIRMED: AdmissionReason.CONFIRMED,
}


def rule_on(candidate: FactCandidate, context: AdmissionContext) -> Ruling:
    """Rule on one candidate; see `rule_all`, which reads the turn once for several."""
    return rule_all((candidate,), context)[0]


def rule_all(candidates: Iterable[FactCandidate], context: AdmissionContext) -> tuple[Ruling, ...]:
    """Rule on the candidates of one turn, each on its own.

    Args:
        candidates: What the generators found, in any order.
        context: The turn and what is known around it. Secrets were redacted from it before it was prepared.

    Returns:
        One ruling for each, in the same order. A candidate comes back with its span and, where its words or its
        generator name one, its expiry.
    """
    listed = tuple(candidates)
    if context.speaker is not Speaker.USER:
        return tuple(_dropped(each, AdmissionReason.NOT_USER_SPEAKER, "speaker") for each in listed)
    reading = TurnReading(context.turn) if listed else None
    return tuple(_rule_best(each, context, reading) for each in listed) if reading is not None else ()


def _rule_best(candidate: FactCandidate, context: AdmissionContext, reading: TurnReading) -> Ruling:
    """Rule on a candidate where it stands; a model's quote that the user said again counts where it counts most."""
    best = _rule(candidate, context, reading)
    if candidate.generator is not Generator.MODEL or best.disposition is not Disposition.DROP:
        return best
    own = context.turn.text
    for span in islice(find_all(candidate.quote, own), OCCURRENCES_MAX):
        if span != best.candidate.span:
            there = msgspec.structs.replace(candidate, span=span, quote=own[span.start : span.end])
            ruling = _rule(there, context, reading)
            if _ORDER.index(ruling.disposition) < _ORDER.index(best.disposition):
                best = ruling
    return best


def _rule(candidate: FactCandidate, context: AdmissionContext, reading: TurnReading) -> Ruling:
    span = locate(candidate, context)
    if isinstance(span, Ruling):
        return span
    located = msgspec.structs.replace(candidate, span=span)
    scene = Scene(
        candidate=located,
        start=span.start,
        end=span.end,
        context=context,
        reading=reading,
        sentence=reading.sentence(span.start, span.end),
    )
    is_asked_for = candidate.generator in {Generator.EXPLICIT, Generator.CONFIRMED}
    best = Ruling(
        candidate=located, disposition=Disposition.RECORD, reason=_ADMITTED[candidate.generator], rule="admitted"
    )
    for name, rule in _EVERY if is_asked_for else (*_EVERY, *_FOUND):
        found = rule(scene)
        if found is not None:
            best = _lowered(best, found, name)
            if best.disposition is Disposition.DROP:
                return best
    return _with_expiry(best, scene)


def _with_expiry(ruling: Ruling, scene: Scene) -> Ruling:
    durability = judge_durability(scene)
    if durability.finding is not None:
        return _lowered(ruling, durability.finding, "durability")
    if durability.expires_at_ms is None:
        return ruling
    candidate = msgspec.structs.replace(ruling.candidate, expires_at_ms=durability.expires_at_ms)
    return msgspec.structs.replace(ruling, candidate=candidate)


def _lowered(ruling: Ruling, found: Finding, rule: str) -> Ruling:
    """The ruling after a finding, which never raises it."""
    if _ORDER.index(found.disposition) <= _ORDER.index(ruling.disposition):
        return ruling
    return Ruling(
        candidate=ruling.candidate,
        disposition=found.disposition,
        reason=found.reason,
        rule=rule,
        evidence=found.evidence,
    )


def _dropped(candidate: FactCandidate, reason: AdmissionReason, rule: str) -> Ruling:
    return Ruling(candidate=candidate, disposition=Disposition.DROP, reason=reason, rule=rule)
