"""From a decoded request to its reply: who may ask, what is asked, and what is said when it goes wrong."""

from __future__ import annotations

from typing import assert_never

import anyio
import structlog

from recalld.actors.ports import Clock
from recalld.actors.service import EventStream, MemoryService
from recalld.daemon.gateway import decide_requests, stats_reply, translate, translate_cues
from recalld.daemon.gateway.admission_requests import answer_admission
from recalld.daemon.gateway.audit_requests import answer_audit
from recalld.daemon.gateway.counters import GatewayCount, GatewayCounters
from recalld.daemon.gateway.limits import GatewayLimits
from recalld.daemon.gateway.peer import RESERVED_PREFIX, AccessPolicy, Peer, own_prefix
from recalld.daemon.gateway.standing_requests import answer_feedback
from recalld.daemon.gateway.user_data_requests import answer_user_data
from recalld.models.domain.admission import SessionEvent
from recalld.models.domain.errors import RETRYABLE_CODES, ErrorCode, RecalldError
from recalld.protocol import replies, requests
from recalld.protocol.codec import encode_message
from recalld.protocol.errors import WireError
from recalld.protocol.messages import Reply, ServiceRequest

REQUEST_FAILED = "gateway_request_failed"
"""Log line of a request that was answered `internal`."""

_log: structlog.stdlib.BoundLogger = structlog.get_logger("recalld.gateway")


class Dispatcher:
    """Answers the requests of every connection.

    Args:
        service: What does the work.
        policy: Which peer may act for which user.
        clock: For deadlines and ages.
        limits: Envelopes and the guard time.
        counters: Where refusals and failures are counted.
    """

    def __init__(
        self,
        *,
        service: MemoryService,
        policy: AccessPolicy,
        clock: Clock,
        limits: GatewayLimits,
        counters: GatewayCounters,
    ) -> None:
        self._service = service
        self._policy = policy
        self._clock = clock
        self._limits = limits
        self._counters = counters

    async def answer(self, request: ServiceRequest, peer: Peer, *, received_s: float, client: str = "") -> bytes:
        """Carry a request out and return its reply as a frame. Never raises but for cancellation.

        Args:
            request: What was asked.
            peer: Who asked.
            received_s: When its frame was complete, on the monotonic clock: where its time budget starts.
            client: The name by which the client said hello.
        """
        try:
            with anyio.fail_after(self._guard_s(request)):
                return encode_message(await self._serve(request, peer, received_s, client))
        except RecalldError as error:
            return error_frame(request.id, error.code, error.message)
        except TimeoutError:
            self._counters.add(GatewayCount.REQUESTS_TIMED_OUT)
            return error_frame(request.id, ErrorCode.BUSY, f"no answer within {self._guard_s(request):g} s")
        except Exception as error:  # noqa: BLE001 - the border: one request's fault must not end anything else
            return self._failure(request, error)

    def open_stream(self, request: requests.Subscribe, peer: Peer) -> EventStream:
        """Start a subscription.

        Raises:
            RecalldError: `forbidden` or `bad_request`.
        """
        if request.user is not None:
            self._authorise(peer, request.user)
        elif not self._policy.may_act_for_all(peer.uid):
            self._counters.add(GatewayCount.REQUESTS_FORBIDDEN)
            message = f"user: uid {peer.uid} may not see the events of all users; give one"
            raise RecalldError(ErrorCode.FORBIDDEN, message)
        return self._service.subscribe(translate.event_names(request.events), request.user)

    async def _serve(  # noqa: C901, PLR0911, PLR0912 - one case and return for each kind of request
        self, request: ServiceRequest, peer: Peer, received_s: float, client: str
    ) -> Reply:
        match request:
            case requests.Health() | requests.Stats() | requests.Ping():
                self._authorise_report(peer, request)
                return await self._report(request)
            case _:
                self._authorise(peer, request.user)
        write_deadline_s = received_s + self._limits.write_envelope_s
        now_ms = self._clock.now_ms()
        match request:
            case requests.Recall():
                return await self._recall(request, received_s, now_ms)
            case (
                requests.Observe()
                | requests.Confirm()
                | requests.ListProposals()
                | requests.ListObservations()
                | requests.GetLineage()
            ):
                return await answer_admission(
                    self._service, request, client=client, now_ms=now_ms, write_deadline_s=write_deadline_s
                )
            case requests.Settle() | requests.Export() | requests.Import() | requests.PurgeUser():
                return await answer_user_data(
                    self._service, request, client=client, now_ms=now_ms, write_deadline_s=write_deadline_s
                )
            case requests.Remember():
                save = translate.remember_request(request, now_ms=now_ms, deadline_s=write_deadline_s)
                return translate.remembered(request.id, await self._service.remember(save))
            case requests.Forget():
                forget = translate.forget_request(request, deadline_s=write_deadline_s)
                return translate.forgotten(request.id, await self._service.forget(forget))
            case requests.Update() | requests.Backfill():
                return await self._change(request, received_s, now_ms)
            case requests.Get():
                memory = await self._service.get(request.user, request.memory_id)
                return replies.Memory(id=request.id, memory=translate.memory_item(memory))
            case requests.ListMemories():
                return await self._list(request)
            case requests.Decide():
                asked = decide_requests.decide_request(
                    request,
                    now_ms=now_ms,
                    received_s=received_s,
                    may_probe_files=self._policy.may_act_for_all(peer.uid),
                )
                return decide_requests.decided(request.id, await self._service.decide(asked))
            case requests.Explain():
                row = await self._service.explain(request.user, request.decision_id)
                return translate.explanation(request.id, row)
            case requests.Session():
                session = translate.session_name(request.session)
                await self._service.session(request.user, session, SessionEvent(request.event))
                return replies.Ok(id=request.id)
            case requests.NoteAudit():
                return await self._note_audit(peer, request, write_deadline_s)
            case requests.ListSamples() | requests.MarkSample():
                return await answer_audit(
                    self._service, request, client=client, now_ms=now_ms, write_deadline_s=write_deadline_s
                )
            case requests.Standing() | requests.SetStanding() | requests.Outcome() | requests.Outcomes():
                return await answer_feedback(
                    self._service,
                    request,
                    now_ms=now_ms,
                    received_s=received_s,
                    write_deadline_s=write_deadline_s,
                )
            case _:
                assert_never(request)

    async def _report(self, request: requests.Health | requests.Stats | requests.Ping) -> Reply:
        match request:
            case requests.Health(deep=is_deep):
                return translate.health_report(request.id, await self._service.health(is_deep=is_deep))
            case requests.Stats():
                stats = await self._service.stats(stats_reply.stats_query(request))
                return stats_reply.stats_report(request.id, stats, self._counters.snapshot())
            case requests.Ping():
                return replies.Pong(id=request.id)
            case _:
                assert_never(request)

    def _authorise_report(self, peer: Peer, request: requests.Health | requests.Stats | requests.Ping) -> None:
        """What was counted of a user is the user's; what was counted of all, theirs who may act for all."""
        if not isinstance(request, requests.Stats):
            return
        if request.user is not None:
            self._authorise(peer, request.user)
        elif (request.ever or request.days is not None) and not self._policy.may_act_for_all(peer.uid):
            self._counters.add(GatewayCount.REQUESTS_FORBIDDEN)
            message = f"user: uid {peer.uid} may see what was counted of all users only without `days` and `ever`"
            raise RecalldError(ErrorCode.FORBIDDEN, message)

    async def _note_audit(self, peer: Peer, request: requests.NoteAudit, deadline_s: float) -> Reply:
        """An audit loosens what is let in for every user, so that who acts for one alone may not say it."""
        if not self._policy.may_act_for_all(peer.uid):
            message = "user: only who may act for all users can say that the memories were audited"
            raise RecalldError(ErrorCode.FORBIDDEN, message)
        await self._service.note_audit(deadline_s=deadline_s)
        return replies.Ok(id=request.id)

    async def _recall(self, request: requests.Recall, received_s: float, now_ms: int) -> Reply:
        asked_s = self._limits.envelope_s if request.budget_ms is None else request.budget_ms / 1000
        deadline_s = received_s + min(asked_s, self._limits.envelope_s)
        query = translate.recall_query(request, now_ms=now_ms, deadline_s=deadline_s)
        outcome = await self._service.recall(query)
        return translate.recalled(request.id, outcome, now_ms=self._clock.now_ms(), explain=request.explain)

    async def _change(self, request: requests.Update | requests.Backfill, received_s: float, now_ms: int) -> Reply:
        match request:
            case requests.Update():
                deadline_s = received_s + self._limits.write_envelope_s
                update = translate_cues.update_request(request, now_ms=now_ms, deadline_s=deadline_s)
                return translate_cues.updated(request.id, await self._service.update(update))
            case requests.Backfill():
                deadline_s = received_s + self._limits.backfill_envelope_s
                backfill = translate_cues.backfill_request(request, deadline_s=deadline_s)
                return translate_cues.backfilled(request.id, await self._service.backfill(backfill))
            case _:
                assert_never(request)

    def _guard_s(self, request: ServiceRequest) -> float:
        """Seconds after which a request is given up, whatever its own deadlines are."""
        extra_s = self._limits.backfill_envelope_s if isinstance(request, requests.Backfill) else 0.0
        return self._limits.request_timeout_s + extra_s

    async def _list(self, request: requests.ListMemories) -> Reply:
        what, limit = translate.list_filter(request), request.limit
        while True:
            page = await self._service.list_memories(request.user, what, limit=limit, cursor=request.cursor)
            reply = translate.memories(request.id, page)
            if limit == 1 or _fits(reply):
                return reply
            limit = max(1, limit // 2)  # a page of very long memories: a shorter one, and its cursor goes on from there

    def _authorise(self, peer: Peer, user: str) -> None:
        if not self._policy.may_act_for(peer.uid, user):
            self._counters.add(GatewayCount.REQUESTS_FORBIDDEN)
            message = f"user: uid {peer.uid} may act only for users that start with {own_prefix(peer.uid)!r}"
            if user.startswith(RESERVED_PREFIX):
                message = f"user: {RESERVED_PREFIX!r} is reserved for the daemon's own account and root; take another"
            raise RecalldError(ErrorCode.FORBIDDEN, message)
        translate.checked_user(user)

    def _failure(self, request: ServiceRequest, error: Exception) -> bytes:
        self._counters.add(GatewayCount.REQUESTS_FAILED)
        _log.error(REQUEST_FAILED, request=type(request).__name__, request_id=request.id, exc_info=error)
        return error_frame(request.id, ErrorCode.INTERNAL, f"the request failed ({type(error).__name__}); see the log")


def error_frame(request_id: int | None, code: ErrorCode, message: str) -> bytes:
    """An `error` reply as a frame."""
    error = replies.Error(id=request_id, code=code.value, message=message, retryable=code in RETRYABLE_CODES)
    return encode_message(error)


def _fits(reply: Reply) -> bool:
    try:
        encode_message(reply)
    except WireError:
        return False
    return True
