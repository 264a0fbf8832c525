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


AdmissionMessage = RememberMemory | ObserveTurn | ForgetMemories
