"""A local judge that was fitted for another embedder finds nothing, and doctor says so."""

from __future__ import annotations

from collections.abc import Callable

import msgspec
import pytest

from recalld.daemon import admission_judge
from recalld.daemon.admission_judge import JudgeInForce
from recalld.daemon.config import Settings
from recalld.daemon.config.settings import AdmissionSettings
from recalld.daemon.doctor.context import DoctorContext
from recalld.daemon.doctor.judge import check_judge, judge_judge
from recalld.daemon.doctor.registry import CHECKS
from recalld.daemon.doctor.result import Status
from recalld.models.calibration.admission_record import shipped_admission_record

MakeContext = Callable[..., DoctorContext]


def test_the_shipped_judge_fits_the_default_embedder(make_context: MakeContext) -> None:
    finding = check_judge(make_context())
    assert (finding.status, "fitted for the configured embedder" in finding.seen) == (Status.PASS, True)


def test_a_judge_of_another_embedder_is_warned_of_with_a_remedy() -> None:
    finding = judge_judge(JudgeInForce(mismatch="the local judge finds nothing: fitted for a, b runs"))
    assert (finding.status, finding.seen) == (Status.WARN, "the local judge finds nothing: fitted for a, b runs")
    assert "admission.judge" in finding.remedy


def test_a_record_of_another_embedder_is_noticed(make_context: MakeContext, monkeypatch: pytest.MonkeyPatch) -> None:
    other = msgspec.structs.replace(shipped_admission_record(), embedder_key="another")
    monkeypatch.setattr(admission_judge, "shipped_admission_record", lambda: other)
    finding = check_judge(make_context())
    assert (finding.status, "the local judge finds nothing" in finding.seen) == (Status.WARN, True)


@pytest.mark.parametrize("admission", [AdmissionSettings(judge=False), AdmissionSettings(enabled=False)])
def test_a_judge_that_is_switched_off_is_no_fault(
    make_context: MakeContext, settings: Settings, admission: AdmissionSettings
) -> None:
    finding = check_judge(make_context(settings=msgspec.structs.replace(settings, admission=admission)))
    assert (finding.status, "off" in finding.seen) == (Status.PASS, True)


def test_the_check_is_among_those_that_are_run() -> None:
    assert "local judge" in {check.name for check in CHECKS}
