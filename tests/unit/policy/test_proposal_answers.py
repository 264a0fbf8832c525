from __future__ import annotations

import msgspec
import pytest

from recalld.models.domain.admission_store import AdmissionLimits, Confirm, Proposal, ProposalState
from recalld.models.domain.errors import ErrorCode, RecalldError
from recalld.models.domain.reasons import AdmissionReason, Op
from recalld.models.domain.records import MemoryKind
from recalld.models.domain.store import DecisionRow
from recalld.models.policy.proposals import AnswerStep, as_of, may_ask, next_step, no_such_proposal

PENDING = Proposal(
    id="p",
    user="ines",
    session="s",
    text="Answer in French.",
    kind=MemoryKind.PREFERENCE,
    reason=AdmissionReason.NEEDS_CONFIRMATION,
    created_at_ms=0,
    expires_at_ms=100,
    proposer="agent",
)
YES = Confirm(
    user="ines",
    is_accepted=True,
    approver="cli",
    now_ms=1,
    memory_id="m",
    decision=DecisionRow(id="d", user="ines", session="s", op=Op.OBSERVE, at_ms=1, decision="", reason=""),
)
NO = msgspec.structs.replace(YES, is_accepted=False)


def in_state(state: ProposalState, accepted_text: str = "") -> Proposal:
    return msgspec.structs.replace(PENDING, state=state, accepted_text=accepted_text)


def edited(text: str) -> Confirm:
    return msgspec.structs.replace(YES, edited_text=text)


def test_a_proposal_expires_with_the_first_moment_after_its_time() -> None:
    assert as_of(PENDING, 99) == PENDING
    assert as_of(PENDING, 100).state is ProposalState.EXPIRED
    accepted = in_state(ProposalState.ACCEPTED)
    assert as_of(accepted, 100) == accepted


@pytest.mark.parametrize(
    ("proposal", "answer", "step"),
    [
        (PENDING, YES, AnswerStep.ACCEPT),
        (PENDING, NO, AnswerStep.REJECT),
        (in_state(ProposalState.EXPIRED), YES, AnswerStep.LATE),
        (in_state(ProposalState.EXPIRED), NO, AnswerStep.LATE),
        (in_state(ProposalState.ACCEPTED), YES, AnswerStep.REPEAT),
        (in_state(ProposalState.ACCEPTED), edited("answer in French"), AnswerStep.REPEAT),
        (in_state(ProposalState.ACCEPTED, "In German."), edited("In German"), AnswerStep.REPEAT),
        (in_state(ProposalState.REJECTED), NO, AnswerStep.REPEAT),
    ],
)
def test_an_answer_leads_on(proposal: Proposal, answer: Confirm, step: AnswerStep) -> None:
    assert next_step(proposal, answer) is step


@pytest.mark.parametrize(
    ("proposal", "answer"),
    [
        (in_state(ProposalState.ACCEPTED), NO),
        (in_state(ProposalState.ACCEPTED), edited("Answer in German.")),
        (in_state(ProposalState.ACCEPTED, "Answer in German."), YES),
        (in_state(ProposalState.REJECTED), YES),
    ],
)
def test_another_answer_than_before_is_a_conflict(proposal: Proposal, answer: Confirm) -> None:
    with pytest.raises(RecalldError, match="already") as caught:
        next_step(proposal, answer)
    assert caught.value.code is ErrorCode.CONFLICT


@pytest.mark.parametrize("state", ProposalState)
def test_the_proposer_approves_nothing_of_its_own(state: ProposalState) -> None:
    with pytest.raises(RecalldError, match="cannot approve it") as caught:
        next_step(in_state(state), msgspec.structs.replace(YES, approver="agent"))
    assert caught.value.code is ErrorCode.FORBIDDEN


def test_whoever_has_no_name_is_not_the_proposer_of_what_nobody_proposed() -> None:
    nobodys = msgspec.structs.replace(PENDING, proposer="")
    assert next_step(nobodys, msgspec.structs.replace(YES, approver="")) is AnswerStep.ACCEPT


@pytest.mark.parametrize(("asked", "waiting", "may"), [(0, 0, True), (1, 0, False), (0, 20, False), (0, 19, True)])
def test_a_session_is_asked_within_its_ration_and_the_queues_room(asked: int, waiting: int, *, may: bool) -> None:
    assert may_ask(AdmissionLimits(), asked_in_session=asked, waiting=waiting) is may


@pytest.mark.parametrize(("proposal_id", "words"), [("p9", "'p9'"), ("", "of this session waits")])
def test_an_answer_to_nothing_says_so(proposal_id: str, words: str) -> None:
    error = no_such_proposal(proposal_id)
    assert (error.code, words in error.message) == (ErrorCode.NOT_FOUND, True)
