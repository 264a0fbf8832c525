"""A turn that is nothing but a yes or a no, right after the user was asked something.

The turn is recorded before the proposal is answered, with the proposal's id in it: delivered again, also after a crash
between the two, it answers the same proposal the same way, and answering twice changes nothing.
"""

from __future__ import annotations

from typing import Final

import msgspec

from recalld.actors.admission.confirming import Confirmer
from recalld.actors.admission.dependencies import AdmissionDependencies
from recalld.actors.admission.turn_command import turn_command
from recalld.actors.admission.turn_reply import admitted_event, turn_reply
from recalld.actors.admission.writing import answered_by_store
from recalld.actors.store import ask_store
from recalld.models.domain.admission import ConfirmReply, ConfirmRequest, ObservedTurn, ObserveReply, Verdict
from recalld.models.domain.admission_store import DroppedFact, Proposal, ProposalState, TurnAdmitted
from recalld.models.domain.errors import ErrorCode, RecalldError
from recalld.models.domain.facts import Generator
from recalld.models.domain.reasons import AdmissionReason
from recalld.models.policy.turn_facts import OFFER_RULE

ANSWER_RULE: Final = "answer"
"""What a turn is said to be dropped by that answers a proposal instead."""
ANSWERED: Final = "answered"
"""What the ledger row of such a turn says was decided."""
_SETTLED: Final = frozenset({ErrorCode.NOT_FOUND, ErrorCode.CONFLICT, ErrorCode.FORBIDDEN})
"""The proposal is gone, or was answered otherwise meanwhile: the turn then answers nothing."""


class Answered(msgspec.Struct, frozen=True, kw_only=True):
    """What a bare yes or no led to. `is_repeat`: the turn had been seen before."""

    reply: ObserveReply
    is_repeat: bool


class TurnAnswers:
    """Takes yes and no for one user."""

    def __init__(self, deps: AdmissionDependencies, confirmer: Confirmer) -> None:
        self._deps = deps
        self._confirmer = confirmer

    async def answer(self, turn: ObservedTurn, proposal_id: str, *, is_yes: bool) -> Answered:
        """Answer a proposal with a turn.

        Args:
            turn: Nothing but a yes or a no.
            proposal_id: What the user was asked in the turn before; empty: nothing, and then the turn means nothing.
            is_yes: Which of the two.

        Raises:
            RecalldError: `BUSY`, `STORAGE_FULL`, `STORAGE_UNAVAILABLE`; the turn may then be sent again.
        """
        admitted = await self._record(turn, proposal_id)
        reply = turn_reply(admitted)
        meant = _answered(admitted)
        if meant:
            try:
                confirmed = await self._confirm(turn, meant, is_yes=is_yes)
            except RecalldError as error:
                if error.code not in _SETTLED:
                    raise
                reply = _nothing(admitted.decision_id)
            else:
                reply = _as_reply(admitted.decision_id, confirmed)
        deps = self._deps
        deps.events.publish(admitted_event(turn.user, reply, is_repeat=admitted.is_repeat, at_ms=deps.clock.now_ms()))
        return Answered(reply=reply, is_repeat=admitted.is_repeat)

    async def _record(self, turn: ObservedTurn, proposal_id: str) -> TurnAdmitted:
        """Record the turn, or learn what it was recorded as."""
        answer = DroppedFact(reason=AdmissionReason.NOTHING_STATED)
        if proposal_id:
            answer = DroppedFact(reason=AdmissionReason.CONFIRMED, rule=ANSWER_RULE, source_rule=proposal_id)
        not_stated = DroppedFact(
            reason=AdmissionReason.NOT_USER_STATED, generator=Generator.MODEL, source_rule=turn.client or OFFER_RULE
        )
        command = turn_command(
            turn,
            decision_id=self._deps.ids.new_id("adm"),
            now_ms=self._deps.clock.now_ms(),
            dropped=(answer, *(not_stated,) * (len(turn.offered) + len(turn.unreadable))),
            limits=self._deps.options.limits,
            decision=ANSWERED if proposal_id else "",
        )
        return await answered_by_store(ask_store(self._deps.store, command, deadline_s=turn.deadline_s))

    async def _confirm(self, turn: ObservedTurn, proposal_id: str, *, is_yes: bool) -> ConfirmReply:
        return await self._confirmer.confirm(
            ConfirmRequest(
                user=turn.user,
                session=turn.session,
                proposal_id=proposal_id,
                is_accepted=is_yes,
                # Whose turn it is said to be is the client's word: its own candidates it could approve with a "yes".
                approver=turn.client,
                deadline_s=turn.deadline_s,
            )
        )


def _answered(admitted: TurnAdmitted) -> str:
    """The proposal that a recorded turn answers; empty: none."""
    return next((each.source_rule for each in admitted.dropped if each.rule == ANSWER_RULE), "")


def _nothing(decision_id: str) -> ObserveReply:
    return ObserveReply(decision_id=decision_id, dropped=(Verdict(reason=AdmissionReason.NOTHING_STATED),))


def _why_not(proposal: Proposal) -> AdmissionReason:
    """Why an answer led to no record: it came too late, or was a no."""
    return AdmissionReason.EXPIRED if proposal.state is ProposalState.EXPIRED else AdmissionReason.DECLINED


def _as_reply(decision_id: str, confirmed: ConfirmReply) -> ObserveReply:
    """A yes is told as what it had kept; a no, or a yes that came too late, as what it dropped."""
    proposal, verdict = confirmed.proposal, confirmed.verdict
    if verdict is not None and verdict.memory is not None:
        kept = Verdict(
            reason=AdmissionReason.CONFIRMED,
            memory=verdict.memory,
            outcome=verdict.outcome,
            superseded=verdict.superseded,
            generator=Generator.CONFIRMED,
            rule=ANSWER_RULE,
            proposal=proposal,
            usage=verdict.usage,
        )
        return ObserveReply(decision_id=decision_id, kept=(kept,))
    reason = _why_not(proposal) if verdict is None else verdict.reason
    dropped = Verdict(
        reason=reason, decided_by=ANSWER_RULE, proposal=proposal, usage=None if verdict is None else verdict.usage
    )
    return ObserveReply(decision_id=decision_id, dropped=(dropped,))
