"""Whatever a check does, the examination goes on, and its exit code is never better than the worst result."""

import threading
import time

import pytest

from recalld.daemon.clock import SystemClock
from recalld.daemon.doctor.report import report_of
from recalld.daemon.doctor.result import CheckResult, Finding, Status, failed, not_checked, noted, passed, warned
from recalld.daemon.doctor.runner import Check, run_checks
from recalld.daemon.exit_codes import DoctorExit


def raising(_context: None) -> Finding:
    message = "broken\ncheck"
    raise ValueError(message)


def results_of(*checks: Check[None], is_deep: bool = False) -> tuple[CheckResult, ...]:
    return run_checks(checks, None, clock=SystemClock(), is_deep=is_deep)


def check(name: str, finding: Finding, *, is_deep: bool = False) -> Check[None]:
    return Check(name=name, run=lambda _context: finding, is_deep=is_deep)


def test_a_check_that_raises_is_a_crash_and_the_next_one_runs() -> None:
    crashed, fine = results_of(Check(name="a", run=raising), check("b", passed("well")))  # O06
    assert crashed.status is Status.CRASH
    assert "ValueError: broken check" in crashed.seen
    assert crashed.remedy
    assert fine.status is Status.PASS


def test_a_check_that_hangs_is_a_crash_within_its_time_and_the_next_one_runs() -> None:
    release = threading.Event()

    def hang(_context: None) -> Finding:
        release.wait(60)
        return passed("too late")

    began = time.monotonic()
    hung, fine = results_of(Check(name="a", run=hang, timeout_s=0.05), check("b", passed("well")))
    took_s = time.monotonic() - began
    release.set()
    assert hung.status is Status.CRASH
    assert "no answer within 0.05 s" in hung.seen
    assert fine.status is Status.PASS
    assert took_s < 30


def test_a_check_that_ends_the_process_is_a_crash() -> None:
    def leave(_context: None) -> Finding:
        raise SystemExit(0)

    (result,) = results_of(Check(name="a", run=leave))
    assert result.status is Status.CRASH


def test_deep_checks_run_only_when_asked_for() -> None:
    checks = (check("a", passed("x")), check("b", passed("y"), is_deep=True))
    assert [result.name for result in results_of(*checks)] == ["a"]
    assert [result.name for result in results_of(*checks, is_deep=True)] == ["a", "b"]


@pytest.mark.parametrize(
    ("findings", "expected"),
    [
        ([passed("x")], DoctorExit.WELL),
        ([passed("x"), noted("y")], DoctorExit.WELL),
        ([passed("x"), not_checked("y")], DoctorExit.WELL),
        ([passed("x"), warned("y", "z")], DoctorExit.WARNINGS),
        ([passed("x"), not_checked("y", matters=True)], DoctorExit.WARNINGS),
        ([warned("y", "z"), failed("y", "z")], DoctorExit.FAILURES),
        ([not_checked("x"), not_checked("y")], DoctorExit.COULD_NOT_RUN),
        ([], DoctorExit.COULD_NOT_RUN),
    ],
)
def test_the_worst_result_decides_the_exit_code(findings: list[Finding], expected: DoctorExit) -> None:
    results = results_of(*(check(str(number), finding) for number, finding in enumerate(findings)))
    assert report_of(results, is_deep=False).exit_code == expected


def test_a_crash_alone_is_a_failure() -> None:
    assert report_of(results_of(Check(name="a", run=raising)), is_deep=False).exit_code == DoctorExit.FAILURES


def test_what_was_not_checked_is_counted_and_never_a_pass() -> None:
    for matters in (True, False):
        finding = not_checked("no way to look", matters=matters)
        assert finding.status is not Status.PASS
        assert finding.seen.startswith("not checked: ")
    report = report_of(
        results_of(check("a", not_checked("x")), check("b", passed("y")), check("c", not_checked("z", matters=True))),
        is_deep=False,
    )
    assert report.not_checked == 2
    assert report.counts == {"pass": 1, "info": 1, "warn": 1, "fail": 0, "crash": 0}
