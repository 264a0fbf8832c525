"""What a decision leaves behind in the ledger: rules, counts, scores and ids, and no word of the user."""

from __future__ import annotations

import msgspec

from recalld.models.domain.decide import DecideRequest
from recalld.models.domain.decision import Decision
from recalld.models.domain.reasons import Op
from recalld.models.domain.store import DecisionRow

CANDIDATES_MAX = 100
ID_CHARS_MAX = 64


class CandidateRow(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One candidate; `terms` is how many of its words were in the message."""

    id: str
    reason: str
    score: float | None = None
    threshold: float | None = None
    terms: int = 0


class ClaimRow(msgspec.Struct, frozen=True, kw_only=True):
    """What became of one claim; `place` says which of its record's, since no word of the record is kept here."""

    candidate_id: str
    place: int
    kind: str
    outcome: str
    reason: str


class DecideBody(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The body of a decision's ledger row."""

    op: str
    profile: str
    policy_version: str
    decided_by: str
    turn_id: str = ""
    message_chars: int = 0
    recent_turns: int | None = None
    cue_families: tuple[str, ...] = ()
    terms: int = 0
    terms_posted: int = 0
    intervals: int = 0
    query_fallback: bool = False
    items: int = 0
    targets: int = 0
    probe_requests: int = 0
    has_cursor: bool = False
    missing: tuple[str, ...] = ()
    stage: str = ""
    candidates: tuple[CandidateRow, ...] = ()
    candidates_left_out: int = 0
    claims: tuple[ClaimRow, ...] = ()
    thresholds: dict[str, float] = {}
    counts: dict[str, int] = {}
    cost_ms: float = 0.0


def decide_row(request: DecideRequest, decision: Decision, *, at_ms: int) -> DecisionRow:
    """The ledger row of a decision; its id is the decision's own."""
    return DecisionRow(
        id=decision.decision_id,
        user=request.user,
        session=request.session,
        op=Op.DECIDE,
        at_ms=at_ms,
        decision=decision.decision.value,
        reason=decision.reason_code.value,
        degraded_reason=decision.reason_code.value if decision.is_degraded else "",
        body=msgspec.json.encode(_body(request, decision)),
    )


def _body(request: DecideRequest, decision: Decision) -> DecideBody:
    params, evidence = decision.params, decision.evidence
    return DecideBody(
        op=decision.op.value,
        profile=decision.profile,
        policy_version=decision.policy_version,
        decided_by=decision.decided_by,
        turn_id=request.turn_id,
        message_chars=sum(len(part.text) for part in request.parts),
        recent_turns=None if request.recent is None else len(request.recent),
        cue_families=tuple(dict.fromkeys(cue.partition(":")[0] for cue in evidence.cues)),
        terms=len(evidence.terms),
        terms_posted=len(evidence.posted),
        intervals=len(params.intervals),
        query_fallback=params.query_fallback,
        items=len(params.items),
        targets=len(params.targets),
        probe_requests=len(params.probe_requests),
        has_cursor=params.cursor is not None,
        missing=params.missing,
        stage="" if params.stage is None else params.stage.value,
        candidates=tuple(
            CandidateRow(
                id=each.id[:ID_CHARS_MAX],
                reason=each.reason.value,
                score=each.score,
                threshold=each.threshold,
                terms=len(each.terms),
            )
            for each in evidence.candidates[:CANDIDATES_MAX]
        ),
        candidates_left_out=max(0, len(evidence.candidates) - CANDIDATES_MAX),
        claims=tuple(
            ClaimRow(
                candidate_id=each.candidate_id[:ID_CHARS_MAX],
                place=each.place,
                kind=each.kind.value,
                outcome=each.outcome.value,
                reason=each.reason.value,
            )
            for each in evidence.probes
        ),
        thresholds=evidence.thresholds,
        counts=evidence.counts,
        cost_ms=decision.cost_ms,
    )
