"""What waits for a model, was set aside or let go is seen, with the daemon up or down."""

from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from recalld.daemon.clock import SystemClock
from recalld.daemon.config import Settings
from recalld.daemon.config.settings import AdmissionSettings
from recalld.daemon.doctor.context import DoctorContext
from recalld.daemon.doctor.model_gate import check_model_gate, judge_model_gate
from recalld.daemon.doctor.result import Status
from recalld.models.domain.extraction import PendingCounts

MakeContext = Callable[..., DoctorContext]
HOUR_MS = 3_600_000
RUNTIME = AdmissionSettings(model_gate="runtime")


@pytest.mark.parametrize(
    ("admission", "counts", "status", "words"),
    [
        (AdmissionSettings(), PendingCounts(), Status.PASS, "nothing waits"),
        (AdmissionSettings(), PendingCounts(waiting=2, oldest_at_ms=0), Status.WARN, "nobody reads them"),
        (RUNTIME, PendingCounts(), Status.PASS, "0 turns waiting"),
        (RUNTIME, PendingCounts(set_aside=2), Status.WARN, "2 set aside"),
        (RUNTIME, PendingCounts(expired=3), Status.WARN, "3 let go"),
        (RUNTIME, PendingCounts(overflowed=4), Status.WARN, "4 not taken"),
    ],
)
def test_each_count_has_its_finding(
    make_context: MakeContext,
    settings: Settings,
    admission: AdmissionSettings,
    counts: PendingCounts,
    status: Status,
    words: str,
) -> None:
    context = make_context(settings=msgspec.structs.replace(settings, admission=admission))
    finding = judge_model_gate(context, counts)
    assert (finding.status, words in finding.seen) == (status, True)


@pytest.mark.parametrize(("age_ms", "status"), [(HOUR_MS, Status.PASS), (2 * HOUR_MS, Status.WARN)])
def test_what_waits_for_long_waits_for_something_that_is_broken(
    make_context: MakeContext, settings: Settings, age_ms: int, status: Status
) -> None:
    context = make_context(settings=msgspec.structs.replace(settings, admission=RUNTIME))
    counts = PendingCounts(waiting=1, oldest_at_ms=SystemClock().now_ms() - age_ms)
    assert judge_model_gate(context, counts).status is status


def test_a_database_is_read_and_none_is_no_fault(make_context: MakeContext, store: Callable[[int], Path]) -> None:
    assert check_model_gate(make_context()).status is Status.INFO
    store(1)
    assert check_model_gate(make_context()).status is Status.PASS
