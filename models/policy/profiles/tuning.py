"""Tuning a memory's settings: is there enough to tune by, and does each knob stay within its bounds?

Guards: settings against being fitted to a handful of cases. Cost: none. Fails: towards declining, which is recorded
with its counts. Bounds are hard: a value outside them is dropped and never moved to the nearest end, since whoever
proposed it fitted something else than what would be set.
"""

from __future__ import annotations

import math

from recalld.models.domain.decide import DecideCandidate, DecideRequest
from recalld.models.domain.decision import (
    CandidateReason,
    DecideEvidence,
    DecideParams,
    DecideReason,
    Decision,
    GateDecision,
    JudgedCandidate,
)
from recalld.models.policy.profiles.answers import answer, lacking
from recalld.models.policy.profiles.knowledge import Knowledge
from recalld.models.policy.profiles.spec import TuningProfile

RULE = "tuning_guard"
ACTIVE = "active_memories"
"""Counter: live memories; where it is missing the daemon counts its own."""
SAMPLES = "samples"
"""Counter: samples behind a promotion."""


def decide_tuning(request: DecideRequest, profile: TuningProfile, knowledge: Knowledge) -> Decision:
    """Let knobs be set, or decline with the counts."""
    active = request.counters.get(ACTIVE, knowledge.active_memories)
    samples = request.counters.get(SAMPLES)
    if active is None:
        return lacking(profile, f"counters.{ACTIVE}")
    if samples is None and profile.samples_min:
        return lacking(profile, f"counters.{SAMPLES}")
    judged = tuple(_judged(each, profile) for each in request.candidates)
    passed = tuple(each.id for each in judged if each.reason is CandidateReason.PASSED)
    evidence = DecideEvidence(
        candidates=judged,
        counts={ACTIVE: active} | ({} if samples is None else {SAMPLES: samples}),
        thresholds={"memories_min": float(profile.memories_min), "samples_min": float(profile.samples_min)},
    )
    if active < profile.memories_min:
        return answer(profile, GateDecision.REFUSE, DecideReason.FEW_MEMORIES, decided_by=RULE, evidence=evidence)
    if profile.samples_min and (samples or 0) < profile.samples_min:
        return answer(profile, GateDecision.REFUSE, DecideReason.FEW_SAMPLES, decided_by=RULE, evidence=evidence)
    is_nothing_left = bool(judged) and not passed
    return answer(
        profile,
        GateDecision.SKIP if is_nothing_left else GateDecision.RUN,
        DecideReason.NONE_PASSED if is_nothing_left else DecideReason.WITHIN_BOUNDS,
        decided_by=RULE,
        params=DecideParams(items=passed),
        evidence=evidence,
    )


def _judged(candidate: DecideCandidate, profile: TuningProfile) -> JudgedCandidate:
    """A knob by its name, and the value proposed for it in its score."""
    bounds = profile.knobs.get(candidate.id)
    value = candidate.score
    if bounds is None:
        reason = CandidateReason.UNKNOWN_KNOB
    elif value is None or not math.isfinite(value):
        reason = CandidateReason.NOT_SCORED
    else:
        is_inside = bounds.least <= value <= bounds.most
        reason = CandidateReason.PASSED if is_inside else CandidateReason.OUT_OF_BOUNDS
    return JudgedCandidate(id=candidate.id, reason=reason, score=value)
