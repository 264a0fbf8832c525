"""Recalling unasked, on history cues alone.

Guards: the prompt against memories that nobody asked for. Cost: a look at the words of the message.
Fails: closed. A bare "before" or "earlier" is no cue: "clean up before committing" speaks of an order of steps.
"""

from __future__ import annotations

from collections.abc import Sequence

from recalld.models.domain.decide import DecideCandidate, DecideRequest
from recalld.models.domain.decision import (
    CandidateReason,
    DecideEvidence,
    DecideLimits,
    DecideParams,
    DecideReason,
    Decision,
    GateDecision,
    JudgedCandidate,
)
from recalld.models.policy.profiles.answers import answer
from recalld.models.policy.profiles.reading import message_of
from recalld.models.policy.profiles.spec import AutoRecallProfile
from recalld.models.policy.profiles.turn import cue_texts
from recalld.models.policy.protected_spans import mask_code_and_quotes
from recalld.models.policy.turn.cues import find_cues
from recalld.models.policy.turn.lists import likely_languages
from recalld.models.policy.turn.words import read_words

RULE = "history_cues"


def decide_auto_recall(request: DecideRequest, profile: AutoRecallProfile) -> Decision:
    """Recall if the message points at something before; with candidates, also which of them fit."""
    message = message_of(request)
    if not message:
        return answer(profile, GateDecision.SKIP, DecideReason.NO_USER_TEXT, decided_by=RULE)
    if len(message) < profile.chars_min:
        return answer(profile, GateDecision.SKIP, DecideReason.TOO_SHORT, decided_by=RULE)
    words = read_words(mask_code_and_quotes(message))
    cues = find_cues(words, likely_languages(words), off=frozenset(profile.cues_off))
    if not cues:
        return answer(profile, GateDecision.SKIP, DecideReason.NO_HISTORY_CUE, decided_by=RULE)
    judged = packed(request.candidates, items_max=profile.items_max, chars_max=profile.chars_max)
    items = tuple(each.id for each in judged if each.reason is CandidateReason.PASSED)
    is_empty = bool(judged) and not items
    return answer(
        profile,
        GateDecision.SKIP if is_empty else GateDecision.RUN,
        DecideReason.NONE_PASSED if is_empty else DecideReason.HISTORY_CUE,
        decided_by=RULE,
        params=DecideParams(
            query=message,
            items=items,
            limits=DecideLimits(items_max=profile.items_max, chars_max=profile.chars_max),
        ),
        evidence=DecideEvidence(
            cues=cue_texts(cues), candidates=judged, thresholds={"chars_min": float(profile.chars_min)}
        ),
    )


def packed(candidates: Sequence[DecideCandidate], *, items_max: int, chars_max: int) -> tuple[JudgedCandidate, ...]:
    """Whole candidates in the caller's order, until one of the limits is reached; what does not fit is passed over."""
    judged: list[JudgedCandidate] = []
    items = chars = 0
    for candidate in candidates:
        reason = CandidateReason.PASSED
        if candidate.is_injected:
            reason = CandidateReason.OWN_BLOCK
        elif items >= items_max:
            reason = CandidateReason.OVER_LIMIT
        elif chars + len(candidate.text) > chars_max:
            reason = CandidateReason.OVER_CHARS
        if reason is CandidateReason.PASSED:
            items += 1
            chars += len(candidate.text)
        judged.append(JudgedCandidate(id=candidate.id, reason=reason, score=candidate.score))
    return tuple(judged)
