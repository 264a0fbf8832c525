"""Suggesting records unasked: is any of this worth a person's attention now?

Guards: attention. Cost: linear in the message and the candidates it could show.
Fails: closed as a whole (weak evidence and errors are silence), open in its sub-checks (an unknown age is no reason).
The gate stands behind a selection and never recruits replacements: it judges the candidates that would have been shown
without it, and what it lets through is a subsequence of those.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

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
from recalld.models.policy.profiles.knowledge import Knowledge, SessionKnowledge
from recalld.models.policy.profiles.overlap import SalientWord, salient_words, shared_words, word_count
from recalld.models.policy.profiles.reading import age_ms_of, content_key, content_of, message_of
from recalld.models.policy.profiles.spec import SuggestionProfile

RULE = "suggestion_checks"
_NOBODYS = frozenset({CandidateReason.OWN_BLOCK, CandidateReason.HOST_TEXT})
"""What no person said is no evidence for its session."""


def decide_suggestion(request: DecideRequest, profile: SuggestionProfile, knowledge: Knowledge) -> Decision:
    """Name the candidates worth showing, or why there are none."""
    silence, words = _why_silent(request, profile)
    if silence is not None:
        return answer(profile, GateDecision.SKIP, silence, decided_by=RULE)
    judged = _judge_all(request, profile, knowledge.session, words)
    shown = tuple(each.id for each in judged if each.reason is CandidateReason.PASSED)
    return answer(
        profile,
        GateDecision.RUN if shown else GateDecision.SKIP,
        DecideReason.PASSED if shown else DecideReason.NONE_PASSED,
        decided_by=RULE,
        params=DecideParams(query=message_of(request), items=shown, limits=DecideLimits(items_max=profile.items_max)),
        evidence=DecideEvidence(
            terms=tuple(word.word for word in words),
            candidates=judged,
            thresholds={
                "terms_min": float(profile.terms_min),
                "session_terms_min": float(profile.session_terms_min),
                "old_hits_min": float(profile.old_hits_min),
            },
        ),
    )


def _why_silent(
    request: DecideRequest, profile: SuggestionProfile
) -> tuple[DecideReason | None, tuple[SalientWord, ...]]:
    """Why nothing is even looked at, and the salient words of the message."""
    message = message_of(request)
    if not message:
        return DecideReason.NO_USER_TEXT, ()
    if not request.scope.project:
        return DecideReason.PROJECT_UNKNOWN, ()
    words = salient_words(message)
    if word_count(words) < profile.terms_min:
        return DecideReason.FEW_TERMS, words
    return (None if request.candidates else DecideReason.NO_CANDIDATES), words


def _judge_all(
    request: DecideRequest, profile: SuggestionProfile, session: SessionKnowledge, words: Sequence[SalientWord]
) -> tuple[JudgedCandidate, ...]:
    would_show = request.candidates[: profile.items_max]
    shared = {each.id: shared_words(words, content_of(each)) for each in would_show}
    own = {each.id: _reason(each, request, profile, session, shared[each.id]) for each in would_show}
    counted = (each for each in would_show if own[each.id] not in _NOBODYS)
    by_session = _shared_by_session(counted, shared)
    judged: list[JudgedCandidate] = []
    seen: set[str] = set()
    for candidate in would_show:
        reason, terms = own[candidate.id], shared[candidate.id]
        if reason is CandidateReason.PASSED:
            key = content_key(candidate)
            if not terms or len(by_session[_session_of(candidate)]) < profile.session_terms_min:
                reason = CandidateReason.FEW_TERMS
            elif key in seen:
                reason = CandidateReason.SAME_CONTENT
            seen.add(key)
        judged.append(JudgedCandidate(id=candidate.id, reason=reason, score=candidate.score, terms=terms))
    over = request.candidates[profile.items_max :]
    return (*judged, *(JudgedCandidate(id=each.id, reason=CandidateReason.OVER_LIMIT) for each in over))


def _reason(
    candidate: DecideCandidate,
    request: DecideRequest,
    profile: SuggestionProfile,
    session: SessionKnowledge,
    shared: Sequence[str],
) -> CandidateReason:
    """What a candidate comes to by itself."""
    key = content_key(candidate)
    if candidate.is_injected:
        return CandidateReason.OWN_BLOCK
    if not content_of(candidate):
        return CandidateReason.HOST_TEXT
    if candidate.id in request.declined or key in session.declined:
        return CandidateReason.DECLINED_BEFORE
    if key in session.shown:
        return CandidateReason.SHOWN_BEFORE
    age_ms = age_ms_of(candidate, request.now_ms)
    hits = len(shared) if candidate.hits is None else candidate.hits
    is_old = age_ms is not None and age_ms > profile.old_after_ms
    return CandidateReason.TOO_OLD if is_old and hits < profile.old_hits_min else CandidateReason.PASSED


def _session_of(candidate: DecideCandidate) -> str:
    """A candidate that names no session stands for itself."""
    return candidate.session or f"\x1f{candidate.id}"


def _shared_by_session(
    candidates: Iterable[DecideCandidate], shared: Mapping[str, Sequence[str]]
) -> Mapping[str, frozenset[str]]:
    found: dict[str, frozenset[str]] = {}
    for candidate in candidates:
        key = _session_of(candidate)
        found[key] = found.get(key, frozenset()) | frozenset(shared[candidate.id])
    return found
