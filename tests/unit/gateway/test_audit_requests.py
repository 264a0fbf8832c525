"""Samples on the wire: what is listed, how much of it fits a frame, and what rates become."""

from __future__ import annotations

import msgspec

from recalld.daemon.gateway.audit_requests import audit_section, samples_in_frame
from recalld.models.domain.audit_samples import (
    AuditReport,
    Estimate,
    Sample,
    SampleGroup,
    SampleKind,
    SamplePage,
    ShownSamples,
)
from recalld.protocol.codec import encode_message

SAMPLE = Sample(id="smp_1", kind=SampleKind.GATE_DROP, decision_id="rec_1", probability=0.25, text="w" * 2_000, at_ms=1)


def test_what_does_not_fit_a_frame_is_left_for_another_page_and_counted() -> None:
    many = tuple(
        msgspec.structs.replace(SAMPLE, id=f"smp_{number}", text="\N{GRINNING FACE}" * 2_000) for number in range(400)
    )
    reply = samples_in_frame(1, ShownSamples(page=SamplePage(samples=many, left=7)))
    assert encode_message(reply)
    assert 0 < len(reply.samples) < 400
    assert len(reply.samples) + reply.left == 407
    assert reply.samples[0].id == "smp_0"


def test_a_memory_that_is_not_there_any_more_has_no_words() -> None:
    sample = msgspec.structs.replace(SAMPLE, memory_id="mem_9")
    (item,) = samples_in_frame(1, ShownSamples(page=SamplePage(samples=(sample,)))).samples
    assert (item.memory_id, item.memory_text, item.answer, item.marked_at_ms) == ("mem_9", "", None, None)


def test_rates_that_are_not_known_are_null() -> None:
    group = SampleGroup(kind=SampleKind.INJECTION, probability=0.25, sampled=9, yes=3, no=1, unsure=2, first_at_ms=5)
    section = audit_section(
        AuditReport(wrong_injections=Estimate(rate=0.25, low=0.125, high=0.5, audited=4), groups=(group,))
    )
    assert section.recall_misses is None
    assert section.wrong_injections is not None
    assert (section.wrong_injections.rate, section.wrong_injections.audited) == (0.25, 4)
    (count,) = section.counts
    assert (count.kind, count.sampled, count.yes, count.no, count.unsure) == ("injection", 9, 3, 1, 2)
