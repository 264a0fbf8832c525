"""What the admission actor of one user can be told."""

from __future__ import annotations

import msgspec

from recalld.actors.kernel import Reply
from recalld.models.domain.admission import (
    ConfirmReply,
    ConfirmRequest,
    ForgetReply,
    ForgetRequest,
    ObservedTurn,
    ObserveReply,
    RememberReply,
    RememberRequest,
    SessionEvent,
    SettleReply,
    SettleRequest,
)
from recalld.models.domain.cues import BackfillReply, BackfillRequest, UpdateReply, UpdateRequest
from recalld.models.domain.user_data import ImportReply, ImportRequest, PurgeRequest, UserPurged


class RememberMemory(msgspec.Struct, frozen=True, kw_only=True):
    """Store explicitly."""

    request: RememberRequest
    reply: Reply[RememberReply]


class ObserveTurn(msgspec.Struct, frozen=True, kw_only=True):
    """Decide about a turn as it was said."""

    turn: ObservedTurn
    reply: Reply[ObserveReply]


class AdmitCandidates(msgspec.Struct, frozen=True, kw_only=True):
    """Decide about what a model found later in a turn: the turn's offered facts, and nothing else of it."""

    turn: ObservedTurn
    reply: Reply[ObserveReply]


class AnswerProposal(msgspec.Struct, frozen=True, kw_only=True):
    """Answer a proposal for the user."""

    request: ConfirmRequest
    reply: Reply[ConfirmReply]


class SettleFact(msgspec.Struct, frozen=True, kw_only=True):
    """Take a person's word on an observation."""

    request: SettleRequest
    reply: Reply[SettleReply]


class TakeOverRecords(msgspec.Struct, frozen=True, kw_only=True):
    """Take over what was exported."""

    request: ImportRequest
    reply: Reply[ImportReply]


class EraseEverything(msgspec.Struct, frozen=True, kw_only=True):
    """Leave nothing of the user behind."""

    request: PurgeRequest
    reply: Reply[UserPurged]


class NoteSession(msgspec.Struct, frozen=True, kw_only=True):
    """A session started, was compacted or ended: started anew, it may be asked for confirmation again.

    Nobody waits for it: it stands in the mailbox before every turn that comes later.
    """

    session: str
    event: SessionEvent
    at_ms: int


class ForgetMemories(msgspec.Struct, frozen=True, kw_only=True):
    """Forget, or preview forgetting."""

    request: ForgetRequest
    reply: Reply[ForgetReply]


class UpdateMemory(msgspec.Struct, frozen=True, kw_only=True):
    """Change what is known about a memory beside its text."""

    request: UpdateRequest
    reply: Reply[UpdateReply]


class BackfillCues(msgspec.Struct, frozen=True, kw_only=True):
    """Have a lent model write cues and asks for memories that have no asks."""

    request: BackfillRequest
    reply: Reply[BackfillReply]


AdmissionMessage = (
    RememberMemory
    | ObserveTurn
    | AdmitCandidates
    | AnswerProposal
    | SettleFact
    | TakeOverRecords
    | EraseEverything
    | NoteSession
    | ForgetMemories
    | UpdateMemory
    | BackfillCues
)
