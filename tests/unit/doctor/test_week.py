"""Checks of what was counted over the last days."""

from collections.abc import Callable

import pytest
from stats_reports import ROWS, TALLIES, stats_of

from recalld.daemon.doctor import week
from recalld.daemon.doctor.context import DoctorContext, Live
from recalld.daemon.doctor.result import Finding, Status
from recalld.models.domain.ledger_tally import LedgerTally, TallyFamily
from recalld.protocol.replies import StatsReport

MakeContext = Callable[..., DoctorContext]
CHECKS = (week.check_silence, week.check_degraded, week.check_times, week.check_sums)


@pytest.fixture
def seen(make_context: MakeContext) -> Callable[..., Finding]:
    def look(check: Callable[[DoctorContext], Finding], stats: StatsReport | None, problem: str = "") -> Finding:
        return check(make_context(Live(stats=stats, stats_problem=problem)))

    return look


@pytest.mark.parametrize("check", CHECKS)
def test_what_was_not_told_is_not_checked(
    check: Callable[[DoctorContext], Finding], seen: Callable[..., Finding]
) -> None:
    finding = seen(check, None, "it does not serve this account")
    assert not finding.is_checked
    assert "it does not serve this account" in finding.seen


@pytest.mark.parametrize("check", CHECKS)
def test_a_week_without_a_decision_is_no_fault(
    check: Callable[[DoctorContext], Finding], seen: Callable[..., Finding]
) -> None:
    assert seen(check, stats_of(rows={})).status in {Status.INFO, Status.PASS}


def test_silence_is_told_with_and_without_a_search(seen: Callable[..., Finding]) -> None:
    finding = seen(week.check_silence, stats_of(*TALLIES, rows=ROWS))
    assert finding.seen == "silent in 60% of 10 recalls: 5 after a search, 1 without one; 0 failed"


def test_a_tenth_degraded_is_a_warning_with_its_cause(seen: Callable[..., Finding]) -> None:
    finding = seen(week.check_degraded, stats_of(*TALLIES, rows=ROWS))
    assert finding.status is Status.WARN
    assert "1 of 10 recalls degraded (10.0%): breaker_open 1" in finding.seen


@pytest.mark.parametrize("reason", ["out_of_domain", "gate_disabled_by_config"])
def test_what_is_no_fault_of_the_daemon_is_not_held_against_it(reason: str, seen: Callable[..., Finding]) -> None:
    counts = LedgerTally(family=TallyFamily.MODE, key=("floor_only", reason), count=10)
    assert seen(week.check_degraded, stats_of(counts)).status is Status.PASS


def test_times_name_recalls_and_gates(seen: Callable[..., Finding]) -> None:
    finding = seen(week.check_times, stats_of(*TALLIES, rows=ROWS))
    assert finding.seen == "95 of 100 took at most, in ms: relevance 48.7, turn 0.3"


def test_sums_that_do_not_agree_are_a_warning(seen: Callable[..., Finding]) -> None:
    assert seen(week.check_sums, stats_of(*TALLIES, rows=ROWS)).status is Status.PASS
    finding = seen(week.check_sums, stats_of(*TALLIES, rows={"recall": 11, "observe": 2}))
    assert finding.status is Status.WARN
    assert "recalls 11, parts 10" in finding.seen


def test_rows_that_cannot_be_read_are_a_warning(seen: Callable[..., Finding]) -> None:
    broken = LedgerTally(family=TallyFamily.AMOUNT, key=("unreadable",), count=3, total=3.0)
    assert seen(week.check_sums, stats_of(*TALLIES, broken, rows=ROWS)).status is Status.WARN
