"""Keeping facts by score: which retrieved facts are shown, which proposed facts get a slot?

Guards: the prompt, and the store, against facts that do not matter. Cost: none but the scores themselves.
Fails: a candidate without a usable score is dropped and the decision says that it is degraded. A threshold holds for
the shape of call it was found with: a model that scores one fact at a time is another scale than one that scores a
list.
"""

from __future__ import annotations

import math

from recalld.models.domain.decide import CallShape, DecideCandidate, DecideRequest
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
from recalld.models.policy.profiles.answers import answer, lacking
from recalld.models.policy.profiles.spec import KeepProfile

RULE = "score_threshold"


def decide_by_score(request: DecideRequest, profile: KeepProfile) -> Decision:
    """Keep the candidates whose score is at least the threshold of the call's shape, in the caller's order."""
    if not request.candidates:
        return answer(profile, GateDecision.SKIP, DecideReason.NO_CANDIDATES, decided_by=RULE)
    if request.call_shape is None:
        return lacking(profile, "call_shape")
    threshold = _threshold(profile, request.call_shape)
    if threshold is None:
        params = DecideParams(limits=DecideLimits(batch_max=1))
        return answer(profile, GateDecision.DEFER, DecideReason.SHAPE_NOT_CALIBRATED, decided_by=RULE, params=params)
    judged = tuple(_judged(candidate, threshold) for candidate in request.candidates)
    kept = tuple(each.id for each in judged if each.reason is CandidateReason.PASSED)
    return answer(
        profile,
        GateDecision.RUN if kept else GateDecision.SKIP,
        DecideReason.PASSED if kept else DecideReason.NONE_PASSED,
        decided_by=RULE,
        params=DecideParams(items=kept),
        evidence=DecideEvidence(candidates=judged, thresholds={request.call_shape.value: threshold}),
        is_degraded=any(each.reason is CandidateReason.NOT_SCORED for each in judged),
    )


def _threshold(profile: KeepProfile, shape: CallShape) -> float | None:
    return profile.threshold_single if shape is CallShape.SINGLE else profile.threshold_batched


def _judged(candidate: DecideCandidate, threshold: float) -> JudgedCandidate:
    score = candidate.score
    if score is None or not math.isfinite(score):
        return JudgedCandidate(id=candidate.id, reason=CandidateReason.NOT_SCORED, threshold=threshold)
    reason = CandidateReason.PASSED if score >= threshold else CandidateReason.BELOW_THRESHOLD
    return JudgedCandidate(id=candidate.id, reason=reason, score=score, threshold=threshold)
