"""Requests about what a turn leads to: observed turns, proposals and their answers, observations and lineages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, TypeVar, assert_never

import msgspec

from recalld.actors.service import MemoryService
from recalld.daemon.gateway import translate
from recalld.daemon.gateway.candidates import read_candidates
from recalld.daemon.gateway.moments import checked_zone, said_ms
from recalld.models.domain import admission, admission_store
from recalld.models.domain.errors import ErrorCode, RecalldError
from recalld.models.domain.usage import Usage
from recalld.protocol import items, replies, requests
from recalld.protocol.codec import encode_message
from recalld.protocol.errors import WireError

NAMELESS_CLIENT: Final = "nameless"
"""What a client counts as that gave no name: it, too, must not approve what it brought."""
EVIDENCE_MAX: Final = 200
SUPERSEDED_MAX: Final = 20
EVICTIONS_MAX: Final = 100

AdmissionRequest = (
    requests.Observe | requests.Confirm | requests.ListProposals | requests.ListObservations | requests.GetLineage
)
AdmissionReply = replies.Admitted | replies.Confirmed | replies.Proposals | replies.Observations | replies.Lineage
_Page = TypeVar("_Page", replies.Proposals, replies.Observations)


async def answer_admission(
    service: MemoryService, request: AdmissionRequest, *, client: str, now_ms: int, write_deadline_s: float
) -> AdmissionReply:
    """Carry one of these requests out. Whoever asks has been authorised.

    Args:
        service: What does the work.
        request: What was asked.
        client: The name by which the client said hello; empty: it gave none.
        now_ms: Present time.
        write_deadline_s: Until when a write may take, on the monotonic clock.

    Raises:
        RecalldError: `bad_request` for a field at fault, and whatever the service raises.
    """
    named = client or NAMELESS_CLIENT
    match request:
        case requests.Observe():
            turn = observed_turn(request, client=named, now_ms=now_ms, deadline_s=write_deadline_s)
            return admitted(request.id, await service.observe(turn))
        case requests.Confirm():
            confirm = confirm_request(request, client=named, deadline_s=write_deadline_s)
            return confirmed(request.id, await service.confirm(confirm))
        case requests.ListProposals():
            return await _proposals(service, request)
        case requests.ListObservations():
            return await _observations(service, request)
        case requests.GetLineage():
            return lineage(request.id, await service.lineage(request.user, request.memory_id))
        case _:
            assert_never(request)


async def _proposals(service: MemoryService, request: requests.ListProposals) -> replies.Proposals:
    state = None if request.state is None else admission_store.ProposalState(request.state)
    limit = request.limit
    while True:
        page = await service.proposals(request.user, state, limit=limit, cursor=request.cursor)
        reply = replies.Proposals(
            id=request.id,
            proposals=tuple(map(proposal_item, page.proposals)),
            cursor=page.cursor,
            total=page.total,
        )
        if limit == 1 or _fits(reply):
            return reply
        limit = max(1, limit // 2)  # a page of very long texts: a shorter one, and its cursor goes on from there


async def _observations(service: MemoryService, request: requests.ListObservations) -> replies.Observations:
    limit = request.limit
    while True:
        page = await service.observations(request.user, limit=limit, cursor=request.cursor)
        reply = replies.Observations(
            id=request.id,
            observations=tuple(map(observation_item, page.observations)),
            cursor=page.cursor,
            total=page.total,
        )
        if limit == 1 or _fits(reply):
            return reply
        limit = max(1, limit // 2)


# --- requests --------------------------------------------------------------------------------------------------------


def observed_turn(request: requests.Observe, *, client: str, now_ms: int, deadline_s: float) -> admission.ObservedTurn:
    """The turn as the admission actor sees it."""
    zone = checked_zone(request.time_zone)
    read = read_candidates(request.candidates, zone)
    return admission.ObservedTurn(
        user=translate.checked_user(request.user),
        session=translate.session_name(request.session),
        turn_id=translate.key_part("turn_id", request.turn_id),
        speaker=_speaker(request.speaker),
        text=translate.user_text(request.text, request.parts),
        at_ms=said_ms("at", request.at, zone, now_ms=now_ms),
        time_zone=request.time_zone,
        scope=translate.checked_scope(request.scope),
        offered=read.offered,
        unreadable=read.unreadable,
        injected=request.injected,
        answers=request.answers,
        client=client,
        deadline_s=deadline_s,
    )


def confirm_request(request: requests.Confirm, *, client: str, deadline_s: float) -> admission.ConfirmRequest:
    """The answer to a proposal.

    Raises:
        RecalldError: `bad_request` for a text beside a no, and where neither session nor proposal is named.
    """
    if request.edited_text and not request.accept:
        message = "edited_text: says what to store, and accept is false; leave one of them out"
        raise RecalldError(ErrorCode.BAD_REQUEST, message)
    if not request.proposal_id and not request.session:
        message = "proposal_id: is missing; give it, or the session whose latest proposal is meant"
        raise RecalldError(ErrorCode.BAD_REQUEST, message)
    return admission.ConfirmRequest(
        user=translate.checked_user(request.user),
        session=translate.session_name(request.session),
        proposal_id=request.proposal_id,
        is_accepted=request.accept,
        edited_text=request.edited_text,
        approver=client,
        deadline_s=deadline_s,
    )


def _speaker(name: str) -> admission.Speaker:
    """Who said it: one of the known speakers in any case, or somebody else. Nobody in particular is refused."""
    folded = name.strip().casefold()
    if not folded:
        message = "speaker: is blank; say user, assistant, tool, system, or the name of somebody else"
        raise RecalldError(ErrorCode.BAD_REQUEST, message)
    try:
        return admission.Speaker(folded)
    except ValueError:
        return admission.Speaker.OTHER


# --- replies ---------------------------------------------------------------------------------------------------------


def admitted(request_id: int, reply: admission.ObserveReply) -> replies.Admitted:
    """What an observed turn led to."""
    return replies.Admitted(
        id=request_id,
        decision_id=reply.decision_id,
        kept=_verdicts(reply.kept),
        observed=_verdicts(reply.observed),
        proposals=_verdicts(reply.proposals),
        dropped=_verdicts(reply.dropped),
    )


def confirmed(request_id: int, reply: admission.ConfirmReply) -> replies.Confirmed:
    """What became of an answer to a proposal."""
    return replies.Confirmed(
        id=request_id,
        proposal=proposal_item(reply.proposal),
        verdict=None if reply.verdict is None else verdict_item(reply.verdict),
        decision_id=reply.decision_id,
        is_repeat=reply.is_repeat,
    )


def lineage(request_id: int, found: admission_store.Lineage) -> replies.Lineage:
    """Everything behind a memory; of what is long the newest part."""
    return replies.Lineage(
        id=request_id,
        memory=translate.memory_item(found.memory),
        evidence=tuple(map(evidence_item, found.evidence[-EVIDENCE_MAX:])),
        observation=None if found.observation is None else observation_item(found.observation),
        proposal=None if found.proposal is None else proposal_item(found.proposal),
        supersedes=tuple(map(translate.memory_item, found.supersedes[:SUPERSEDED_MAX])),
        superseded_by=None if found.superseded_by is None else translate.memory_item(found.superseded_by),
        slot=found.slot,
        subject=found.subject,
    )


def verdict_item(verdict: admission.Verdict) -> items.Verdict:
    """What became of one fact."""
    return items.Verdict(
        reason=verdict.reason.value,
        memory=None if verdict.memory is None else translate.memory_item(verdict.memory),
        outcome="" if verdict.outcome is None else verdict.outcome.value,
        superseded=verdict.superseded,
        generator="" if verdict.generator is None else verdict.generator.value,
        rule=verdict.rule,
        decided_by=verdict.decided_by,
        evidence=verdict.also_found_by,
        observation=None if verdict.observation is None else observation_item(verdict.observation),
        proposal=None if verdict.proposal is None else proposal_item(verdict.proposal),
        usage=usage_item(verdict.usage),
    )


def observation_item(observation: admission_store.Observation) -> items.ObservationItem:
    """A fact with weak evidence."""
    return items.ObservationItem(
        id=observation.id,
        text=observation.text,
        kind=observation.kind.value,
        scope=observation.scope,
        slot=observation.slot,
        turns=observation.turns,
        sessions=observation.sessions,
        first_at_ms=observation.first_at_ms,
        last_at_ms=observation.last_at_ms,
        promoted_to=observation.promoted_to,
    )


def proposal_item(proposal: admission_store.Proposal) -> items.ProposalItem:
    """A fact that waits, or waited, for the user's yes."""
    return items.ProposalItem(
        id=proposal.id,
        session=proposal.session,
        text=proposal.text,
        kind=proposal.kind.value,
        scope=proposal.scope,
        slot=proposal.slot,
        reason=proposal.reason.value,
        state=proposal.state.value,
        created_at_ms=proposal.created_at_ms,
        expires_at_ms=proposal.expires_at_ms,
        proposer=proposal.proposer,
        memory_id=proposal.memory_id,
        accepted_text=proposal.accepted_text,
    )


def evidence_item(evidence: admission_store.Evidence) -> items.EvidenceItem:
    """One turn behind a memory."""
    return items.EvidenceItem(
        session=evidence.session,
        turn_id=evidence.turn_id,
        at_ms=evidence.at_ms,
        generator=evidence.generator.value,
        rule=evidence.rule,
        reason=evidence.reason.value,
        quote=evidence.quote,
        decision_id=evidence.decision_id,
    )


def usage_item(usage: Usage | None) -> items.UsageItem | None:
    """How much of its caps a scope uses."""
    if usage is None:
        return None
    item = msgspec.convert(usage, items.UsageItem, from_attributes=True)
    return msgspec.structs.replace(item, evictions=item.evictions[:EVICTIONS_MAX])


def _verdicts(verdicts: Sequence[admission.Verdict]) -> tuple[items.Verdict, ...]:
    return tuple(map(verdict_item, verdicts))


def _fits(reply: _Page) -> bool:
    try:
        encode_message(reply)
    except WireError:
        return False
    return True
