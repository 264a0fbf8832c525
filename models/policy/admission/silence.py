"""Why nothing was found in a turn: what the policy reads in its sentences.

Guards: the vocabulary of reasons, whose words and remedies are of use only where they are the true ones. Cost: that of
ruling on a few sentences, and nothing for a long turn. Fails: towards `nothing_stated`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from recalld.models.domain.facts import FactCandidate, Generator, Span
from recalld.models.domain.reasons import AdmissionReason
from recalld.models.policy.admission.context import AdmissionContext
from recalld.models.policy.admission.cue_words import Cue
from recalld.models.policy.admission.durability import judge_durability
from recalld.models.policy.admission.finding import Finding, Rule, Scene
from recalld.models.policy.admission.frames import find_fiction, find_refusal, find_task
from recalld.models.policy.admission.language_rule import find_unread_language
from recalld.models.policy.admission.modality import find_modality
from recalld.models.policy.admission.quotation import find_quotation
from recalld.models.policy.admission.secrets import PLACEHOLDER, find_secret
from recalld.models.policy.admission.turn_reading import TurnReading
from recalld.models.policy.host_text import strip_host_text
from recalld.models.policy.protected_spans import PRIVATE
from recalld.models.policy.save_turn import SaveTurn

CHARS_MAX: Final = 1_000
"""Characters of a turn whose sentences are read: a longer one is a document, and each part of it something else."""
SENTENCES_MAX: Final = 4
"""Sentences that are read."""
_RULES: Final[tuple[Rule, ...]] = (
    find_secret,
    find_refusal,
    find_quotation,
    find_fiction,
    find_task,
    find_unread_language,
    find_modality,
)


def asks_to_forget(reading: TurnReading) -> bool:
    """Whether a sentence of a turn asks to have something forgotten that is stored."""
    return any(each.cue is Cue.FORGETS for each in reading.frames)


def read_short(turn: SaveTurn) -> TurnReading | None:
    """A turn read as a whole; None for one without words, or with too many."""
    return TurnReading(turn) if turn.text and len(turn.text) <= CHARS_MAX else None


def why_silent(said: str, turn: SaveTurn, reading: TurnReading | None) -> AdmissionReason:
    """Why a turn in which nothing was found leads to nothing.

    The first sentence that speaks of the user decides, else the first one that has a reason. A sentence about the user
    to which nothing can be objected is `nothing_stated`.

    Args:
        said: The turn as it was sent, without secrets.
        turn: The user's own words of it.
        reading: See `read_short`.
    """
    if not turn.text:
        return _why_wordless(said)
    if reading is None:
        return AdmissionReason.NOTHING_STATED
    first: AdmissionReason | None = None
    for scene in _scenes(turn, reading):
        reason = _reason(scene)
        if any(clause.has(Cue.OWN) for clause in scene.sentence.clauses):
            return reason or AdmissionReason.NOTHING_STATED
        first = first or reason
    return first or AdmissionReason.NOTHING_STATED


def _why_wordless(said: str) -> AdmissionReason:
    """Why a turn has no words of the user's own: they marked them as private, or they are somebody else's."""
    sent = strip_host_text(said, is_strict=True)
    if PLACEHOLDER in sent:
        return AdmissionReason.SECRET
    if any(map(str.isalnum, PRIVATE.sub("", sent))):
        return AdmissionReason.QUOTATION
    return AdmissionReason.PRIVATE if PRIVATE.search(sent) is not None else AdmissionReason.NO_USER_TEXT


def _scenes(turn: SaveTurn, reading: TurnReading) -> Iterator[Scene]:
    """The first sentences of a turn, each as if a fact had been found in it. When it was said makes no difference."""
    context = AdmissionContext(turn=turn, at_ms=0, now_ms=0)
    for position in turn.sentence_starts[:SENTENCES_MAX]:
        start, end = position, turn.sentence_end(position)
        text = turn.text[start:end]
        if not any(map(str.isalnum, text)):
            continue
        candidate = FactCandidate(
            statement=text, quote=text, span=Span(start=start, end=end), generator=Generator.JUDGE, rule="silence"
        )
        yield Scene(
            candidate=candidate,
            start=start,
            end=end,
            context=context,
            reading=reading,
            sentence=reading.sentence(start, end),
        )


def _reason(scene: Scene) -> AdmissionReason | None:
    found: Finding | None = next((each for rule in _RULES if (each := rule(scene)) is not None), None)
    found = found or judge_durability(scene).finding
    return None if found is None else found.reason
