"""The check of what audits say of the gates."""

from __future__ import annotations

from collections.abc import Callable

import msgspec
from stats_reports import stats_of

from recalld.daemon.doctor.audit import check_audit
from recalld.daemon.doctor.context import DoctorContext, Live
from recalld.daemon.doctor.result import Status
from recalld.protocol.audit_items import AuditSection, EstimateItem, SampleCount

MakeContext = Callable[..., DoctorContext]
COUNT = SampleCount(kind="gate_drop", probability=0.01, sampled=40, yes=1, no=9, unsure=2)


def context(make: MakeContext, section: AuditSection | None) -> DoctorContext:
    return make(Live(stats=msgspec.structs.replace(stats_of(), audit=section)))


def test_what_was_not_told_is_not_checked(make_context: MakeContext) -> None:
    assert not check_audit(make_context(Live(stats_problem="it does not serve this account"))).is_checked
    assert not check_audit(context(make_context, None)).is_checked


def test_without_marks_the_gates_are_not_audited(make_context: MakeContext) -> None:
    found = check_audit(context(make_context, AuditSection(counts=(msgspec.structs.replace(COUNT, yes=0, no=0),))))
    assert found.status is Status.INFO
    assert found.seen == "not audited: 40 samples, 2 marked; `recalld audit` asks"


def test_rates_are_told_with_their_interval_and_marks(make_context: MakeContext) -> None:
    misses = EstimateItem(rate=0.125, low=0.03125, high=0.5, audited=40)
    found = check_audit(context(make_context, AuditSection(recall_misses=misses, counts=(COUNT,))))
    assert found.status is Status.INFO
    assert found.seen == "relevance gate misses 0.125 [0.03, 0.50] from 40 marks"
