"""What is put to the user for a yes, how often, and what an answer does.

Guards: that the user is asked for everything, asked twice, or answered for by whoever made the proposal.
Cost: a few comparisons. Fails: towards not asking; what is not asked waits as an observation.
"""

from __future__ import annotations

import enum

import msgspec

from recalld.models.domain.admission_store import AdmissionLimits, Confirm, Proposal, ProposalState
from recalld.models.domain.errors import ErrorCode, RecalldError
from recalld.models.policy.duplicates import canonical


class AnswerStep(enum.Enum):
    """What an answer to a proposal leads to."""

    ACCEPT = enum.auto()
    REJECT = enum.auto()
    REPEAT = enum.auto()
    """The same answer was given before."""
    LATE = enum.auto()
    """The proposal had expired."""


def may_ask(limits: AdmissionLimits, *, asked_in_session: int, waiting: int) -> bool:
    """Whether the session may be asked for one more yes, and the queue has room for it."""
    return asked_in_session < limits.proposals_per_session and waiting < limits.proposals_max


def as_of(proposal: Proposal, now_ms: int) -> Proposal:
    """The proposal as it stands now: one that waits longer than it may has expired (expiry is exclusive)."""
    if proposal.state is ProposalState.PENDING and now_ms >= proposal.expires_at_ms:
        return msgspec.structs.replace(proposal, state=ProposalState.EXPIRED)
    return proposal


def next_step(proposal: Proposal, command: Confirm) -> AnswerStep:
    """What an answer leads to.

    Args:
        proposal: As of now; see `as_of`.
        command: The answer.

    Raises:
        RecalldError: `FORBIDDEN` for the yes of whoever made the proposal, `CONFLICT` for an answer other than the one
            that was given before.
    """
    if command.is_accepted and proposal.proposer and proposal.proposer == command.approver:
        message = (
            f"proposal_id: {proposal.id!r} was proposed by {proposal.proposer!r}, which cannot approve it; "
            "have the user answer through another client"
        )
        raise RecalldError(ErrorCode.FORBIDDEN, message)
    match proposal.state:
        case ProposalState.EXPIRED:
            return AnswerStep.LATE
        case ProposalState.PENDING:
            return AnswerStep.ACCEPT if command.is_accepted else AnswerStep.REJECT
        case ProposalState.ACCEPTED:
            is_same = command.is_accepted and _says_the_same(proposal, command)
        case ProposalState.REJECTED:
            is_same = not command.is_accepted
    if is_same:
        return AnswerStep.REPEAT
    message = (
        f"proposal_id: {proposal.id!r} was {proposal.state} already, and not with this answer; "
        "change or forget the memory instead"
    )
    raise RecalldError(ErrorCode.CONFLICT, message)


def no_such_proposal(proposal_id: str) -> RecalldError:
    """The error for an answer to nothing: an id that is unknown, or a session in which nothing waits."""
    what = f"there is no proposal {proposal_id!r} of this user" if proposal_id else "no proposal of this session waits"
    return RecalldError(ErrorCode.NOT_FOUND, f"proposal_id: {what}; list the proposals to see what waits")


def _says_the_same(proposal: Proposal, command: Confirm) -> bool:
    """Whether an accepting answer brings the text that was accepted. Without a text it means the one proposed."""
    accepted = proposal.accepted_text or proposal.text
    return canonical(command.edited_text or proposal.text) == canonical(accepted)
