"""Requests about everything of a user: settled observations, export, import and purge."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import assert_never

from recalld.actors.service import MemoryService
from recalld.daemon.gateway import translate
from recalld.daemon.gateway.admission_requests import NAMELESS_CLIENT, observation_item, verdict_item
from recalld.daemon.gateway.portable import DomainRecord, from_wire, page_to_wire, without_quotes
from recalld.models.domain import admission, user_data
from recalld.models.domain.errors import ErrorCode, RecalldError
from recalld.protocol import portable_items, replies, requests
from recalld.protocol.codec import encode_message
from recalld.protocol.errors import WireError

UserDataRequest = requests.Settle | requests.Export | requests.Import | requests.PurgeUser
UserDataReply = replies.Settled | replies.Exported | replies.Imported | replies.Purged


async def answer_user_data(
    service: MemoryService, request: UserDataRequest, *, client: str, now_ms: int, write_deadline_s: float
) -> UserDataReply:
    """Carry one of these requests out. Whoever asks has been authorised.

    Args:
        service: What does the work.
        request: What was asked.
        client: The name by which the client said hello; empty: it gave none.
        now_ms: Present time.
        write_deadline_s: Until when a write may take, on the monotonic clock.

    Raises:
        RecalldError: `bad_request` for a field at fault, and whatever the service raises.
    """
    match request:
        case requests.Settle():
            return await _settled(service, request, client=client or NAMELESS_CLIENT, deadline_s=write_deadline_s)
        case requests.Export():
            return await _exported(service, request)
        case requests.Import():
            wanted = import_request(request, now_ms=now_ms, deadline_s=write_deadline_s)
            return imported(request, await service.import_records(wanted))
        case requests.PurgeUser():
            purge = user_data.PurgeRequest(user=request.user, deadline_s=write_deadline_s)
            purged = await service.purge_user(purge)
            return replies.Purged(
                id=request.id,
                memories=purged.memories,
                observations=purged.observations,
                proposals=purged.proposals,
                is_erasure_pending=purged.is_erasure_pending,
            )
        case _:
            assert_never(request)


async def _settled(
    service: MemoryService, request: requests.Settle, *, client: str, deadline_s: float
) -> replies.Settled:
    if request.edited_text and not request.accept:
        message = "edited_text: says what to store, and accept is false; leave one of them out"
        raise RecalldError(ErrorCode.BAD_REQUEST, message)
    done = await service.settle(
        admission.SettleRequest(
            user=request.user,
            observation_id=request.observation_id,
            is_accepted=request.accept,
            edited_text=request.edited_text,
            approver=client,
            deadline_s=deadline_s,
        )
    )
    return replies.Settled(
        id=request.id,
        observation=observation_item(done.observation),
        verdict=None if done.verdict is None else verdict_item(done.verdict),
        decision_id=done.decision_id,
        is_repeat=done.is_repeat,
    )


async def _exported(service: MemoryService, request: requests.Export) -> replies.Exported:
    limit = request.limit
    while True:
        page = await service.export(
            request.user, limit=limit, cursor=request.cursor, is_waiting_only=request.waiting_only
        )
        reply = replies.Exported(id=request.id, records=page_to_wire(page), cursor=page.cursor)
        if _fits(reply):
            return reply
        if limit == 1:
            bare = tuple(map(without_quotes, reply.records))
            return replies.Exported(id=request.id, records=bare, cursor=page.cursor)
        limit = max(1, limit // 2)  # a page of long records: a shorter one, and its cursor goes on from there


def import_request(request: requests.Import, *, now_ms: int, deadline_s: float) -> user_data.ImportRequest:
    """What to take over, by its parts.

    Raises:
        RecalldError: `bad_request`; the message names the record and the field at fault.
    """
    records = tuple(_record(place, each, request.user, now_ms) for place, each in enumerate(request.records))
    return user_data.ImportRequest(
        user=translate.checked_user(request.user),
        memories=tuple(each for each in records if isinstance(each, user_data.PortableMemory)),
        observations=tuple(each for each in records if isinstance(each, user_data.PortableObservation)),
        proposals=tuple(each for each in records if isinstance(each, user_data.PortableProposal)),
        is_dry_run=request.dry_run,
        deadline_s=deadline_s,
    )


def imported(request: requests.Import, done: user_data.ImportReply) -> replies.Imported:
    """One line for each record, in the order in which they were handed over."""
    lines = tuple(_in_order(request.records, done.imported))
    return replies.Imported(id=request.id, lines=lines, is_dry_run=request.dry_run, decision_id=done.decision_id)


def _in_order(
    records: Sequence[portable_items.Portable], done: user_data.MemoriesImported
) -> Iterator[portable_items.ImportedItem]:
    memories, observations, proposals = iter(done.lines), iter(done.observations), iter(done.proposals)
    for record in records:
        match record:
            case portable_items.PortableMemory():
                line = next(memories)
            case portable_items.PortableObservation():
                line = next(observations)
            case portable_items.PortableProposal():
                line = next(proposals)
            case _:
                assert_never(record)
        yield portable_items.ImportedItem(record_id=line.memory_id, outcome=line.outcome.value, known_as=line.known_as)


def _record(place: int, record: portable_items.Portable, user: str, now_ms: int) -> DomainRecord:
    try:
        return from_wire(record, user, now_ms=now_ms)
    except RecalldError as error:
        raise RecalldError(error.code, f"records[{place}].{error.message}") from error


def _fits(reply: replies.Exported) -> bool:
    try:
        encode_message(reply)
    except WireError:
        return False
    return True
