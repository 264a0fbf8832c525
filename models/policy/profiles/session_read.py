"""Reading past sessions in stages: cards in memory, then a slim full-text index, then pages of the best sessions.

Guards: the prompt, and the time of whoever waits, against whole histories. Cost: linear in the candidates of one stage.
Fails: closed towards what must never win (the asking session, its family, what was put there from memory), open
otherwise. When the index lags, that is said first: other words would not help then.

The caller asks once a stage, with that stage's candidates: cards, hits of the index, messages.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from recalld.models.domain.decide import DecideCandidate, DecideRequest, ReadStage
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
from recalld.models.policy.profiles.cursor import SweepKey, SweepState, decode_cursor, encode_cursor
from recalld.models.policy.profiles.knowledge import Knowledge
from recalld.models.policy.profiles.overlap import SalientWord, salient_words, shared_words
from recalld.models.policy.profiles.reading import content_of, message_of
from recalld.models.policy.profiles.spec import SessionReadProfile
from recalld.models.policy.profiles.sweep import holder_of

RULE = "staged_read"
INDEX_LAG = "index_lag"
"""The counter in which the caller says how many messages its index is behind."""


def decide_session_read(request: DecideRequest, profile: SessionReadProfile, knowledge: Knowledge) -> Decision:
    """Say what this stage leads to: the next stage, sessions to read, or messages to show."""
    message = message_of(request)
    if not message:
        return answer(profile, GateDecision.SKIP, DecideReason.NO_USER_TEXT, decided_by=RULE)
    match request.stage:
        case None:
            return lacking(profile, "stage", params=DecideParams(query=message))
        case ReadStage.CARDS:
            return _after_cards(request, profile, message)
        case ReadStage.INDEX:
            return _after_index(request, profile, message)
        case ReadStage.MESSAGES:
            return _after_messages(request, profile, knowledge, message)


def why_excluded(candidate: DecideCandidate, request: DecideRequest) -> CandidateReason | None:
    """Why a candidate may never win, however well it matches; None if it may."""
    session = candidate.session or candidate.id
    if session in request.scope.family or (request.session and session == request.session):
        return CandidateReason.OWN_SESSION
    if candidate.is_injected:
        return CandidateReason.OWN_BLOCK
    return None if content_of(candidate) else CandidateReason.HOST_TEXT


def _after_cards(request: DecideRequest, profile: SessionReadProfile, message: str) -> Decision:
    words = salient_words(message)
    judged = tuple(_judged_card(each, request, profile, words) for each in request.candidates)
    passed = [each for each in judged if each.reason is CandidateReason.PASSED]
    best = sorted(passed, key=lambda each: -len(each.terms))[: profile.sessions_max]
    sessions = {each.id: each.session or each.id for each in request.candidates}
    targets = tuple(dict.fromkeys(sessions[each.id] for each in best))
    evidence = _evidence(request, words, judged)
    stage = ReadStage.MESSAGES if targets else ReadStage.INDEX
    reason = DecideReason.CARDS_MATCH if targets else DecideReason.SEARCH_INDEX
    params = DecideParams(query=message, targets=targets, stage=stage, limits=_limits(profile))
    return answer(profile, GateDecision.RUN, reason, decided_by=RULE, params=params, evidence=evidence)


def _judged_card(
    card: DecideCandidate, request: DecideRequest, profile: SessionReadProfile, words: Sequence[SalientWord]
) -> JudgedCandidate:
    excluded = why_excluded(card, request)
    terms = () if excluded else shared_words(words, content_of(card))
    reason = excluded or (CandidateReason.PASSED if len(terms) >= profile.card_terms_min else CandidateReason.FEW_TERMS)
    return JudgedCandidate(id=card.id, reason=reason, threshold=float(profile.card_terms_min), terms=terms)


def _after_index(request: DecideRequest, profile: SessionReadProfile, message: str) -> Decision:
    best: dict[str, float] = {}
    judged: list[JudgedCandidate] = []
    for hit in request.candidates:
        excluded = why_excluded(hit, request)
        if excluded is None:
            session, score = hit.session or hit.id, hit.score or 0.0
            best[session] = max(score, best.get(session, score))
        judged.append(JudgedCandidate(id=hit.id, reason=excluded or CandidateReason.PASSED, score=hit.score))
    targets = tuple(sorted(best, key=lambda session: -best[session])[: profile.sessions_max])
    evidence = _evidence(request, (), tuple(judged))
    is_lagging = request.counters.get(INDEX_LAG, 0) > 0
    if targets:
        params = DecideParams(query=message, targets=targets, stage=ReadStage.MESSAGES, limits=_limits(profile))
        return answer(
            profile,
            GateDecision.RUN,
            DecideReason.READ_SESSIONS,
            decided_by=RULE,
            params=params,
            evidence=evidence,
            is_degraded=is_lagging,
        )
    reason = DecideReason.INDEX_LAGGING if is_lagging else DecideReason.NOTHING_FOUND
    return answer(
        profile,
        GateDecision.DEFER if is_lagging else GateDecision.SKIP,
        reason,
        decided_by=RULE,
        params=DecideParams(query=message),
        evidence=evidence,
        is_degraded=is_lagging,
    )


def _after_messages(
    request: DecideRequest, profile: SessionReadProfile, knowledge: Knowledge, message: str
) -> Decision:
    holder = holder_of(request, profile.name)
    keys = {SweepKey(each.session, each.at_ms or 0, each.id): each for each in request.candidates}
    state: SweepState | None = None
    if request.sweep.cursor:
        state = decode_cursor(request.sweep.cursor, holder, key=knowledge.cursor_key)
        if state is None:
            return answer(profile, GateDecision.REFUSE, DecideReason.BAD_CURSOR, decided_by=RULE)
    if state is None and keys:
        state = SweepState(None, max(keys), None, "", b"", b"")
    ahead = [] if state is None else [key for key in sorted(keys) if _is_ahead(key, state)]
    if state is None or not ahead:
        return answer(profile, GateDecision.SKIP, DecideReason.NO_CANDIDATES, decided_by=RULE)
    page = _page([keys[key] for key in ahead], request, profile)
    shown = tuple(each.id for each in page if each.reason is CandidateReason.PASSED)
    left = len(ahead) - len(page)
    behind = msgspec.structs.replace(state, after=ahead[len(page) - 1])
    params = DecideParams(
        query=message,
        items=shown,
        cursor=encode_cursor(behind, holder, key=knowledge.cursor_key) if left else None,
        limits=_limits(profile),
    )
    return answer(
        profile,
        GateDecision.RUN if shown else GateDecision.SKIP,
        DecideReason.READ_MESSAGES if shown else DecideReason.NONE_PASSED,
        decided_by=RULE,
        params=params,
        evidence=msgspec.structs.replace(_evidence(request, (), page), counts={"messages_left": left}),
    )


def _is_ahead(key: SweepKey, state: SweepState) -> bool:
    return (state.after is None or key > state.after) and key <= state.until


def _page(
    messages: Sequence[DecideCandidate], request: DecideRequest, profile: SessionReadProfile
) -> tuple[JudgedCandidate, ...]:
    """Judge messages from the first on, up to the page's end: its number of messages, or the query's text.

    A message over its session's text is passed over, so that one long session leaves room for the others. The first
    message of a page is looked at whatever the query's text: a resume always gets on.
    """
    judged: list[JudgedCandidate] = []
    chars = shown = 0
    by_session: dict[str, int] = {}
    for each in messages:
        excluded = why_excluded(each, request)
        size = len(each.text)
        if excluded is None and by_session.get(each.session, 0) + size > profile.chars_per_session_max:
            excluded = CandidateReason.OVER_CHARS
        if excluded is None:
            if shown >= profile.page_messages or (shown and chars + size > profile.chars_max):
                break
            shown += 1
            chars += size
            by_session[each.session] = by_session.get(each.session, 0) + size
        judged.append(JudgedCandidate(id=each.id, reason=excluded or CandidateReason.PASSED, score=each.score))
    return tuple(judged)


def _limits(profile: SessionReadProfile) -> DecideLimits:
    return DecideLimits(
        items_max=profile.sessions_max,
        chars_max=profile.chars_max,
        chars_per_session_max=profile.chars_per_session_max,
        page_messages=profile.page_messages,
    )


def _evidence(
    request: DecideRequest, words: Sequence[SalientWord], judged: tuple[JudgedCandidate, ...]
) -> DecideEvidence:
    """What was seen; how far the index lags is always said, also when something was found."""
    passed = sum(1 for each in judged if each.reason is CandidateReason.PASSED)
    return DecideEvidence(
        terms=tuple(word.word for word in words),
        candidates=judged,
        counts={
            "discovered": len(judged),
            "searched": passed,
            "skipped": len(judged) - passed,
            INDEX_LAG: request.counters.get(INDEX_LAG, 0),
        },
    )
