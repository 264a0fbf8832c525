"""Loading skills: whose body does this message need?

Guards: the prompt against bodies that nobody asked for. Cost: linear in the message and in names and descriptions.
Fails: closed; a body that is not loaded can still be asked for by name. Nothing is kept between calls, so an edited
name or description counts from the next call on. Files that a body refers to are never loaded with it, only on demand.
"""

from __future__ import annotations

from recalld.models.domain.decide import DecideRequest
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
from recalld.models.policy.profiles.overlap import SalientWord, salient_words, shared_words
from recalld.models.policy.profiles.reading import message_of
from recalld.models.policy.profiles.spec import SkillsProfile

RULE = "word_overlap"
FILES_RULE = "referenced_files"


def decide_by_words(request: DecideRequest, profile: SkillsProfile) -> Decision:
    """Name the skills whose name and description share enough words with the message, most words first."""
    if request.wanted_files:
        return _files(request, profile)
    message = message_of(request)
    if not message:
        return answer(profile, GateDecision.SKIP, DecideReason.NO_USER_TEXT, decided_by=RULE)
    if not request.candidates:
        return answer(profile, GateDecision.SKIP, DecideReason.NO_CANDIDATES, decided_by=RULE)
    words = salient_words(message)
    judged = _judged(request, profile, words)
    ranked = sorted(judged, key=lambda each: -len(each.terms))  # stable: the caller's order among equals
    loaded = tuple(each.id for each in ranked if each.reason is CandidateReason.PASSED)
    return answer(
        profile,
        GateDecision.RUN if loaded else GateDecision.SKIP,
        DecideReason.PASSED if loaded else DecideReason.NONE_PASSED,
        decided_by=RULE,
        params=DecideParams(
            query=message, items=loaded, targets=loaded, limits=DecideLimits(items_max=profile.items_max)
        ),
        evidence=DecideEvidence(
            terms=tuple(word.word for word in words),
            candidates=judged,
            thresholds={"words_min": float(profile.words_min)},
        ),
    )


def _judged(
    request: DecideRequest, profile: SkillsProfile, words: tuple[SalientWord, ...]
) -> tuple[JudgedCandidate, ...]:
    shared = {each.id: shared_words(words, each.title, each.description) for each in request.candidates}
    enough = [each for each in shared if len(shared[each]) >= profile.words_min]
    best = frozenset(sorted(enough, key=lambda each: -len(shared[each]))[: profile.items_max])
    return tuple(
        JudgedCandidate(
            id=each,
            reason=CandidateReason.PASSED
            if each in best
            else CandidateReason.OVER_LIMIT
            if each in enough
            else CandidateReason.FEW_TERMS,
            score=float(len(terms)),
            threshold=float(profile.words_min),
            terms=terms,
        )
        for each, terms in shared.items()
    )


def _files(request: DecideRequest, profile: SkillsProfile) -> Decision:
    referenced = {name for candidate in request.candidates for name in candidate.files}
    is_known = referenced.issuperset(request.wanted_files)
    return answer(
        profile,
        GateDecision.RUN if is_known else GateDecision.REFUSE,
        DecideReason.FILES_REFERENCED if is_known else DecideReason.FILE_NOT_REFERENCED,
        decided_by=FILES_RULE,
        params=DecideParams(targets=request.wanted_files if is_known else ()),
    )
