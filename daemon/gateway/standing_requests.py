"""Requests about standing blocks and outcomes: translated, asked, and answered."""

from __future__ import annotations

import re
from typing import Final, assert_never

import msgspec

from recalld.actors.service import MemoryService
from recalld.daemon.gateway.moments import checked_zone, moment_ms
from recalld.daemon.gateway.translate import checked_scope, checked_user, session_name
from recalld.models.domain import outcomes, standing
from recalld.models.domain.errors import ErrorCode, RecalldError
from recalld.models.policy.standing.fit import pointer_to
from recalld.models.policy.standing.word import word_of
from recalld.protocol import items, replies, requests

BLOCK_ENVELOPE_S: Final = 0.8
"""Seconds a block may take. Less than the second that the clients wait by default, so that a late one is still told."""
REPORTS_MAX: Final = 100
"""Reports sent one by one; the counts are always the whole."""

_DECISION_FIELD: Final = "decision_id"

FeedbackRequest = requests.Standing | requests.SetStanding | requests.Outcome | requests.Outcomes
FeedbackReply = replies.StandingBlock | replies.StandingSet | replies.Ok | replies.OutcomeReport


async def answer_feedback(
    service: MemoryService, request: FeedbackRequest, *, now_ms: int, received_s: float, write_deadline_s: float
) -> FeedbackReply:
    """Carry one of these requests out. Whoever asks has been authorised.

    Args:
        service: What does the work.
        request: What was asked.
        now_ms: Present time.
        received_s: When it came, on the monotonic clock.
        write_deadline_s: Until when a write may take, on the monotonic clock.

    Raises:
        RecalldError: `bad_request` for a field at fault, and whatever the service raises.
    """
    match request:
        case requests.Standing():
            block = await service.standing(standing_request(request, received_s=received_s))
            return standing_block(request.id, block, now_ms=now_ms, explain=request.explain)
        case requests.SetStanding():
            action = standing.StandingAction(request.action)
            done = await service.set_standing(
                checked_user(request.user), request.memory_id, action, deadline_s=write_deadline_s
            )
            return standing_set(request, done)
        case requests.Outcome():
            report = outcome_report(request, now_ms=now_ms, deadline_s=write_deadline_s)
            try:
                await service.record_outcome(report)
            except RecalldError as error:
                raise _as_given(error, request) from error
            return replies.Ok(id=request.id)
        case requests.Outcomes():
            return reported(request.id, await _outcomes(service, request))
        case _:
            assert_never(request)


async def _outcomes(service: MemoryService, request: requests.Outcomes) -> standing.MemoryOutcomes:
    _exactly_one(memory_id=request.memory_id, decision_id=request.decision_id)
    if request.memory_id is not None:
        return await service.outcomes_of_memory(request.user, request.memory_id, limit=REPORTS_MAX)
    return await service.outcomes_of_decision(request.user, request.decision_id or "", limit=REPORTS_MAX)


def standing_request(request: requests.Standing, *, received_s: float) -> standing.StandingRequest:
    """What the user's actor is asked."""
    return standing.StandingRequest(
        user=checked_user(request.user),
        session=session_name(request.session),
        scope=checked_scope(request.scope),
        max_chars=request.max_chars,
        is_again=request.again,
        deadline_s=received_s + BLOCK_ENVELOPE_S,
    )


def outcome_report(request: requests.Outcome, *, now_ms: int, deadline_s: float) -> outcomes.OutcomeReport:
    """The report as the store keeps it.

    Raises:
        RecalldError: `bad_request` unless exactly one of `recall_id` and `decision_id` is given.
    """
    _exactly_one(recall_id=request.recall_id, decision_id=request.decision_id)
    return outcomes.OutcomeReport(
        user=checked_user(request.user),
        decision_id=request.recall_id or request.decision_id or "",
        memory_id=request.item_id or "",
        result=outcomes.OutcomeResult(request.result),
        at_ms=moment_ms("at", request.at, checked_zone(request.time_zone), now_ms=now_ms),
        deadline_s=deadline_s,
    )


def standing_block(
    request_id: int, block: standing.StandingBlock, *, now_ms: int, explain: bool
) -> replies.StandingBlock:
    """The answer; how the candidates were judged only when it was asked for."""
    pinned = {row.candidate.memory.id for row in block.rows if row.candidate.choice is standing.StandingChoice.PINNED}
    return replies.StandingBlock(
        id=request_id,
        decision_id=block.decision_id,
        reason=block.reason.value,
        items=tuple(
            items.StandingItem(
                id=memory.id,
                text=memory.text,
                kind=memory.kind.value,
                scope=memory.scope,
                age_s=max(0, now_ms - memory.created_at_ms) / 1000,
                is_pinned=memory.id in pinned,
            )
            for memory in block.memories
        ),
        pointers=tuple(
            items.StandingPointer(id=pointer.memory_id, kind=pointer.kind.value, cue=pointer.cue)
            for pointer in block.pointers
        ),
        left_out=block.left_out,
        chars=block.chars,
        chars_max=block.chars_max,
        tokens=block.tokens,
        ranking=tuple(map(_rank, block.rows)) if explain else (),
    )


def standing_set(request: requests.SetStanding, done: standing.StandingSet) -> replies.StandingSet:
    """What holds after a person decided."""
    return replies.StandingSet(
        id=request.id,
        memory_id=request.memory_id,
        choice=None if done.choice is None else done.choice.value,
        is_changed=done.is_changed,
        is_standing=done.is_standing,
        decision_id=done.decision_id,
    )


def reported(request_id: int, found: standing.MemoryOutcomes) -> replies.OutcomeReport:
    """What was reported."""
    return replies.OutcomeReport(
        id=request_id,
        counts=_counts(found.tally),
        outcomes=tuple(
            items.ReportedOutcome(
                decision_id=each.decision_id, item_id=each.memory_id, result=each.result.value, at_ms=each.at_ms
            )
            for each in found.newest
        ),
        choice=None if found.choice is None else found.choice.value,
    )


def _rank(row: standing.StandingRow) -> items.StandingRank:
    candidate = row.candidate
    return items.StandingRank(
        id=candidate.memory.id,
        verdict=row.verdict.value,
        usefulness=row.usefulness,
        value=row.value,
        words=row.words,
        source=candidate.memory.source.value,
        word=word_of(candidate).value,
        outcomes=_counts(candidate.tally),
        turns=candidate.turns,
        choice=None if candidate.choice is None else candidate.choice.value,
        cue=pointer_to(candidate.memory).cue,
    )


def _counts(tally: outcomes.OutcomeTally) -> items.OutcomeCounts:
    return msgspec.convert(tally, items.OutcomeCounts, from_attributes=True)


def _as_given(error: RecalldError, request: requests.Outcome) -> RecalldError:
    """The error by the name of the field that the caller gave: inside, a recall is a decision like any other."""
    if request.recall_id is None:
        return error
    return RecalldError(error.code, re.sub(rf"^{_DECISION_FIELD}(?=: )", "recall_id", error.message))


def _exactly_one(**given: str | None) -> None:
    if sum(value is not None for value in given.values()) != 1:
        names = " and ".join(given)
        raise RecalldError(ErrorCode.BAD_REQUEST, f"{names}: give exactly one of them")
