"""The turn gate as a profile: is a search warranted?

Guards: the latency of turns that ask for nothing. Cost: that of the turn gate, and of a model if the caller asks one.
Fails: as the profile's directions say; shipped open. An unreadable answer of a model is an error and never a no.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import msgspec

from recalld.models.domain.decide import DecideRequest, ModelReport
from recalld.models.domain.decision import (
    DecideEvidence,
    DecideInterval,
    DecideLimits,
    DecideParams,
    DecideReason,
    Decision,
    GateDecision,
)
from recalld.models.policy.profiles.answers import CAUSE_REASONS, answer
from recalld.models.policy.profiles.knowledge import Knowledge
from recalld.models.policy.profiles.reading import MODEL_CAUSES, moment_of
from recalld.models.policy.profiles.sentences import lacks_sentence
from recalld.models.policy.profiles.spec import TurnProfile
from recalld.models.policy.temporal import TimeSpan, find_intervals
from recalld.models.policy.turn.cues import CueMatch
from recalld.models.policy.turn.directions import GateCause
from recalld.models.policy.turn.model_answer import ModelAnswer, ModelAnswerError, parse_model_answer
from recalld.models.policy.turn.turn_input import NOT_SUPPLIED, TurnInput
from recalld.models.policy.turn.verdict import TurnGateVerdict, TurnRule
from recalld.models.policy.turn_gate import TurnGateSettings
from recalld.models.policy.turn_gate import decide as decide_turn

_REASONS: Mapping[TurnRule, DecideReason] = MappingProxyType(
    {
        TurnRule.NO_USER_TEXT: DecideReason.NO_USER_TEXT,
        TurnRule.NO_SEARCHABLE_TERMS: DecideReason.NO_SEARCHABLE_TERMS,
        TurnRule.SLASH_COMMAND: DecideReason.SLASH_COMMAND,
        TurnRule.ARITHMETIC: DecideReason.ARITHMETIC,
        TurnRule.ACKNOWLEDGEMENT: DecideReason.ACKNOWLEDGEMENT,
        TurnRule.HISTORY_CUE: DecideReason.HISTORY_CUE,
        TurnRule.TIME_EXPRESSION: DecideReason.TIME_EXPRESSION,
        TurnRule.KNOWN_ENTITY: DecideReason.KNOWN_ENTITY,
        TurnRule.TOO_SHORT: DecideReason.TOO_SHORT,
        TurnRule.ANSWERED_IN_HISTORY: DecideReason.ANSWERED_IN_HISTORY,
        TurnRule.REFERENCE: DecideReason.LEANS_ON_HISTORY,
        TurnRule.STORE_PROBE: DecideReason.TERMS_STORED,
    }
)
"""The reason of each rule that always means the same."""


def decide_by_turn(request: DecideRequest, profile: TurnProfile, knowledge: Knowledge) -> Decision:
    """Decide whether to recall for this turn."""
    verdict = decide_turn(
        turn_input(request, knowledge),
        settings=_settings(profile, knowledge),
        find_times=find_intervals,
        model=None if request.model is None else read_report(request.model),
    )
    missing = ("turns",) if verdict.cause is GateCause.MISSING_INPUT else ()
    decision = answer(
        profile,
        GateDecision(verdict.answer.value),
        _reason(verdict),
        decided_by=verdict.decided_by.value,
        params=DecideParams(
            query=verdict.query,
            query_fallback=verdict.query_fallback,
            intervals=intervals_of(verdict.evidence.spans),
            limits=DecideLimits(time_ms=profile.model_ms),
            missing=missing,
        ),
        evidence=turn_evidence(verdict),
        is_degraded=verdict.cause not in {None, GateCause.WEAK},
    )
    return msgspec.structs.replace(decision, reason=lacks_sentence(missing)) if missing else decision


def _settings(profile: TurnProfile, knowledge: Knowledge) -> TurnGateSettings:
    if profile.is_configured and knowledge.turn_settings is not None:
        return knowledge.turn_settings
    return TurnGateSettings(cues_off=frozenset(profile.cues_off), directions=profile.directions)


def turn_input(request: DecideRequest, knowledge: Knowledge) -> TurnInput:
    """The turn, as the turn gate reads it."""
    moment = moment_of(request)
    return TurnInput(
        parts=request.parts,
        recent=NOT_SUPPLIED if request.recent is None else request.recent,
        now=None if moment is None else moment[0],
        zone=None if moment is None else moment[1],
        probe=knowledge.probe,
    )


def read_report(report: ModelReport) -> ModelAnswer | ModelAnswerError | GateCause:
    """What the caller's model decided, or why it did not."""
    if report.failure is not None:
        return MODEL_CAUSES[report.failure]
    return parse_model_answer(report.text, was_truncated=report.was_truncated)


def intervals_of(spans: tuple[TimeSpan, ...]) -> tuple[DecideInterval, ...]:
    """The intervals of expressions of time."""
    return tuple(
        DecideInterval(start_ms=span.start_ms, end_ms=span.end_ms, confidence=span.confidence) for span in spans
    )


def cue_texts(cues: tuple[CueMatch, ...]) -> tuple[str, ...]:
    """Cues as `family: phrase`."""
    return tuple(f"{cue.family.value}: {cue.phrase}" for cue in cues)


def turn_evidence(verdict: TurnGateVerdict) -> DecideEvidence:
    """What the turn gate saw."""
    seen = verdict.evidence
    return DecideEvidence(cues=cue_texts(seen.cues), terms=seen.terms, posted=seen.posted, times=seen.times)


def _reason(verdict: TurnGateVerdict) -> DecideReason:
    if verdict.decided_by is TurnRule.MODEL:
        return DecideReason.MODEL_SAYS_YES if verdict.run else DecideReason.MODEL_SAYS_NO
    return _REASONS.get(verdict.decided_by) or CAUSE_REASONS[verdict.cause or GateCause.WEAK]
