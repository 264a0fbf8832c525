"""The daemon is asked once, within bounds, and every kind of silence is an answer."""

import socket
from collections.abc import Callable
from pathlib import Path

import pytest
from stand_in_daemon import StandIn

from recalld.daemon.clock import SystemClock
from recalld.daemon.config import Environment, Settings
from recalld.daemon.doctor import run_doctor
from recalld.daemon.doctor.registry import CHECKS
from recalld.daemon.doctor.session import ask_daemon
from recalld.protocol import replies, requests
from recalld.protocol.client.blocking import Client
from recalld.protocol.client.errors import ClientError


def client_for(path: Path, timeout_s: float = 5.0) -> Callable[[], Client]:
    return lambda: Client(path, strict=True, timeout_s=timeout_s)


def test_a_daemon_that_reports_is_heard(tmp_path: Path, healthy: replies.HealthReport) -> None:
    daemon = StandIn(tmp_path / "s.sock")
    daemon.plan(requests.Health, healthy)
    daemon.plan(requests.Stats, replies.StatsReport(uptime_s=1, counters={}, latencies_ms={}))
    live = ask_daemon(client_for(daemon.path))
    daemon.close()
    assert live.health is not None
    assert live.health.scorer.state == "ready"
    assert live.welcome is not None
    assert live.stats is not None
    health, stats = daemon.seen
    assert health == requests.Health(id=health.id, deep=True)
    assert stats == requests.Stats(id=stats.id, days=7)


def test_a_daemon_that_keeps_its_counts_to_itself_is_well_all_the_same(
    tmp_path: Path, healthy: replies.HealthReport
) -> None:
    daemon = StandIn(tmp_path / "s.sock")
    daemon.plan(requests.Health, healthy)
    daemon.plan(requests.Stats, replies.Error(code="forbidden", message="user: not of all users"))
    live = ask_daemon(client_for(daemon.path))
    daemon.close()
    assert live.health is not None
    assert (live.stats, live.problem) == (None, "")
    assert "not of all users" in live.stats_problem


def test_nobody_on_the_socket_is_an_answer(tmp_path: Path) -> None:
    live = ask_daemon(client_for(tmp_path / "missing.sock"))
    assert live.health is None
    assert "missing.sock" in live.problem
    assert not live.is_forbidden


def test_a_stale_socket_is_an_answer(tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener:
        listener.bind(str(tmp_path / "s.sock"))
    assert ask_daemon(client_for(tmp_path / "s.sock")).problem


def test_a_daemon_that_refuses_this_account_is_told_from_one_that_is_down(tmp_path: Path) -> None:
    daemon = StandIn(tmp_path / "s.sock")
    daemon.plan(requests.Health, replies.Error(code="forbidden", message="not for you"))
    live = ask_daemon(client_for(daemon.path))
    daemon.close()
    assert live.is_forbidden
    assert live.welcome is not None


def test_a_hung_daemon_costs_a_bounded_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("recalld.daemon.doctor.session.HEALTH_TIMEOUT_S", 0.05)
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener:
        listener.bind(str(tmp_path / "s.sock"))
        listener.listen()
        assert ask_daemon(client_for(tmp_path / "s.sock")).problem


def test_a_client_error_of_any_code_is_an_answer(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def broken(*_arguments: object, **_named: object) -> replies.Welcome:
        code, message = "bad_reply", "gibberish"
        raise ClientError(code, message)

    monkeypatch.setattr(Client, "connect", broken)
    assert ask_daemon(client_for(tmp_path / "s.sock")).problem == "gibberish"


def test_a_whole_examination_with_the_daemon_down_is_red_and_crashes_nowhere(
    settings: Settings, environment: Environment
) -> None:
    report = run_doctor(
        settings,
        environment=environment,
        connect=client_for(settings.server.socket_path),
        clock=SystemClock(),
        is_deep=True,
    )
    assert report.exit_code == 2
    assert report.counts["crash"] == 0
    assert [result.name for result in report.results] == [check.name for check in CHECKS]
    assert {result.name for result in report.results if result.status == "fail"} == {
        "daemon",
        "cross-encoder",
        "embedder",
    }
    assert all(result.remedy for result in report.results if result.status in {"warn", "fail"})


def test_names_of_checks_are_unique() -> None:
    assert len({check.name for check in CHECKS}) == len(CHECKS)
