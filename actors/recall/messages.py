"""What the recall actor of one user can be told."""

from __future__ import annotations

import msgspec

from recalld.actors.kernel import Reply
from recalld.models.domain.admission import SessionEvent
from recalld.models.domain.recall import RecallOutcome, RecallQuery
from recalld.models.domain.standing import StandingBlock, StandingRequest


class Recall(msgspec.Struct, frozen=True, kw_only=True):
    """Answer a recall."""

    query: RecallQuery
    reply: Reply[RecallOutcome]


class ChangeSession(msgspec.Struct, frozen=True, kw_only=True):
    """A session started, was compacted or ended: what was visible in it no longer is."""

    session: str
    event: SessionEvent
    reply: Reply[None]


class GiveStanding(msgspec.Struct, frozen=True, kw_only=True):
    """Answer with the standing block, once for each session."""

    request: StandingRequest
    reply: Reply[StandingBlock]


RecallMessage = Recall | ChangeSession | GiveStanding
