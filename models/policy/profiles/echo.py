"""Which proposed facts only restate what the turn was shown from memory?

Guards: the store against its own echo, which would count as evidence for what nobody said again. Cost: a comparison of
each fact with each injected text. Fails: towards keeping: a changed number, name, date or negation is news.
"""

from __future__ import annotations

from recalld.models.domain.decide import CandidatePresence, DecideCandidate, DecideRequest
from recalld.models.domain.decision import (
    CandidateReason,
    DecideEvidence,
    DecideParams,
    DecideReason,
    Decision,
    GateDecision,
    JudgedCandidate,
)
from recalld.models.policy.duplicates import fold
from recalld.models.policy.profiles.answers import answer
from recalld.models.policy.profiles.spec import EchoProfile
from recalld.models.policy.same_fact import is_same_fact

RULE = "echo"


def decide_echo(request: DecideRequest, profile: EchoProfile) -> Decision:
    """Keep the facts that say more than what was injected, in the caller's order."""
    shown = tuple(each.text for each in request.candidates if _is_shown(each))
    proposed = tuple(each for each in request.candidates if not _is_shown(each))
    if not proposed:
        return answer(profile, GateDecision.SKIP, DecideReason.NO_CANDIDATES, decided_by=RULE)
    judged = tuple(
        JudgedCandidate(
            id=each.id, reason=CandidateReason.ECHO if restates(each.text, shown) else CandidateReason.PASSED
        )
        for each in proposed
    )
    kept = tuple(each.id for each in judged if each.reason is CandidateReason.PASSED)
    return answer(
        profile,
        GateDecision.RUN if kept else GateDecision.SKIP,
        DecideReason.PASSED if kept else DecideReason.NOTHING_NEW,
        decided_by=RULE,
        params=DecideParams(items=kept),
        evidence=DecideEvidence(candidates=judged, counts={"shown": len(shown)}),
    )


def restates(text: str, shown: tuple[str, ...]) -> bool:
    """Whether a fact says nothing that one of the shown texts does not say."""
    words = fold(text)
    return any(words == fold(each) or is_same_fact(text, (), each, ()) for each in shown)


def _is_shown(candidate: DecideCandidate) -> bool:
    return candidate.is_injected or candidate.presence is not CandidatePresence.PROPOSED
