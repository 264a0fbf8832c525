"""What the admission actor of one user can be told."""

from __future__ import annotations

import msgspec

from recalld.actors.kernel import Reply
from recalld.models.domain.admission import (
    ForgetReply,
    ForgetRequest,
    ObservedTurn,
    ObserveReply,
    RememberReply,
    RememberRequest,
)
from recalld.models.domain.cues import BackfillReply, BackfillRequest, UpdateReply, UpdateRequest


class RememberMemory(msgspec.Struct, frozen=True, kw_only=True):
    """Store explicitly."""

    request: RememberRequest
    reply: Reply[RememberReply]


class ObserveTurn(msgspec.Struct, frozen=True, kw_only=True):
    """Decide about a turn as it was said."""

    turn: ObservedTurn
    reply: Reply[ObserveReply]


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


AdmissionMessage = RememberMemory | ObserveTurn | ForgetMemories | UpdateMemory | BackfillCues
