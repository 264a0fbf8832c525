"""`decide` and `decision`: from the wire to the domain and back."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePosixPath
from typing import Final

import msgspec

from recalld.daemon.gateway.moments import checked_zone, moment_ms
from recalld.daemon.gateway.translate import checked_scope, checked_user, session_name
from recalld.models.domain import decide, decision
from recalld.models.domain.errors import ErrorCode, RecalldError
from recalld.models.domain.turn_parts import MessagePart, PartKind
from recalld.models.domain.world import ProbeAnswer
from recalld.protocol import decide_items, replies, requests

ENVELOPE_S: Final = 5.0
"""Seconds a decision may take when the request does not say."""
ENVELOPE_MAX_S: Final = 25.0
"""The most it may ask for: well below the gateway's own guard."""


def decide_request(
    request: requests.Decide, *, now_ms: int, received_s: float, may_probe_files: bool
) -> decide.DecideRequest:
    """What the gate is asked.

    Args:
        request: From the wire.
        now_ms: The server's present.
        received_s: When the frame was complete, on the monotonic clock.
        may_probe_files: Whether the peer could read everything itself that this daemon can.

    Raises:
        RecalldError: `bad_request` for a value out of its domain.
    """
    zone = checked_zone(request.time_zone)
    asked_s = ENVELOPE_S if request.budget_ms is None else request.budget_ms / 1000
    checked_scope(request.scope.project)
    _check_root(request.scope.project_root)
    _check_names(request.candidates)
    return decide.DecideRequest(
        op=decide.DecideOp(request.op),
        profile=request.profile,
        user=checked_user(request.user),
        session=session_name(request.session),
        turn_id=request.turn_id,
        scope=msgspec.convert(request.scope, decide.DecideScope, from_attributes=True),
        parts=_parts(request),
        recent=None if request.turns is None else tuple(turn.text for turn in request.turns),
        now_ms=moment_ms("now", request.now, zone, now_ms=now_ms),
        is_now_named=request.now is not None,
        time_zone=request.time_zone,
        candidates=tuple(
            msgspec.convert(each, decide.DecideCandidate, from_attributes=True) for each in request.candidates
        ),
        sweep=msgspec.convert(request.sweep, decide.SweepArguments, from_attributes=True),
        stage=None if request.stage is None else decide.ReadStage(request.stage),
        call_shape=None if request.call_shape is None else decide.CallShape(request.call_shape),
        model=None if request.model is None else _report(request.model),
        probe_answers=tuple(ProbeAnswer(claim_id=each.claim_id, answer=each.answer) for each in request.probe_answers),
        declined=request.declined,
        wanted_files=request.wanted_files,
        usage=request.usage,
        counters=request.counters,
        explicit=frozenset(decide.Argument(name) for name in request.explicit),
        may_probe_files=may_probe_files,
        deadline_s=received_s + min(asked_s, ENVELOPE_MAX_S),
    )


def decided(request_id: int, made: decision.Decision) -> replies.Decision:
    """The gate's answer."""
    return replies.Decision(
        id=request_id,
        decision_id=made.decision_id,
        op=made.op.value,
        profile=made.profile,
        policy_version=made.policy_version,
        decision=made.decision.value,
        reason_code=made.reason_code.value,
        reason=made.reason,
        params=msgspec.convert(made.params, decide_items.DecideParams, from_attributes=True),
        evidence=msgspec.convert(made.evidence, decide_items.DecideEvidence, from_attributes=True),
        decided_by=made.decided_by,
        degraded=made.is_degraded,
        cost_ms=made.cost_ms,
        repeat=made.is_repeat,
        notice=made.notice,
    )


def _parts(request: requests.Decide) -> tuple[MessagePart, ...]:
    if request.parts:
        return tuple(MessagePart(kind=PartKind(part.role), text=part.text) for part in request.parts)
    return (MessagePart(text=request.text),) if request.text else ()


def _report(report: decide_items.ModelReport) -> decide.ModelReport:
    failure = None if report.failure is None else decide.ModelFailure(report.failure)
    return decide.ModelReport(text=report.text, was_truncated=report.was_truncated, failure=failure)


def _check_root(root: str) -> None:
    if root and (not PurePosixPath(root).is_absolute() or "\0" in root or ".." in PurePosixPath(root).parts):
        message = "scope.project_root: is no plain absolute path; give one such as /home/ines/project, or leave it out"
        raise RecalldError(ErrorCode.BAD_REQUEST, message)


def _check_names(candidates: Sequence[decide_items.DecideCandidate]) -> None:
    seen: set[str] = set()
    for place, candidate in enumerate(candidates):
        if candidate.id in seen:
            message = f"candidates[{place}].id: {candidate.id!r} is given twice; give each candidate once"
            raise RecalldError(ErrorCode.BAD_REQUEST, message)
        seen.add(candidate.id)
