"""Requests about samples for an audit, and the section `audit` of a `stats` reply."""

from __future__ import annotations

from typing import assert_never

import msgspec

from recalld.actors.service import MemoryService
from recalld.models.domain import audit_samples as samples
from recalld.protocol import audit_items, replies, requests
from recalld.protocol.codec import encode_message
from recalld.protocol.errors import WireError
from recalld.protocol.messages import Reply


async def answer_audit(
    service: MemoryService,
    request: requests.ListSamples | requests.MarkSample,
    *,
    client: str,
    now_ms: int,
    write_deadline_s: float,
) -> Reply:
    """List or mark samples.

    Args:
        service: What does the work.
        request: What was asked; its user is authorised.
        client: The name by which the client said hello: who marks, unless the request says.
        now_ms: Unix epoch milliseconds.
        write_deadline_s: When a mark is given up, on the monotonic clock.
    """
    match request:
        case requests.ListSamples(user=user, kinds=kinds, marked=is_marked, limit=limit):
            wanted = tuple(map(samples.SampleKind, kinds))
            return samples_in_frame(request.id, await service.samples(user, wanted, is_marked=is_marked, limit=limit))
        case requests.MarkSample():
            await service.mark_sample(
                samples.MarkSample(
                    user=request.user,
                    sample_id=request.sample_id,
                    answer=None if request.answer is None else samples.SampleAnswer(request.answer),
                    by=request.by or client,
                    at_ms=now_ms,
                ),
                deadline_s=write_deadline_s,
            )
            return replies.Ok(id=request.id)
        case _:
            assert_never(request)


def samples_in_frame(request_id: int, shown: samples.ShownSamples) -> replies.Samples:
    """Samples, each with the words of the memory that it is about: as many of them as one frame takes."""
    texts = {id_: memory.text for id_, memory in shown.memories.items()}
    items = tuple(_item(each, texts.get(each.memory_id, "")) for each in shown.page.samples)
    while True:
        left = shown.page.left + len(shown.page.samples) - len(items)
        reply = replies.Samples(id=request_id, samples=items, left=left)
        if len(items) <= 1 or _fits(reply):
            return reply
        items = items[: len(items) // 2]


def audit_section(report: samples.AuditReport) -> audit_items.AuditSection:
    """What audits say of the gates."""
    return audit_items.AuditSection(
        recall_misses=_estimate(report.recall_misses),
        turn_misses=_estimate(report.turn_misses),
        wrong_injections=_estimate(report.wrong_injections),
        write_misses=_estimate(report.write_misses),
        wrong_records_per_1000=_estimate(report.wrong_records_per_1000),
        counts=msgspec.convert(report.groups, tuple[audit_items.SampleCount, ...], from_attributes=True),
    )


def _fits(reply: replies.Samples) -> bool:
    try:
        encode_message(reply)
    except WireError:
        return False
    return True


def _item(sample: samples.Sample, memory_text: str) -> audit_items.SampleItem:
    return audit_items.SampleItem(
        id=sample.id,
        kind=sample.kind.value,
        decision_id=sample.decision_id,
        memory_id=sample.memory_id,
        memory_text=memory_text,
        text=sample.text,
        probability=sample.probability,
        relevance=sample.relevance,
        reason=sample.reason,
        at_ms=sample.at_ms,
        answer=None if sample.answer is None else sample.answer.value,
        marked_at_ms=sample.marked_at_ms or None,
        marked_by=sample.marked_by,
    )


def _estimate(estimate: samples.Estimate | None) -> audit_items.EstimateItem | None:
    if estimate is None:
        return None
    return audit_items.EstimateItem(rate=estimate.rate, low=estimate.low, high=estimate.high, audited=estimate.audited)
