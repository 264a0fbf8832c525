"""A store with a hard cap in characters: does a batch of changes fit?

Guards: a memory file that stands in every prompt. Cost: additions. Fails: towards refusing, all or nothing, with the
usage and with what to remove first. The batch is judged on its final state, so that the order of its changes does not
matter, and one that makes the store smaller always fits, also when the cap was lowered below what is used.
"""

from __future__ import annotations

import math

from recalld.models.domain.decide import CandidatePresence, DecideCandidate, DecideRequest
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
from recalld.models.policy.capacity import WARN_SHARE
from recalld.models.policy.duplicates import fold
from recalld.models.policy.profiles.answers import answer, lacking
from recalld.models.policy.profiles.spec import CapProfile

RULE = "cap"
FAILURES = "failures_in_turn"
"""Counter: how often a batch was refused in this turn before."""


def decide_cap(request: DecideRequest, profile: CapProfile) -> Decision:
    """Let the batch be written, or refuse all of it."""
    if not request.candidates:
        return lacking(profile, "candidates")
    stored = [each for each in request.candidates if each.presence is not CandidatePresence.PROPOSED]
    kept = [each for each in stored if each.presence is CandidatePresence.STORED]
    added = _without_duplicates(request, kept)
    before, after = _chars(stored, profile), _chars([*kept, *added], profile)
    fits = after <= max(profile.chars_max, before)
    judged = tuple(JudgedCandidate(id=each.id, reason=_reason(each, added, fits=fits)) for each in request.candidates)
    failures = request.counters.get(FAILURES, 0) + (not fits)
    evidence = DecideEvidence(
        candidates=judged,
        counts={
            "chars_before": before,
            "chars_after": after,
            "chars_max": profile.chars_max,
            "percent": math.ceil(100 * (after if fits else before) / profile.chars_max),
            "over": max(0, after - profile.chars_max),
            FAILURES: failures,
        },
    )
    limits = DecideLimits(chars_max=profile.chars_max)
    if not fits:
        is_final = failures >= profile.failures_max
        return answer(
            profile,
            GateDecision.REFUSE,
            DecideReason.OVER_CAP_TERMINAL if is_final else DecideReason.OVER_CAP,
            decided_by=RULE,
            params=DecideParams(targets=_suggested(kept, after - profile.chars_max, profile), limits=limits),
            evidence=evidence,
        )
    is_nearly_full = after >= WARN_SHARE * profile.chars_max
    return answer(
        profile,
        GateDecision.RUN,
        DecideReason.NEARLY_FULL if is_nearly_full else DecideReason.WITHIN_CAP,
        decided_by=RULE,
        params=DecideParams(items=tuple(each.id for each in added), limits=limits),
        evidence=evidence,
    )


def _without_duplicates(request: DecideRequest, kept: list[DecideCandidate]) -> list[DecideCandidate]:
    """What would be written: nothing that is stored, or proposed before, in the same words."""
    seen = {fold(each.text) for each in kept}
    added: list[DecideCandidate] = []
    for candidate in request.candidates:
        words = fold(candidate.text)
        if candidate.presence is CandidatePresence.PROPOSED and words not in seen:
            seen.add(words)
            added.append(candidate)
    return added


def _chars(entries: list[DecideCandidate], profile: CapProfile) -> int:
    return sum(len(each.text) for each in entries) + profile.separator_chars * max(0, len(entries) - 1)


def _reason(candidate: DecideCandidate, added: list[DecideCandidate], *, fits: bool) -> CandidateReason:
    if candidate.presence is not CandidatePresence.PROPOSED:
        return (
            CandidateReason.PASSED
            if fits or candidate.presence is CandidatePresence.STORED
            else CandidateReason.OVER_CHARS
        )
    if candidate not in added:
        return CandidateReason.ALREADY_STORED
    return CandidateReason.PASSED if fits else CandidateReason.OVER_CHARS


def _suggested(kept: list[DecideCandidate], over: int, profile: CapProfile) -> tuple[str, ...]:
    """What to remove so that the batch fits: the oldest entries first, as many as it takes."""
    oldest_first = sorted(kept, key=lambda each: each.at_ms if each.at_ms is not None else -(each.age_ms or 0))
    suggested: list[str] = []
    for entry in oldest_first:
        if over <= 0:
            break
        suggested.append(entry.id)
        over -= len(entry.text) + profile.separator_chars
    return tuple(suggested)
