"""Permanent context as an index: which memories avert more error than the words they cost in every turn?

Guards: the prompt of every turn. Cost: a ranking of the memories that might stand. Fails: towards a shorter index.
Usefulness comes from recorded outcomes with a prior; what falls below the bar is demoted and stays stored, with a
pointer in the index. Nothing enters that no user stated and no successful use speaks for.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

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
from recalld.models.domain.standing import StandingVerdict
from recalld.models.policy.profiles.answers import answer, undecided
from recalld.models.policy.profiles.knowledge import Knowledge
from recalld.models.policy.profiles.spec import IndexProfile
from recalld.models.policy.standing.fit import BlockLimits, fit
from recalld.models.policy.standing.measure import ASCII_CHARS_PER_TOKEN
from recalld.models.policy.standing.rank import StandingRules, rank
from recalld.models.policy.turn.directions import GateCause

RULE = "return_on_investment"
_REASONS: Mapping[StandingVerdict, CandidateReason] = MappingProxyType(
    {
        StandingVerdict.SHOWN: CandidateReason.PASSED,
        StandingVerdict.BELOW_BAR: CandidateReason.BELOW_THRESHOLD,
        StandingVerdict.DEMOTED: CandidateReason.DEMOTED,
        StandingVerdict.UNPROVEN: CandidateReason.UNPROVEN,
        StandingVerdict.DUPLICATE: CandidateReason.SAME_CONTENT,
        StandingVerdict.ALREADY_VISIBLE: CandidateReason.SHOWN_BEFORE,
        StandingVerdict.OVER_CHARS: CandidateReason.OVER_CHARS,
        StandingVerdict.OVER_LINES: CandidateReason.OVER_LIMIT,
        StandingVerdict.OVER_TOKENS: CandidateReason.OVER_CHARS,
    }
)


def decide_index(profile: IndexProfile, knowledge: Knowledge) -> Decision:
    """Name the memories of the index, best first, and the pointers to demoted ones as targets."""
    standing = knowledge.standing
    if standing is None:
        return undecided(profile, GateCause.ERROR)
    rules = StandingRules(value_min=profile.value_min, error_cost_words=profile.error_cost_words)
    # No text has more characters than this for its tokens, so that tokens and lines alone decide.
    chars_max = profile.tokens_max * ASCII_CHARS_PER_TOKEN
    limits = BlockLimits(chars_max=chars_max, lines_max=profile.lines_max, tokens_max=profile.tokens_max)
    block = fit(rank(standing.candidates, rules), limits)
    shown = tuple(memory.id for memory in block.memories)
    lines = sum(max(1, len(memory.text.splitlines())) for memory in block.memories) + len(block.pointers)
    judged = tuple(
        JudgedCandidate(
            id=row.candidate.memory.id,
            reason=_REASONS[row.verdict],
            score=round(row.value, 3),
            threshold=profile.value_min,
        )
        for row in block.rows
    )
    is_empty = not (shown or block.pointers)
    reason = DecideReason.PASSED if not is_empty else DecideReason.NONE_PASSED if judged else DecideReason.NO_CANDIDATES
    return answer(
        profile,
        GateDecision.SKIP if is_empty else GateDecision.RUN,
        reason,
        decided_by=RULE,
        params=DecideParams(
            items=shown,
            targets=tuple(each.memory_id for each in block.pointers),
            limits=DecideLimits(items_max=profile.lines_max, chars_max=chars_max),
        ),
        evidence=DecideEvidence(
            candidates=judged,
            counts={"lines": lines, "tokens": block.tokens, "left_out": block.left_out, "unread": standing.unread},
            thresholds={"value_min": profile.value_min, "tokens_max": float(profile.tokens_max)},
        ),
    )
