"""The turn gate: is there anything in this turn to recall for?

Guards: the latency of turns that ask for nothing, and the user's attention during them. Cost: linear in the text, after
host text is removed in what `turn_cut` leaves of it; least for a turn that plainly asks for nothing.
Fails: open. A turn is skipped only by a rule that names what it lacks; weak evidence and every error mean run, unless
the direction knobs in force say otherwise.
Error rates: no single rule is good on its own; the twelve labelled cases beside the tests count each one's false yes
and false no, alone and together.

Rules by cost: what plainly asks for nothing; what plainly asks for the past; what leans on nothing or only on the last
turns; what the store knows; a model, if the caller has one; the direction for what is left.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

import msgspec

from recalld.models.domain.reasons import RecallReason
from recalld.models.domain.turn_parts import MessagePart
from recalld.models.policy.protected_spans import mask_code_and_quotes
from recalld.models.policy.temporal.time_span import TimeSpan
from recalld.models.policy.turn.cues import CueFamily, find_cues
from recalld.models.policy.turn.directions import DEFAULT_DIRECTIONS, Directions, GateAnswer, GateCause, GateOperation
from recalld.models.policy.turn.lists import SPACED_LANGUAGES, likely_languages
from recalld.models.policy.turn.model_answer import ModelAnswer, ModelAnswerError
from recalld.models.policy.turn.probe import ProbeResult, mentioned_entities, posted_terms, probe_terms
from recalld.models.policy.turn.references import find_local_references, find_reference, terms_outside
from recalld.models.policy.turn.skips import is_too_short, plain_no
from recalld.models.policy.turn.turn_input import (
    NOT_SUPPLIED,
    FindTimes,
    NotSupplied,
    TurnInput,
    own_words,
)
from recalld.models.policy.turn.verdict import TurnEvidence, TurnGateVerdict, TurnRule
from recalld.models.policy.turn.words import TurnWords, read_words
from recalld.models.policy.turn_cut import READ_CHARS_MAX, cut_turn
from recalld.models.policy.visible import has_visible

LOOKED_AT_CHARS_MAX = READ_CHARS_MAX
"""Characters in which anything at all is looked for; `turn_cut` says which those are of a longer message."""

_SKIP_REASONS: Mapping[TurnRule, RecallReason] = MappingProxyType(
    {
        TurnRule.NO_USER_TEXT: RecallReason.NO_USER_TEXT,
        TurnRule.NO_SEARCHABLE_TERMS: RecallReason.NO_SEARCHABLE_TERMS,
        TurnRule.SLASH_COMMAND: RecallReason.SLASH_COMMAND,
        TurnRule.ARITHMETIC: RecallReason.ARITHMETIC,
        TurnRule.ACKNOWLEDGEMENT: RecallReason.ACKNOWLEDGEMENT,
        TurnRule.TOO_SHORT: RecallReason.TOO_SHORT,
        TurnRule.ANSWERED_IN_HISTORY: RecallReason.ANSWERED_IN_HISTORY,
        TurnRule.MODEL: RecallReason.NOT_NEEDED,
        TurnRule.DEFAULT: RecallReason.WEAK_EVIDENCE,
        TurnRule.ERROR_PATH: RecallReason.TURN_GATE_FAILED,
    }
)


class TurnGateSettings(msgspec.Struct, frozen=True, kw_only=True):
    """What can be configured.

    Attributes:
        line_markers: Beginnings of lines that the host writes; None for the shipped list.
        cues_off: Families of history cues that are switched off.
        directions: Which way to go when no rule decides.
    """

    line_markers: tuple[str, ...] | None = None
    cues_off: frozenset[CueFamily] = frozenset()
    directions: Directions = DEFAULT_DIRECTIONS[GateOperation.RECALL]


DEFAULT_SETTINGS = TurnGateSettings()


def decide_turn(text: str, *, line_markers: Sequence[str] | None = None) -> TurnGateVerdict:
    """Decide about one message of which nothing but its text is known.

    Args:
        text: The message as the runtime sent it.
        line_markers: Beginnings of lines that the host writes; None for the shipped list.
    """
    markers = None if line_markers is None else tuple(line_markers)
    return decide(TurnInput(parts=(MessagePart(text=text),)), settings=TurnGateSettings(line_markers=markers))


def decide(
    turn: TurnInput,
    *,
    settings: TurnGateSettings = DEFAULT_SETTINGS,
    find_times: FindTimes | None = None,
    model: ModelAnswer | ModelAnswerError | GateCause | None = None,
) -> TurnGateVerdict:
    """Decide about one turn.

    The store and a model are asked by the caller, and only if they can matter: decide without them first; if that is
    `decided_by` the default or the error path, ask for the `evidence.terms`, then the model, and decide again.

    Args:
        turn: The turn.
        settings: What can be configured.
        find_times: The temporal grammar; needs the turn's `now` and `zone`.
        model: What a model answered, or why it could not; None: it was not asked.
    """
    text = own_words(turn.parts, line_markers=settings.line_markers)
    read = cut_turn(text)
    nothing_asked = plain_no(read)
    if nothing_asked is not None:
        return _skip(nothing_asked, text, TurnEvidence())
    message = read_words(mask_code_and_quotes(read))
    evidence = _gather(turn, read, message, settings, find_times)
    return _concluded(turn, text, message, evidence, settings.directions, model)


def decide_again(
    turn: TurnInput,
    before: TurnGateVerdict,
    *,
    settings: TurnGateSettings = DEFAULT_SETTINGS,
    model: ModelAnswer | ModelAnswerError | GateCause | None = None,
) -> TurnGateVerdict:
    """Decide anew about a turn that no rule had decided, with what the store or a model has said since.

    Gives what `decide` would, and reads nothing of the message twice that it need not.

    Args:
        turn: The turn, with the answer of the store.
        before: The open decision.
        settings: What can be configured; the same as before.
        model: What a model answered, or why it could not; None: it was not asked.
    """
    text = before.user_text
    read = cut_turn(text)
    message = read_words(mask_code_and_quotes(read))
    evidence = _with_probe(before.evidence, turn, read)
    return _concluded(turn, text, message, evidence, settings.directions, model)


def _concluded(
    turn: TurnInput,
    text: str,
    message: TurnWords,
    evidence: TurnEvidence,
    directions: Directions,
    model: ModelAnswer | ModelAnswerError | GateCause | None,
) -> TurnGateVerdict:
    wanted = _plain_yes(evidence)
    if wanted is not None:
        return _run(wanted, text, evidence)
    lacking = _leaning_no(turn, message, evidence)
    if lacking is not None:
        return _skip(lacking, text, evidence)
    if evidence.reference is not None:
        return _run(TurnRule.REFERENCE, text, evidence)
    if evidence.posted:
        return _run(TurnRule.STORE_PROBE, text, evidence)
    return _remaining(turn, text, evidence, directions, model)


def _gather(
    turn: TurnInput, text: str, message: TurnWords, settings: TurnGateSettings, find_times: FindTimes | None
) -> TurnEvidence:
    languages = likely_languages(message)
    has_turns_before = turn.recent is not NOT_SUPPLIED and bool(turn.recent)
    evidence = TurnEvidence(
        languages=languages,
        cues=find_cues(message, languages, off=settings.cues_off),
        spans=_spans(turn, text, languages, find_times),
        terms=probe_terms(text),
        reference=find_reference(message, languages) if has_turns_before else None,
        local_references=find_local_references(message, languages) if has_turns_before else (),
    )
    return _with_probe(evidence, turn, text)


def _with_probe(evidence: TurnEvidence, turn: TurnInput, text: str) -> TurnEvidence:
    """The evidence, with what the store says of the message's terms."""
    if not isinstance(turn.probe, ProbeResult):
        return evidence
    # Names also count in code and quotations: `auth_token` is what is asked about, not somebody else's words.
    return msgspec.structs.replace(
        evidence,
        posted=posted_terms(evidence.terms, turn.probe),
        entities=mentioned_entities(read_words(text), turn.probe) if turn.probe.entities else (),
    )


def _spans(turn: TurnInput, text: str, languages: Sequence[str], find_times: FindTimes | None) -> tuple[TimeSpan, ...]:
    """The expressions of time, read by the first language that finds any."""
    if find_times is None or turn.now is None or turn.zone is None:
        return ()
    for language in languages:
        if language in SPACED_LANGUAGES:
            found = find_times(text, now=turn.now, zone=turn.zone, language=language)
            if found:
                return tuple(found)
    return ()


def _plain_yes(evidence: TurnEvidence) -> TurnRule | None:
    if evidence.cues:
        return TurnRule.HISTORY_CUE
    if evidence.spans:
        return TurnRule.TIME_EXPRESSION
    return TurnRule.KNOWN_ENTITY if evidence.entities else None


def _leaning_no(turn: TurnInput, message: TurnWords, evidence: TurnEvidence) -> TurnRule | None:
    """Turns that lean on nothing, though it is known that nothing came before, or on the last turns alone."""
    match turn.recent:
        case NotSupplied():
            return None
        case ():
            is_lacking = is_too_short(message, evidence.languages, has_terms=bool(evidence.terms))
            return TurnRule.TOO_SHORT if is_lacking else None
        case recent:
            return TurnRule.ANSWERED_IN_HISTORY if _is_answered_in(recent, turn, evidence) else None


def _is_answered_in(recent: Sequence[str], turn: TurnInput, evidence: TurnEvidence) -> bool:
    """Whether a message points at the last turns, and nothing in it points past them.

    Each salient term must either occur in those turns or be unknown to the store, which then must have been asked.
    """
    if not evidence.local_references:
        return False
    pointing = {word for phrase in evidence.local_references for word in read_words(phrase).words}
    outside = terms_outside((term for term in evidence.terms if term not in pointing), recent)
    return not outside or (isinstance(turn.probe, ProbeResult) and set(outside).isdisjoint(evidence.posted))


def _remaining(
    turn: TurnInput,
    text: str,
    evidence: TurnEvidence,
    directions: Directions,
    model: ModelAnswer | ModelAnswerError | GateCause | None,
) -> TurnGateVerdict:
    """What no rule decides: the model's answer, or the direction for the cause that there is none."""
    unready = _what_is_lacking(turn, evidence)
    if isinstance(model, ModelAnswer):
        return _as_the_model_says(model, text, evidence, unready)
    failed = GateCause.ERROR if isinstance(model, ModelAnswerError) else model
    cause = failed or unready or GateCause.WEAK
    rule = TurnRule.DEFAULT if cause is GateCause.WEAK else TurnRule.ERROR_PATH
    answer = directions.answer(cause)
    if answer is GateAnswer.RUN:
        return msgspec.structs.replace(_run(rule, text, evidence), cause=cause)
    return msgspec.structs.replace(_skip(rule, text, evidence), answer=answer, cause=cause)


def _what_is_lacking(turn: TurnInput, evidence: TurnEvidence) -> GateCause | None:
    """What kept the rules from deciding; None if they had all they need."""
    if isinstance(turn.probe, GateCause):
        return turn.probe
    is_groundless = not evidence.terms and turn.recent is NOT_SUPPLIED
    return GateCause.MISSING_INPUT if is_groundless else None


def _as_the_model_says(
    model: ModelAnswer, text: str, evidence: TurnEvidence, cause: GateCause | None
) -> TurnGateVerdict:
    seen = msgspec.structs.replace(evidence, model_reason=model.reason)
    if not model.run:
        return msgspec.structs.replace(_skip(TurnRule.MODEL, text, seen), cause=cause)
    is_usable = model.query is not None and has_visible(model.query)
    return msgspec.structs.replace(
        _run(TurnRule.MODEL, text, seen),
        query=model.query if is_usable else cut_turn(text),
        query_fallback=not is_usable,
        cause=cause,
    )


def _run(rule: TurnRule, text: str, evidence: TurnEvidence) -> TurnGateVerdict:
    return TurnGateVerdict(
        answer=GateAnswer.RUN, reason=None, user_text=text, query=cut_turn(text), decided_by=rule, evidence=evidence
    )


def _skip(rule: TurnRule, text: str, evidence: TurnEvidence) -> TurnGateVerdict:
    return TurnGateVerdict(
        answer=GateAnswer.SKIP, reason=_SKIP_REASONS[rule], user_text=text, decided_by=rule, evidence=evidence
    )
