"""Merging clusters of records: may a tick run now, which clusters are in it, and do its counts add up?

Guards: a model's time, and records that are still being written. Cost: a walk over the candidates. Fails: towards not
now. A tick holds a lease, so that one that overlaps it is told `busy` instead of finding nothing to do; it ends when
its counts are sent in `usage`, or when the lease is over.

One call serves a cluster, also where a lesson and a procedure are made of it. A model that abstains has not failed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

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
from recalld.models.policy.profiles.answers import answer, lacking
from recalld.models.policy.profiles.knowledge import Knowledge, TickState
from recalld.models.policy.profiles.reading import age_ms_of
from recalld.models.policy.profiles.spec import ConsolidationProfile

RULE = "consolidation"
REPORTED: Final = ("clusters", "calls", "merged", "abstained", "failed")
"""What the end of a tick reports in `usage`."""


def decide_consolidation(request: DecideRequest, profile: ConsolidationProfile, knowledge: Knowledge) -> Decision:
    """Start a tick with the clusters that are due, or take the counts of the one that ends."""
    if request.usage:
        return _ended(request.usage, profile)
    now_ms = request.now_ms
    if now_ms is None:
        return lacking(profile, "now")
    obstacle = _obstacle(knowledge.tick, profile, now_ms=now_ms)
    if obstacle is not None:
        reason, not_before_ms = obstacle
        params = DecideParams(not_before_ms=not_before_ms)
        return answer(profile, GateDecision.DEFER, reason, decided_by=RULE, params=params)
    if not request.candidates:
        return answer(profile, GateDecision.SKIP, DecideReason.NO_CANDIDATES, decided_by=RULE)
    if any(age_ms_of(each, now_ms) is None for each in request.candidates):
        return lacking(profile, "candidates.at_ms", "candidates.age_ms")
    return _planned(request.candidates, profile, now_ms=now_ms)


def _obstacle(tick: TickState | None, profile: ConsolidationProfile, *, now_ms: int) -> tuple[DecideReason, int] | None:
    """Why no tick may start now, and until when; None when one may."""
    if tick is None:
        return None
    if tick.lease_until_ms is not None and now_ms < tick.lease_until_ms:
        return DecideReason.BUSY, tick.lease_until_ms
    due_ms = tick.started_ms + profile.every_ms
    return (DecideReason.NOT_DUE, due_ms) if now_ms < due_ms else None


def _planned(candidates: Sequence[DecideCandidate], profile: ConsolidationProfile, *, now_ms: int) -> Decision:
    clusters: dict[str, list[DecideCandidate]] = {}
    for candidate in candidates:
        clusters.setdefault(candidate.cluster, []).append(candidate)
    found = {name: _cluster_reason(name, each, profile, now_ms=now_ms) for name, each in clusters.items()}
    due = [name for name, reason in found.items() if reason is CandidateReason.PASSED]
    # Those left alone the longest first, so that no cluster waits for ever behind the first five.
    due.sort(key=lambda name: (-_youngest_ms(clusters[name], now_ms), name))
    found |= dict.fromkeys(due[profile.clusters_max :], CandidateReason.OVER_LIMIT)
    chosen = tuple(due[: profile.clusters_max])
    judged = tuple(JudgedCandidate(id=each.id, reason=found[each.cluster]) for each in candidates)
    counts = {"clusters": len(found)} | {
        reason.value: sum(each is reason for each in found.values())
        for reason in (
            CandidateReason.PASSED,
            CandidateReason.SMALL_CLUSTER,
            CandidateReason.TOUCHED_LATELY,
            CandidateReason.OVER_LIMIT,
        )
    }
    return answer(
        profile,
        GateDecision.RUN if chosen else GateDecision.SKIP,
        DecideReason.CLUSTERS_DUE if chosen else DecideReason.NO_CLUSTERS,
        decided_by=RULE,
        params=DecideParams(
            targets=chosen,
            items=tuple(each.id for each in judged if each.reason is CandidateReason.PASSED),
            limits=DecideLimits(
                items_max=profile.clusters_max,
                batch_max=profile.calls_per_cluster_max,
                time_ms=profile.lease_ms if chosen else None,
            ),
        ),
        evidence=DecideEvidence(
            candidates=judged,
            counts=counts,
            thresholds={"cluster_min": float(profile.cluster_min), "untouched_ms": float(profile.untouched_ms)},
        ),
    )


def _cluster_reason(
    name: str, records: Sequence[DecideCandidate], profile: ConsolidationProfile, *, now_ms: int
) -> CandidateReason:
    if not name or len(records) < profile.cluster_min:
        return CandidateReason.SMALL_CLUSTER
    is_at_rest = _youngest_ms(records, now_ms) >= profile.untouched_ms
    return CandidateReason.PASSED if is_at_rest else CandidateReason.TOUCHED_LATELY


def _youngest_ms(records: Sequence[DecideCandidate], now_ms: int) -> int:
    """Milliseconds since the cluster was last touched."""
    return min(age_ms_of(each, now_ms) or 0 for each in records)


def _ended(usage: Mapping[str, int], profile: ConsolidationProfile) -> Decision:
    """Take a tick's counts: every cluster was merged, abstained from or failed, with no more calls than it may have."""
    counts = {name: usage.get(name, -1) for name in REPORTED}
    is_sum = counts["clusters"] == counts["merged"] + counts["abstained"] + counts["failed"]
    is_frugal = counts["calls"] <= counts["clusters"] * profile.calls_per_cluster_max
    is_sound = min(counts.values()) >= 0 and is_sum and is_frugal and counts["clusters"] <= profile.clusters_max
    return answer(
        profile,
        GateDecision.SKIP if is_sound else GateDecision.REFUSE,
        DecideReason.TICK_ENDED if is_sound else DecideReason.COUNTS_DIFFER,
        decided_by=RULE,
        evidence=DecideEvidence(counts=counts),
    )
