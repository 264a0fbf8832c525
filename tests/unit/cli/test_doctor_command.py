"""`recalld doctor`: report, exit codes, and what stops it from running at all."""

import json
from pathlib import Path

import pytest
from stand_in_daemon import Run

from recalld.daemon.cli.commands import doctor as doctor_command
from recalld.daemon.doctor.report import DoctorReport, report_of
from recalld.daemon.doctor.result import CheckResult, Status


def report(*statuses: Status) -> DoctorReport:
    return report_of(
        tuple(
            CheckResult(
                name=f"check {status}",
                status=status,
                seen="\x1b[31mseen",
                remedy="mend it",
                is_checked=True,
                elapsed_ms=1,
            )
            for status in statuses
        ),
        is_deep=False,
    )


@pytest.mark.parametrize(
    ("statuses", "code"),
    [
        ((Status.PASS, Status.INFO), 0),
        ((Status.PASS, Status.WARN), 1),
        ((Status.PASS, Status.FAIL), 2),
        ((Status.PASS, Status.CRASH), 2),
        ((), 3),
    ],
)
def test_the_exit_code_is_the_reports(
    run: Run, monkeypatch: pytest.MonkeyPatch, statuses: tuple[Status, ...], code: int
) -> None:
    monkeypatch.setattr(doctor_command, "run_doctor", lambda *_, **__: report(*statuses))
    ended = run("doctor")
    assert ended.code == code
    assert "\x1b" not in ended.out
    for status in statuses:
        assert f"{status.value.upper()}" in ended.out
    assert json.loads(run("doctor", "--json").out)["exit_code"] == code


def test_a_remedy_stands_under_what_needs_one(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor_command, "run_doctor", lambda *_, **__: report(Status.PASS, Status.FAIL))
    lines = run("doctor").out.splitlines()
    assert "mend it" not in lines[1]
    assert sum("mend it" in line for line in lines) == 1


def test_the_daemon_down_is_a_failure_and_not_an_error(run: Run) -> None:
    ended = run("doctor")
    assert ended.code == 2
    assert "no daemon answers on" in ended.out
    assert ended.err == ""


def test_a_configuration_that_cannot_be_read_means_it_could_not_run(run: Run, tmp_path: Path) -> None:
    (tmp_path / "recalld.toml").write_text("[recall]\nthreshold = 2\n")
    ended = run("doctor")
    assert ended.code == 3
    assert "recall.threshold" in ended.err
    assert json.loads(run("doctor", "--json").out)["error"]["code"] == "config_error"


def test_an_index_that_cannot_be_rebuilt_is_an_error_of_its_own(run: Run) -> None:
    ended = run("doctor", "--rebuild-index")
    assert ended.code == 75
    assert "could not be made anew" in ended.err
