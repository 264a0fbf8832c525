"""Updates and backfills, from wire messages to domain values and back."""

from __future__ import annotations

import msgspec

from recalld.daemon.gateway.moments import checked_zone
from recalld.daemon.gateway.translate import memory_item
from recalld.models.domain import cues, records
from recalld.models.policy.expiry import parse_expiry
from recalld.models.policy.memory_checks import check_scope
from recalld.protocol import replies, requests


def update_request(request: requests.Update, *, now_ms: int, deadline_s: float) -> cues.UpdateRequest:
    """The change. A time of expiry without an offset is read in the request's zone; an empty one means never."""
    if request.scope is not None:
        check_scope(request.scope)
    changes = cues.MemoryChanges(
        cues=request.cues,
        asks=request.asks,
        kind=None if request.kind is None else records.MemoryKind(request.kind),
        scope=request.scope,
        expires_at_ms=_expiry(request, now_ms),
    )
    return cues.UpdateRequest(
        user=request.user,
        memory_id=request.memory_id,
        changes=changes,
        if_revision=request.if_revision,
        deadline_s=deadline_s,
    )


def backfill_request(request: requests.Backfill, *, deadline_s: float) -> cues.BackfillRequest:
    """Which memories to have a lent model write cues and asks for."""
    return cues.BackfillRequest(
        user=request.user,
        limit=request.limit,
        is_dry_run=request.dry_run,
        cursor=request.cursor,
        deadline_s=deadline_s,
    )


def updated(request_id: int, reply: cues.UpdateReply) -> replies.Updated:
    """What became of a change."""
    return replies.Updated(
        id=request_id,
        memory=memory_item(reply.memory),
        decision_id=reply.decision_id,
        is_embedded=reply.is_embedded,
    )


def backfilled(request_id: int, reply: cues.BackfillReply) -> replies.Backfilled:
    """What a backfill did."""
    return replies.Backfilled(
        id=request_id,
        asked=reply.asked,
        updated=reply.updated,
        refused=reply.refused,
        failed=reply.failed,
        remaining=reply.remaining,
        reason=reply.end.value,
        refusals=reply.refusals,
        failures=reply.failures,
        cursor=reply.cursor,
    )


def _expiry(request: requests.Update, now_ms: int) -> int | msgspec.UnsetType | None:
    zone = checked_zone(request.time_zone)
    match request.expires_at:
        case None:
            return msgspec.UNSET
        case "":
            return None
        case value:
            return parse_expiry(value, now_ms=now_ms, zone=zone)
