"""A real daemon process: readiness, exit codes, and the doctor beside it."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from recalld.protocol.client.blocking import Client

pytestmark = pytest.mark.integration

RECALLD = (sys.executable, "-c", "import sys; from recalld.daemon.cli import main; sys.exit(main())")
PATIENCE_S = 60.0


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """A daemon of its own, without models and without a network."""
    config = tmp_path / "recalld.toml"
    config.write_text("[models]\nauto_provision = false\n")
    kept = {
        name: value for name, value in os.environ.items() if not name.startswith(("RECALLD_", "NOTIFY_", "WATCHDOG_"))
    }
    return {
        **kept,
        "HOME": str(tmp_path),
        "RECALLD_CONFIG": str(config),
        "RECALLD_SOCKET": str(tmp_path / "run" / "s.sock"),
        "RECALLD_DATA_DIR": str(tmp_path / "data"),
        "RECALLD_MODEL_DIR": str(tmp_path / "models"),
        "RECALLD_USER": "ines",
    }


Start = Callable[[dict[str, str]], subprocess.Popen[str]]


@pytest.fixture
def start() -> Iterator[Start]:
    started: list[subprocess.Popen[str]] = []

    def begin(environment: dict[str, str]) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [*RECALLD, "serve"], env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
        )
        started.append(process)
        return process

    yield begin
    for process in started:
        process.kill()
        process.communicate(timeout=PATIENCE_S)


@pytest.fixture
def manager() -> Iterator[socket.socket]:
    """An abstract datagram socket, as a service manager may name it."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as receiver:
        receiver.bind(f"\0recalld-test-{os.getpid()}")
        receiver.settimeout(PATIENCE_S)
        yield receiver


def notify_socket_of(manager: socket.socket) -> str:
    return "@" + manager.getsockname()[1:].decode()


def command(environment: dict[str, str], *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*RECALLD, *arguments], env=environment, capture_output=True, text=True, timeout=PATIENCE_S, check=False
    )


def await_ready(manager: socket.socket) -> None:
    while not manager.recv(4096).startswith(b"READY=1"):
        pass


def test_ready_is_said_once_the_socket_accepts_and_the_database_is_open(
    environment: dict[str, str], start: Start, manager: socket.socket
) -> None:
    process = start({**environment, "NOTIFY_SOCKET": notify_socket_of(manager)})  # O04
    await_ready(manager)
    with Client(environment["RECALLD_SOCKET"]) as client:
        assert client.health().store.is_readable
    process.send_signal(signal.SIGTERM)
    assert manager.recv(4096).startswith(b"STOPPING=1")
    assert process.wait(PATIENCE_S) == 0


def test_a_service_manager_that_is_not_there_does_not_stop_the_daemon(
    environment: dict[str, str], start: Start
) -> None:
    process = start({**environment, "NOTIFY_SOCKET": "/nonexistent/" + "x" * 200})
    deadline = time.monotonic() + PATIENCE_S
    while command(environment, "status").returncode != 0:
        assert process.poll() is None
        assert time.monotonic() < deadline
    process.send_signal(signal.SIGTERM)
    assert process.wait(PATIENCE_S) == 0


def test_a_second_daemon_on_the_same_socket_ends_with_69_and_harms_nothing(
    environment: dict[str, str], start: Start, manager: socket.socket
) -> None:
    start({**environment, "NOTIFY_SOCKET": notify_socket_of(manager)})
    await_ready(manager)
    second = start(environment)
    _, err = second.communicate(timeout=PATIENCE_S)
    assert second.returncode == 69
    assert "already running" in err
    assert command(environment, "status").returncode == 0


def test_a_socket_path_that_is_too_long_ends_with_78_and_names_path_and_limit(
    environment: dict[str, str], start: Start, tmp_path: Path
) -> None:
    path = tmp_path / ("d" * 100) / "s.sock"  # P08
    process = start({**environment, "RECALLD_SOCKET": str(path)})
    _, err = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 78
    assert str(path) in err
    assert "107" in err
    assert "Traceback" not in err


def garbage(folder: Path) -> Path:
    folder.mkdir(mode=0o700)
    (folder / "recalld.db").write_bytes(b"this was never a database" * 1_000)
    return folder


def plain_file(path: Path) -> Path:
    path.touch()
    return path


@pytest.mark.parametrize("make", [plain_file, garbage])
def test_a_data_directory_that_cannot_be_one_ends_with_78_and_with_json_says_so_on_standard_output(
    environment: dict[str, str], tmp_path: Path, make: Callable[[Path], Path]
) -> None:
    place = make(tmp_path / "place")
    done = command(environment, "serve", "--json", "--data-dir", str(place))
    assert done.returncode == 78
    error = json.loads(done.stdout)["error"]
    assert error["code"] == "storage_unavailable"
    assert str(place) in error["message"]
    assert "daemon_failed" in done.stderr
    assert "Traceback" not in done.stderr


def test_the_doctor_names_what_is_missing_beside_a_running_daemon(
    environment: dict[str, str], start: Start, manager: socket.socket
) -> None:
    start({**environment, "NOTIFY_SOCKET": notify_socket_of(manager)})
    await_ready(manager)
    assert command(environment, "remember", "The spare fuse lies in the blue tin.").returncode == 0
    done = command(environment, "doctor", "--deep", "--json")
    assert done.returncode == 2  # O06: without models recall works by words only, and that is no green
    results = {result["name"]: result for result in json.loads(done.stdout)["results"]}
    for name in ("cross-encoder", "embedder", "live scorer", "live embedder"):
        assert results[name]["status"] == "fail", name
    for name in ("daemon", "database", "full-text index", "memories", "live store", "integrity"):
        assert results[name]["status"] == "pass", results[name]
    assert results["round trip"]["status"] == "warn", results["round trip"]
    listed = json.loads(command(environment, "list", "--json").stdout)
    assert [memory["text"] for memory in listed["memories"]] == ["The spare fuse lies in the blue tin."]
