"""Decisions, made of what every family of gates has in common."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import msgspec

from recalld.models.domain.decision import (
    DecideEvidence,
    DecideParams,
    DecideReason,
    Decision,
    GateDecision,
)
from recalld.models.policy.profiles.registry import policy_version
from recalld.models.policy.profiles.sentences import DECIDE_SENTENCES, lacks_sentence
from recalld.models.policy.profiles.spec import Profile
from recalld.models.policy.turn.directions import GateCause

BY_DEFAULT = "default"
BY_ERROR_PATH = "error_path"
BY_MODEL = "model"
NO_PARAMS = DecideParams()
NO_EVIDENCE = DecideEvidence()

CAUSE_REASONS: Mapping[GateCause, DecideReason] = MappingProxyType(
    {
        GateCause.WEAK: DecideReason.WEAK_EVIDENCE,
        GateCause.ERROR: DecideReason.GATE_FAILED,
        GateCause.TIMEOUT: DecideReason.TIMED_OUT,
        GateCause.MISSING_INPUT: DecideReason.MISSING_INPUT,
        GateCause.BUDGET: DecideReason.NO_BUDGET,
    }
)
"""The reason that goes with each cause for there being no decision."""


def answer(
    profile: Profile,
    decision: GateDecision,
    reason: DecideReason,
    *,
    decided_by: str,
    params: DecideParams = NO_PARAMS,
    evidence: DecideEvidence = NO_EVIDENCE,
    is_degraded: bool = False,
) -> Decision:
    """A decision of one profile, with the sentence of its reason."""
    return Decision(
        decision=decision,
        op=profile.op,
        profile=profile.name,
        policy_version=policy_version(profile),
        reason_code=reason,
        reason=DECIDE_SENTENCES[reason],
        params=params,
        evidence=evidence,
        decided_by=decided_by,
        is_degraded=is_degraded,
    )


def undecided(
    profile: Profile,
    cause: GateCause,
    *,
    params: DecideParams = NO_PARAMS,
    evidence: DecideEvidence = NO_EVIDENCE,
) -> Decision:
    """The way the profile's direction knobs point when there is no decision; see `lacking` for a missing input."""
    return answer(
        profile,
        GateDecision(profile.directions.answer(cause).value),
        CAUSE_REASONS[cause],
        decided_by=BY_DEFAULT if cause is GateCause.WEAK else BY_ERROR_PATH,
        params=params,
        evidence=evidence,
        is_degraded=cause is not GateCause.WEAK,
    )


def lacking(
    profile: Profile,
    *missing: str,
    params: DecideParams = NO_PARAMS,
    evidence: DecideEvidence = NO_EVIDENCE,
) -> Decision:
    """As `undecided`, for a request without an input that the decision needs; says which.

    Args:
        profile: The gate.
        missing: Fields of the request, of which one is enough.
        params: How to go on all the same.
        evidence: What was seen.
    """
    params = msgspec.structs.replace(params, missing=missing)
    decision = undecided(profile, GateCause.MISSING_INPUT, params=params, evidence=evidence)
    return msgspec.structs.replace(decision, reason=lacks_sentence(missing))
