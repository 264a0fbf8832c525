"""Readings of a health report: each fault shows, and a healthy daemon passes every one of them."""

from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from recalld.daemon.doctor import live
from recalld.daemon.doctor.context import DoctorContext, Live
from recalld.daemon.doctor.result import Finding, Status
from recalld.protocol.items import ModelState, ProbeResult
from recalld.protocol.replies import HealthReport

MakeContext = Callable[..., DoctorContext]

JUDGES = (
    live.judge_store,
    live.judge_scorer,
    live.judge_embedder,
    live.judge_probe,
    live.judge_breaker,
    live.judge_fallbacks,
    live.judge_queues,
    live.judge_restarts,
    live.judge_ledger,
    live.judge_calibration,
    live.judge_memory,
)


@pytest.mark.parametrize("judge", JUDGES)
def test_a_healthy_daemon_passes(judge: Callable[[HealthReport], Finding], healthy: HealthReport) -> None:
    assert judge(healthy).status is Status.PASS


def changed(healthy: HealthReport, **fields: object) -> HealthReport:
    return msgspec.structs.replace(healthy, **fields)


@pytest.mark.parametrize(
    ("state", "status"),
    [("ready", Status.PASS), ("loading", Status.WARN), ("unavailable", Status.FAIL), ("disabled", Status.FAIL)],
)
def test_a_scorer_that_does_not_run_fails(healthy: HealthReport, state: str, status: Status) -> None:
    model = ModelState(state=state, detail="thread is dead")  # O06
    assert live.judge_scorer(changed(healthy, scorer=model)).status is status
    assert live.judge_embedder(changed(healthy, embedder=model)).status is status


def test_a_gate_that_is_switched_off_is_no_fault(healthy: HealthReport) -> None:
    off = changed(
        healthy,
        gate_mode="off",
        scorer=ModelState(state="disabled"),
        probe=None,
        calibration_matches=False,
        window_degraded={"gate_disabled_by_config": 40},
    )
    assert {judge(off).status for judge in JUDGES} <= {Status.PASS, Status.INFO}


@pytest.mark.parametrize(
    ("probe", "status", "is_checked"),
    [
        (None, Status.WARN, False),
        (ProbeResult(is_ok=False, relevant=0.6, irrelevant=0.6, detail="scores do not differ"), Status.FAIL, True),
        (ProbeResult(is_ok=False, detail="timeout"), Status.FAIL, True),
    ],
)
def test_a_gate_that_cannot_tell_two_pairs_apart_fails(
    healthy: HealthReport, probe: ProbeResult | None, status: Status, *, is_checked: bool
) -> None:
    finding = live.judge_probe(changed(healthy, probe=probe))
    assert (finding.status, finding.is_checked) == (status, is_checked)


def test_right_after_a_start_neither_scorer_nor_gate_is_called_broken(healthy: HealthReport) -> None:
    probe = ProbeResult(is_ok=False, detail="the model is still loading")
    starting = changed(healthy, scorer=ModelState(state="loading"), probe=probe)
    assert live.judge_scorer(starting).status is Status.WARN
    assert live.judge_probe(starting).status is Status.WARN


@pytest.mark.parametrize(
    ("breaker", "status"),
    [("closed", Status.PASS), ("half_open", Status.WARN), ("open", Status.FAIL), ("?", Status.FAIL)],
)
def test_an_open_breaker_fails(healthy: HealthReport, breaker: str, status: Status) -> None:
    assert live.judge_breaker(changed(healthy, breaker=breaker)).status is status


@pytest.mark.parametrize(
    ("recalls", "degraded", "status"),
    [
        (0, 0, Status.INFO),
        (100, 0, Status.PASS),
        (100, 5, Status.PASS),
        (100, 6, Status.WARN),
        (100, 50, Status.WARN),
        (100, 51, Status.FAIL),
        (10, 6, Status.FAIL),
        (9, 9, Status.WARN),
        (1, 1, Status.WARN),
    ],
)
def test_the_share_of_fallbacks_decides(healthy: HealthReport, recalls: int, degraded: int, status: Status) -> None:
    report = changed(healthy, window_recalls=recalls, window_degraded={"queue_full": degraded})
    finding = live.judge_fallbacks(report)
    assert finding.status is status
    assert finding.is_checked is (recalls > 0)


def test_fallbacks_are_named_by_cause(healthy: HealthReport) -> None:
    report = changed(healthy, window_recalls=40, window_degraded={"queue_full": 10, "scorer_unavailable": 20, "x": 0})
    assert "queue_full 10, scorer_unavailable 20" in live.judge_fallbacks(report).seen


@pytest.mark.parametrize(
    ("reasons", "names", "is_time_short"),
    [
        (("queue_full",), ("memory_recall_gate_degraded",), False),
        (("embed_timeout",), ("memory_recall_vector_degraded",), False),
        (("embedder_unavailable", "embed_failed"), ("memory_recall_vector_degraded",), False),
        (
            ("envelope_exceeded", "embed_failed"),
            ("memory_recall_gate_degraded", "memory_recall_vector_degraded"),
            True,
        ),
    ],
)
def test_the_remedy_for_fallbacks_names_the_events_that_tell_their_causes(
    healthy: HealthReport, reasons: tuple[str, ...], names: tuple[str, ...], *, is_time_short: bool
) -> None:
    report = changed(healthy, window_recalls=40, window_degraded=dict.fromkeys(reasons, 5))
    remedy = live.judge_fallbacks(report).remedy
    asked = " ".join(f"--name {name}" for name in names)
    assert f"`recalld events {asked}`" in remedy
    assert ("budget_ms" in remedy) is is_time_short


@pytest.mark.parametrize(
    ("judge", "fields", "status"),
    [
        (live.judge_queues, {"queue_depth": 65}, Status.WARN),
        (live.judge_queues, {"scorer": ModelState(state="ready", queue_depth=65)}, Status.WARN),
        (live.judge_restarts, {"actor_restarts": 1}, Status.INFO),
        (live.judge_restarts, {"actor_restarts": 3}, Status.WARN),
        (live.judge_ledger, {"ledger_rows_dropped": 1}, Status.WARN),
        (live.judge_calibration, {"calibration_matches": False}, Status.WARN),
        (live.judge_memory, {"rss_bytes": 2 << 30}, Status.WARN),
    ],
)
def test_other_faults_show(
    healthy: HealthReport, judge: Callable[[HealthReport], Finding], fields: dict[str, object], status: Status
) -> None:
    finding = judge(changed(healthy, **fields))
    assert finding.status is status
    assert finding.remedy or finding.status is Status.INFO


@pytest.mark.parametrize("field", ["is_readable", "is_writable"])
def test_a_store_that_the_daemon_cannot_use_fails(healthy: HealthReport, field: str) -> None:
    store = msgspec.structs.replace(healthy.store, **{field: False}, detail="read-only file system")
    finding = live.judge_store(changed(healthy, store=store))
    assert finding.status is Status.FAIL
    assert "read-only file system" in finding.seen


def test_a_daemon_that_does_not_answer_fails_and_says_how_to_start_it(make_context: MakeContext) -> None:
    finding = live.check_daemon(make_context(Live(problem="no such file")))  # O06
    assert finding.status is Status.FAIL
    assert "recalld serve" in finding.remedy


def test_a_socket_that_is_not_for_this_account_fails_with_another_remedy(make_context: MakeContext) -> None:
    finding = live.check_daemon(make_context(Live(problem="permission denied", is_forbidden=True)))
    assert finding.status is Status.FAIL
    assert "group" in finding.remedy


def test_a_daemon_of_another_version_or_on_its_way_out_is_a_warning(
    make_context: MakeContext, healthy: HealthReport
) -> None:
    assert live.check_daemon(make_context(Live(health=healthy))).status is Status.PASS
    assert live.check_daemon(make_context(Live(health=changed(healthy, version="0.0.1")))).status is Status.WARN
    assert live.check_daemon(make_context(Live(health=changed(healthy, is_draining=True)))).status is Status.WARN


def test_without_a_report_nothing_live_passes(make_context: MakeContext) -> None:
    context = make_context(Live(problem="down"))
    for check in (
        live.check_live_store,
        live.check_scorer,
        live.check_live_embedder,
        live.check_gate,
        live.check_breaker,
        live.check_fallbacks,
        live.check_queues,
        live.check_restarts,
        live.check_ledger,
        live.check_calibration,
        live.check_memory,
        live.check_open_files,
    ):
        finding = check(context)
        assert not finding.is_checked
        assert finding.status is not Status.PASS


@pytest.mark.parametrize(
    ("line", "limit"),
    [
        ("Max open files            1024                 524288               files     ", 1024),
        ("Max open files            unlimited            unlimited            files     ", None),
        ("Max processes             5                    5                    processes ", None),
        ("Max open files", None),
    ],
)
def test_the_limit_of_open_files_is_read_from_proc(tmp_path: Path, line: str, limit: int | None) -> None:
    (tmp_path / "limits").write_text(f"Limit   Soft Limit   Hard Limit   Units\n{line}\n")
    assert live._open_files_limit(tmp_path / "limits") == limit
    assert live._open_files_limit(tmp_path / "missing") is None


@pytest.mark.parametrize(("limit", "status"), [(None, Status.INFO), (19, Status.WARN), (100, Status.PASS)])
def test_open_files_are_compared_with_the_limit(
    make_context: MakeContext, healthy: HealthReport, monkeypatch: pytest.MonkeyPatch, limit: int | None, status: Status
) -> None:
    monkeypatch.setattr(live, "_open_files_limit", lambda _path: limit)
    assert live.check_open_files(make_context(Live(health=healthy))).status is status
