"""Checking stored records against the world: which claims still hold?

Guards: a person against records that the project has outgrown. Cost: a look at a few files, within a time of its own.
Fails: towards saying nothing. What could not be looked at is skipped with a reason, and never contradicted.

Local claims are looked at here and come before remote ones, which are handed to the runtime; both in the caller's
order. What a probe answers never reaches a prompt: only outcomes and reasons from closed lists do.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from recalld.models.domain.decide import DecideRequest
from recalld.models.domain.decision import (
    DecideEvidence,
    DecideLimits,
    DecideParams,
    DecideReason,
    Decision,
    GateDecision,
)
from recalld.models.domain.world import (
    Claim,
    ClaimOutcome,
    Finding,
    FindingState,
    ProbeReason,
    ProbeRequest,
    ProbeVerdict,
)
from recalld.models.policy.profiles.answers import answer
from recalld.models.policy.profiles.claims import TEXT_CHARS_MAX, pull_request_state, read_records
from recalld.models.policy.profiles.knowledge import Knowledge
from recalld.models.policy.profiles.spec import WorldCheckProfile

RULE = "claims"
ALL_CHARS_MAX = 100_000
"""Characters of all records together that are read for claims."""


class ProbePlan(msgspec.Struct, frozen=True, kw_only=True):
    """What is looked at, and by whom.

    Attributes:
        local: Claims to look at in the project's files, in order.
        remote: Claims for the runtime, in order.
        left_over: Claims over the number of targets.
        unread: Candidates that are not read, or not to their end.
        without_claims: Candidates that were read and claim nothing that could be checked.
    """

    local: tuple[Claim, ...]
    remote: tuple[Claim, ...]
    left_over: tuple[Claim, ...]
    unread: int = 0
    without_claims: int = 0


def plan_probes(request: DecideRequest, profile: WorldCheckProfile) -> ProbePlan:
    """Read the claims of the candidates and allot the targets: local before remote, each in the caller's order."""
    read = _readable([len(each.text) for each in request.candidates])
    found = read_records((each.id, each.text) for each in request.candidates[:read])
    claims = found.claims
    local = tuple(claim for claim in claims if not claim.is_remote)
    remote = tuple(claim for claim in claims if claim.is_remote)
    chosen = frozenset(claim.id for claim in (*local, *remote)[: profile.targets_max])
    return ProbePlan(
        local=tuple(claim for claim in local if claim.id in chosen),
        remote=tuple(claim for claim in remote if claim.id in chosen),
        left_over=tuple(claim for claim in claims if claim.id not in chosen),
        unread=len(request.candidates) - found.read,
        without_claims=found.without_claims,
    )


def _readable(lengths: Sequence[int]) -> int:
    """How many texts from the first on are read: finding claims must leave time for looking at them."""
    chars = 0
    for place, length in enumerate(lengths):
        chars += min(length, TEXT_CHARS_MAX)
        if chars > ALL_CHARS_MAX:
            return place
    return len(lengths)


def decide_world_check(request: DecideRequest, profile: WorldCheckProfile, knowledge: Knowledge) -> Decision:
    """Say of each claim what became of it, and what the runtime is asked to look at."""
    plan = plan_probes(request, profile)
    if not (plan.local or plan.remote):
        evidence = DecideEvidence(counts=_records(plan))
        return answer(profile, GateDecision.SKIP, DecideReason.NO_CLAIMS, decided_by=RULE, evidence=evidence)
    findings = None if knowledge.findings is None else {found.claim_id: found for found in knowledge.findings}
    answers = {each.claim_id: each.answer for each in request.probe_answers}
    verdicts = (
        *(_judged_locally(claim, findings) for claim in plan.local),
        *(_judged_remotely(claim, answers) for claim in plan.remote),
        *(_skipped(claim, ProbeReason.SKIPPED_BUDGET) for claim in plan.left_over),
    )
    asked = tuple(
        ProbeRequest(claim_id=claim.id, candidate_id=claim.candidate_id, kind=claim.kind, subject=claim.subject)
        for claim in plan.remote
        if claim.id not in answers
    )
    return answer(
        profile,
        GateDecision.RUN,
        DecideReason.CLAIMS_CHECKED,
        decided_by=RULE,
        params=DecideParams(
            probe_requests=asked, limits=DecideLimits(items_max=profile.targets_max, time_ms=profile.time_ms)
        ),
        evidence=DecideEvidence(probes=verdicts, counts=_counts(verdicts) | _records(plan)),
        is_degraded=any(verdict.reason is ProbeReason.SKIPPED_BUDGET for verdict in verdicts[: len(plan.local)]),
    )


def _judged_locally(claim: Claim, findings: Mapping[str, Finding] | None) -> ProbeVerdict:
    if findings is None:
        return _skipped(claim, ProbeReason.NO_ACCESS)
    found = findings.get(claim.id)
    if found is None:
        return _skipped(claim, ProbeReason.SKIPPED_BUDGET)  # its time was up before it was its turn
    match found.state:
        case FindingState.YES:
            return _judged(claim, is_so=True)
        case FindingState.NO:
            return _judged(claim, is_so=False)
        case FindingState.OUTSIDE_PROJECT:
            return _skipped(claim, ProbeReason.OUTSIDE_PROJECT)
        case FindingState.UNREADABLE:
            return _skipped(claim, ProbeReason.UNREADABLE)


def _judged_remotely(claim: Claim, answers: Mapping[str, str]) -> ProbeVerdict:
    if claim.id not in answers:
        return _skipped(claim, ProbeReason.ASKED_RUNTIME)
    state = pull_request_state(answers[claim.id])
    if state is None:
        return _skipped(claim, ProbeReason.ANSWER_UNREADABLE)
    return _judged(claim, is_so=state.value == claim.expected)


def _judged(claim: Claim, *, is_so: bool) -> ProbeVerdict:
    is_confirmed = is_so is not claim.is_negated
    if is_confirmed:
        return _verdict(claim, ClaimOutcome.CONFIRMED, ProbeReason.AS_CLAIMED)
    return _verdict(claim, ClaimOutcome.CONTRADICTED, ProbeReason.NOT_AS_CLAIMED)


def _skipped(claim: Claim, reason: ProbeReason) -> ProbeVerdict:
    return _verdict(claim, ClaimOutcome.SKIPPED, reason)


def _verdict(claim: Claim, outcome: ClaimOutcome, reason: ProbeReason) -> ProbeVerdict:
    return ProbeVerdict(
        claim_id=claim.id,
        candidate_id=claim.candidate_id,
        kind=claim.kind,
        subject=claim.subject,
        place=claim.place,
        start=claim.start,
        end=claim.end,
        outcome=outcome,
        reason=reason,
    )


def _records(plan: ProbePlan) -> dict[str, int]:
    return {"records_unread": plan.unread, "records_without_claims": plan.without_claims}


def _counts(verdicts: Sequence[ProbeVerdict]) -> dict[str, int]:
    return {outcome.value: sum(1 for each in verdicts if each.outcome is outcome) for outcome in ClaimOutcome}
