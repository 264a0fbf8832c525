"""Answering proposals (through a client, or by the user's bare yes or no in a turn) and observations."""

from __future__ import annotations

from recalld.actors.admission.dependencies import EMBED_WAIT_S_MAX, WRITE_RESERVE_S, AdmissionDependencies
from recalld.actors.admission.saving import embed_memory
from recalld.actors.admission.turn_reply import verdict_of
from recalld.actors.admission.writing import answered_by_store
from recalld.actors.store import ask_store
from recalld.models.domain.admission import ConfirmReply, ConfirmRequest, SettleReply, SettleRequest
from recalld.models.domain.admission_store import Confirm, FactResult, ProposalState, SettleObservation
from recalld.models.domain.errors import ErrorCode, RecalldError
from recalld.models.domain.events import Event, EventName
from recalld.models.domain.reasons import Op
from recalld.models.domain.records import MEMORY_CHARS_MAX
from recalld.models.domain.store import DecisionRow, PutVectors
from recalld.models.policy.admission.secrets import redact


class Confirmer:
    """Answers proposals and observations of one user."""

    def __init__(self, deps: AdmissionDependencies) -> None:
        self._deps = deps

    async def confirm(self, request: ConfirmRequest) -> ConfirmReply:
        """Answer a proposal, once.

        Raises:
            RecalldError: `BAD_REQUEST` for an edited text that cannot be stored; `NOT_FOUND`, `CONFLICT`, `FORBIDDEN`;
                `BUSY`, `STORAGE_FULL`, `STORAGE_UNAVAILABLE`.
        """
        _check_edit(request.edited_text)
        deps = self._deps
        now_ms = deps.clock.now_ms()
        command = Confirm(
            user=request.user,
            session=request.session,
            proposal_id=request.proposal_id,
            is_accepted=request.is_accepted,
            edited_text=request.edited_text.strip(),
            approver=request.approver,
            now_ms=now_ms,
            memory_id=deps.ids.new_id("mem"),
            limits=deps.options.limits,
            decision=_open_decision(deps.ids.new_id("cfm"), request.user, request.session, now_ms),
        )
        confirmed = await answered_by_store(ask_store(deps.store, command, deadline_s=request.deadline_s))
        decision_id = "" if confirmed.is_repeat else command.decision.id
        proposal = confirmed.proposal
        await self._embed_new(confirmed.result, request.deadline_s, is_repeat=confirmed.is_repeat)
        self._publish(
            request.user, proposal.id, proposal.state, confirmed.result, decision_id, is_repeat=confirmed.is_repeat
        )
        return ConfirmReply(
            proposal=confirmed.proposal,
            verdict=None if confirmed.result is None else verdict_of(confirmed.result),
            decision_id=decision_id,
            is_repeat=confirmed.is_repeat,
        )

    async def settle(self, request: SettleRequest) -> SettleReply:
        """Take a person's word on an observation.

        Raises:
            RecalldError: `BAD_REQUEST` for an edited text that cannot be stored; `NOT_FOUND`, `CONFLICT`, `FORBIDDEN`;
                `BUSY`, `STORAGE_FULL`, `STORAGE_UNAVAILABLE`.
        """
        _check_edit(request.edited_text)
        deps = self._deps
        now_ms = deps.clock.now_ms()
        command = SettleObservation(
            user=request.user,
            observation_id=request.observation_id,
            is_accepted=request.is_accepted,
            edited_text=request.edited_text.strip(),
            approver=request.approver,
            now_ms=now_ms,
            memory_id=deps.ids.new_id("mem"),
            limits=deps.options.limits,
            decision=_open_decision(deps.ids.new_id("cfm"), request.user, "", now_ms),
        )
        settled = await answered_by_store(ask_store(deps.store, command, deadline_s=request.deadline_s))
        await self._embed_new(settled.result, request.deadline_s, is_repeat=settled.is_repeat)
        state = ProposalState.ACCEPTED if request.is_accepted else ProposalState.REJECTED
        decision_id = "" if settled.is_repeat else command.decision.id
        self._publish(
            request.user, settled.observation.id, state, settled.result, decision_id, is_repeat=settled.is_repeat
        )
        return SettleReply(
            observation=settled.observation,
            verdict=None if settled.result is None else verdict_of(settled.result),
            decision_id=decision_id,
            is_repeat=settled.is_repeat,
        )

    async def _embed_new(self, result: FactResult | None, deadline_s: float, *, is_repeat: bool) -> None:
        """Give a new record its vectors now; what cannot be embedded in time is embedded later, like anything else."""
        memory = None if result is None else result.memory
        if memory is None or is_repeat:
            return
        deps = self._deps
        by_s = min(deps.clock.monotonic_s() + EMBED_WAIT_S_MAX, deadline_s - WRITE_RESERVE_S)
        made = await embed_memory(deps, memory, deadline_s=by_s)
        if not made.vectors:
            return
        command = PutVectors(
            user=memory.user,
            memory_id=memory.id,
            revision=memory.revision,
            embedder_key=made.embedder_key,
            vectors=made.vectors,
        )
        try:
            await answered_by_store(ask_store(deps.store, command, deadline_s=deadline_s))
        except RecalldError:
            return  # the answer itself stands; the vectors are made again later

    def _publish(
        self,
        user: str,
        note_id: str,
        state: ProposalState,
        result: FactResult | None,
        decision_id: str,
        *,
        is_repeat: bool,
    ) -> None:
        self._deps.events.publish(
            Event(
                name=EventName.MEMORY_CONFIRMED,
                at_ms=self._deps.clock.now_ms(),
                user=user,
                fields={
                    "decision_id": decision_id,
                    "proposal_id": note_id,
                    "state": state,
                    "outcome": "" if result is None else result.outcome,
                    "memory_id": "" if result is None or result.memory is None else result.memory.id,
                    "is_repeat": is_repeat,
                },
            )
        )


def _open_decision(decision_id: str, user: str, session: str, at_ms: int) -> DecisionRow:
    """The ledger row of an answer; the store says what was decided."""
    return DecisionRow(id=decision_id, user=user, session=session, op=Op.CONFIRM, at_ms=at_ms, decision="", reason="")


def _check_edit(text: str) -> None:
    if not text:
        return
    if not text.strip():
        raise RecalldError(ErrorCode.BAD_REQUEST, "edited_text: is blank; leave it out to accept what was proposed")
    if len(text) > MEMORY_CHARS_MAX:
        message = f"edited_text: is {len(text)} characters; use at most {MEMORY_CHARS_MAX}"
        raise RecalldError(ErrorCode.BAD_REQUEST, message)
    if "\0" in text:
        raise RecalldError(ErrorCode.BAD_REQUEST, "edited_text: contains a NUL character; remove it")
    if redact(text).found:
        raise RecalldError(ErrorCode.BAD_REQUEST, "edited_text: holds a password, key or token; take it out")
