"""Rewriting: is this message worth a call that makes it stand alone, and can the answer be used?

Guards: the latency of a model call, and the user's own words. Cost: a look at the first words.
Fails: towards the message as the user wrote it. Whatever goes wrong with the model, the query is the raw message.

Asked twice within a turn: without the model's answer (may I call?), then with it (what do I search for?).
"""

from __future__ import annotations

from recalld.models.domain.decide import DecideRequest, ModelReport
from recalld.models.domain.decision import DecideLimits, DecideParams, DecideReason, Decision, GateDecision
from recalld.models.policy.profiles.answers import BY_ERROR_PATH, BY_MODEL, CAUSE_REASONS, answer, lacking
from recalld.models.policy.profiles.reading import MODEL_CAUSES, message_of
from recalld.models.policy.profiles.spec import RewriteProfile
from recalld.models.policy.protected_spans import mask_code_and_quotes
from recalld.models.policy.turn.directions import GateCause
from recalld.models.policy.turn.lists import likely_languages
from recalld.models.policy.turn.references import Reference, find_reference
from recalld.models.policy.turn.words import TurnWords, read_words
from recalld.models.policy.visible import has_visible

HISTORY_RULE = "history"
REFERENCE_RULE = "reference"


def decide_rewrite(request: DecideRequest, profile: RewriteProfile) -> Decision:
    """Decide whether to call a model, or what of its answer to use."""
    message = message_of(request)
    if not message:
        return answer(profile, GateDecision.SKIP, DecideReason.NO_USER_TEXT, decided_by=HISTORY_RULE)
    if request.recent is None:
        return lacking(profile, "turns", params=DecideParams(query=message))
    if not request.recent:
        return _keep(profile, DecideReason.NO_HISTORY, message, decided_by=HISTORY_RULE)
    if request.model is not None:
        return _answered(request.model, profile, message)
    words = read_words(mask_code_and_quotes(message))
    if not _leans(words, profile):
        return _keep(profile, DecideReason.STANDS_ALONE, message, decided_by=REFERENCE_RULE)
    limits = DecideLimits(time_ms=profile.time_ms, chars_max=profile.chars_max)
    return answer(
        profile,
        GateDecision.RUN,
        DecideReason.LEANS_ON_HISTORY,
        decided_by=REFERENCE_RULE,
        params=DecideParams(query=message, limits=limits),
    )


def _leans(words: TurnWords, profile: RewriteProfile) -> bool:
    """Whether a message starts with a pronoun or a conjunction of its language, or is short."""
    if words.length <= profile.short_words_max:
        return True
    return find_reference(words, likely_languages(words)) in {Reference.PRONOUN, Reference.CONJUNCTION}


def _answered(report: ModelReport, profile: RewriteProfile, message: str) -> Decision:
    if report.failure is not None:
        return _failed(profile, MODEL_CAUSES[report.failure], message)
    if report.was_truncated:
        return _failed(profile, GateCause.ERROR, message)
    rewritten = " ".join(report.text.split())
    if rewritten.strip(" .\"'`").casefold() == profile.abstain_word.casefold():
        return _keep(profile, DecideReason.ABSTAINED, message, decided_by=BY_MODEL)
    if not has_visible(rewritten) or len(rewritten) > profile.chars_max:
        return _keep(profile, DecideReason.REPLY_UNUSABLE, message, decided_by=BY_ERROR_PATH, is_degraded=True)
    params = DecideParams(query=rewritten)
    return answer(profile, GateDecision.RUN, DecideReason.REWRITTEN, decided_by=BY_MODEL, params=params)


def _failed(profile: RewriteProfile, cause: GateCause, message: str) -> Decision:
    return _keep(profile, CAUSE_REASONS[cause], message, decided_by=BY_ERROR_PATH, is_degraded=True)


def _keep(
    profile: RewriteProfile, reason: DecideReason, message: str, *, decided_by: str, is_degraded: bool = False
) -> Decision:
    return answer(
        profile,
        GateDecision.SKIP,
        reason,
        decided_by=decided_by,
        params=DecideParams(query=message, query_fallback=is_degraded),
        is_degraded=is_degraded,
    )
