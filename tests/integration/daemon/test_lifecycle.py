from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from daemon_process import BOUND_S, DaemonProcess

from recalld.daemon.exit_codes import ExitCode
from recalld.daemon.faults import HANG_FILE
from recalld.protocol import requests
from recalld.protocol.client import ClientError

pytestmark = pytest.mark.integration

MakeDaemon = Callable[..., DaemonProcess]
QUICK_S = 5.0


def remember(daemon: DaemonProcess, text: str) -> str:
    with daemon.client() as client:
        return client.remember(requests.Remember(user="ines", text=text)).memory.id


def listed(daemon: DaemonProcess) -> set[str]:
    found: set[str] = set()
    cursor: str | None = None
    with daemon.client() as client:
        while True:
            page = client.list_memories(requests.ListMemories(user="ines", limit=100, cursor=cursor))
            found |= {memory.id for memory in page.memories}
            cursor = page.cursor
            if cursor is None:
                return found


def test_a_killed_daemon_has_lost_nothing_it_acknowledged_and_its_socket_is_replaced(make_daemon: MakeDaemon) -> None:
    daemon = make_daemon().start().ready()
    acknowledged: set[str] = set()
    may_stop = threading.Event()

    def save() -> None:
        with daemon.client() as client:
            for number in range(10_000):
                try:
                    saved = client.remember(requests.Remember(user="ines", text=f"Fact number {number} holds"))
                except ClientError:
                    return
                acknowledged.add(saved.memory.id)
                if number == 20:
                    may_stop.set()

    writer = threading.Thread(target=save)
    writer.start()
    assert may_stop.wait(BOUND_S)
    daemon.kill()
    writer.join(BOUND_S)
    assert daemon.socket_path.is_socket()  # left behind
    daemon.start().ready()
    assert acknowledged <= listed(daemon)
    with daemon.client() as client:
        assert client.recall(requests.Recall(user="ines", session="", text="does fact number 7 hold?")).items
    assert daemon.stop() == ExitCode.OK


@pytest.mark.parametrize("shared", ["socket", "data"])
def test_a_second_daemon_on_the_same_socket_or_data_refuses_and_harms_nothing(
    make_daemon: MakeDaemon, shared: str
) -> None:
    first = make_daemon().start().ready()
    kept = remember(first, "The office is in Bern")
    second = make_daemon()
    if shared == "socket":
        second.socket_path = first.socket_path
    else:
        second.data_dir = first.data_dir
    for _ in range(2):
        assert not second.start().hears("READY=1")
        assert second.process.wait(BOUND_S) == ExitCode.UNAVAILABLE
    (row, _) = second.log_rows()
    assert (row["event"], row["level"]) == ("daemon_failed", "error")
    assert "running" in str(row["message"]) or "in use" in str(row["message"])
    assert listed(first) == {kept}
    assert remember(first, "The tea is green") in listed(first)
    assert first.stop() == ExitCode.OK


def test_idle_clients_and_subscribers_do_not_hold_up_the_end(make_daemon: MakeDaemon) -> None:
    daemon = make_daemon().start().ready()
    heard: list[str] = []
    has_heard = threading.Event()

    def listen() -> None:
        with daemon.client() as subscriber, contextlib.suppress(ClientError):
            for event in subscriber.subscribe(requests.Subscribe()):
                heard.append(event.name)
                has_heard.set()

    listener = threading.Thread(target=listen, daemon=True)
    with daemon.client() as idle:
        idle.ping()
        listener.start()
        # Whatever happens before the subscription is not heard of.
        for _ in range(200):
            remember(daemon, "The office is in Bern")
            if has_heard.wait(0.05):
                break
        started_s = time.monotonic()
        assert daemon.stop() == ExitCode.OK
        assert time.monotonic() - started_s < QUICK_S
    listener.join(BOUND_S)
    assert "daemon_stopping" in heard
    assert daemon.hears("STOPPING=1")
    assert not daemon.socket_path.exists()


@pytest.mark.model
def test_a_second_signal_ends_at_once_what_the_first_one_waits_for(make_daemon: MakeDaemon, models: Path) -> None:
    config = "[debug]\nfault_injection = true\n\n[recall]\nenvelope_ms = 25000\ngate_ms = 20000\n"
    daemon = make_daemon(model_dir=models, config=config).start().ready().with_models()
    remember(daemon, "The office is in Bern")
    (daemon.data_dir / HANG_FILE).touch()

    def ask() -> None:
        with daemon.client() as client, pytest.raises(ClientError):
            client.recall(requests.Recall(user="ines", session="", text="Where is the office?"))

    asker = threading.Thread(target=ask)
    asker.start()
    with daemon.client() as client:
        daemon.until(lambda: client.health().scorer.queue_depth == 1)
    daemon.process.send_signal(signal.SIGTERM)
    assert daemon.hears("STOPPING=1")
    with pytest.raises(subprocess.TimeoutExpired):
        daemon.process.wait(0.2)  # what is in flight is being answered
    started_s = time.monotonic()
    daemon.process.send_signal(signal.SIGTERM)
    assert daemon.process.wait(BOUND_S) == 128 + signal.SIGTERM
    assert time.monotonic() - started_s < 1
    asker.join(BOUND_S)


def test_ready_means_that_the_very_next_connection_is_answered(make_daemon: MakeDaemon) -> None:  # O04
    daemon = make_daemon().start()
    assert daemon.hears("READY=1")
    with socket.socket(socket.AF_UNIX) as peer:
        peer.connect(str(daemon.socket_path))
    with daemon.client() as client:
        assert client.health().store.is_readable


def test_the_watchdog_is_fed_while_the_daemon_lives_and_not_for_somebody_else(make_daemon: MakeDaemon) -> None:
    daemon = make_daemon().start(environ={"WATCHDOG_USEC": "200000"}).ready()
    for _ in range(3):
        assert daemon.hears("WATCHDOG=1")
    daemon.process.send_signal(signal.SIGSTOP)  # what hangs feeds nobody
    while True:
        try:
            daemon._manager._socket.recv(4096)
        except TimeoutError:
            break
    with pytest.raises(TimeoutError):
        daemon._manager._socket.recv(4096)
    daemon.process.send_signal(signal.SIGCONT)
    assert daemon.hears("WATCHDOG=1")
    assert daemon.stop() == ExitCode.OK


def test_a_socket_passed_by_systemd_is_served_and_its_path_survives(make_daemon: MakeDaemon) -> None:  # O05
    daemon = make_daemon()
    daemon.socket_path.parent.mkdir(mode=0o700)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(daemon.socket_path))
        listener.listen()
        for round_ in range(2):
            daemon.start(listener=listener).ready()
            assert remember(daemon, f"Fact number {round_} holds") in listed(daemon)
            environ = Path(f"/proc/{daemon.process.pid}/environ").read_bytes()
            assert b"LISTEN_FDS=1" in environ  # as it was started
            assert daemon.stop() == ExitCode.OK
            assert daemon.socket_path.is_socket()
    assert not Path(f"{daemon.socket_path}.lock").exists()


def test_a_listening_socket_of_another_kind_is_refused_once_with_the_remedy(make_daemon: MakeDaemon) -> None:  # O05
    daemon = make_daemon()
    with socket.socket(socket.AF_INET) as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        daemon.start(listener=listener)
        assert daemon.process.wait(BOUND_S) == ExitCode.CONFIG
    assert "ListenStream" in daemon.log()


def test_a_state_directory_too_deep_for_a_socket_fails_once_with_path_and_limit(make_daemon: MakeDaemon) -> None:  # P08
    daemon = make_daemon()
    daemon.socket_path = daemon.home / ("d" * (120 - len(str(daemon.home)) - 1)) / "s"
    daemon.start()
    assert daemon.process.wait(BOUND_S) == ExitCode.CONFIG
    assert str(daemon.socket_path) in daemon.log()
    assert "107" in daemon.log()
    assert "Traceback" not in daemon.log()
    assert not daemon.data_dir.exists()


def test_a_log_that_nobody_reads_any_more_does_not_end_the_daemon(make_daemon: MakeDaemon) -> None:
    read_end, write_end = os.pipe()
    daemon = make_daemon().start(stderr=write_end)
    os.close(write_end)
    daemon.ready()
    os.close(read_end)
    kept = remember(daemon, "The office is in Bern")
    with daemon.client() as client:
        found = client.recall(requests.Recall(user="ines", session="", text="where is the office in Bern?"))
        assert [item.id for item in found.items] == [kept]
    assert daemon.process.poll() is None


def test_a_broken_configuration_ends_with_a_code_that_is_not_restarted(make_daemon: MakeDaemon) -> None:
    daemon = make_daemon(config="[recall]\nthreshold = 2\n").start()
    assert daemon.process.wait(BOUND_S) == ExitCode.CONFIG
    assert "threshold" in daemon.log()


@pytest.mark.model
def test_on_one_core_the_gate_works_and_the_runtime_does_not_complain(
    make_daemon: MakeDaemon, models: Path
) -> None:  # M06
    core = max(os.sched_getaffinity(0))
    daemon = make_daemon(model_dir=models).start(prefix=("taskset", "-c", str(core))).ready().with_models()
    remember(daemon, "The staging database runs on port 5433")
    with daemon.client() as client:

        def is_gated() -> bool:
            asked = requests.Recall(user="ines", session="", text="Which port does the staging database use?")
            found = client.recall(asked)
            return found.mode == "gated" and len(found.items) == 1

        daemon.until(is_gated)
    threads = [path.read_text() for path in Path(f"/proc/{daemon.process.pid}/task").glob("*/comm")]
    assert sum("scorer-lane" in name for name in threads) <= 1
    assert daemon.stop() == ExitCode.OK
    daemon.log_rows()  # nothing but JSON: no line of the model runtime
