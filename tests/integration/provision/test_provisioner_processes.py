from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Protocol

import msgspec
import pytest

from recalld.models.inference.manifest import ModelSpec
from recalld.models.inference.provision.files import FileState
from recalld.models.inference.provision.leash import EXIT_OWNER_GONE
from recalld.models.inference.provision.status import verify

pytestmark = pytest.mark.integration

WORKER = Path(__file__).with_name("provision_worker.py")
LEASH = (sys.executable, "-m", "recalld.models.inference.provision.leash")


class Carrier(Protocol):
    manifest: dict[str, ModelSpec]


class Server(Protocol):
    files: dict[str, bytes]
    requests: list[tuple[str, str]]
    hold: threading.Event
    held: threading.Event


class Starter:
    """Starts processes, and ends what a failing test leaves running."""

    def __init__(self) -> None:
        self._started: list[subprocess.Popen[bytes]] = []

    def __call__(self, model_dir: Path, carrier: Carrier, environment: dict[str, str]) -> subprocess.Popen[bytes]:
        process = self.program(sys.executable, str(WORKER), str(model_dir), "hub-model")
        assert process.stdin is not None
        orders = {"manifest": carrier.manifest, "environment": environment}
        process.stdin.write(msgspec.json.encode(orders))
        process.stdin.close()
        process.stdin = None
        return process

    def program(self, *command: str) -> subprocess.Popen[bytes]:
        pipe = subprocess.PIPE
        process = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe)
        self._started.append(process)
        return process

    def end_all(self) -> None:
        for process in self._started:
            process.kill()
            process.wait(20)
            for stream in (process.stdin, process.stdout, process.stderr):
                if stream is not None:
                    stream.close()


@pytest.fixture
def start() -> Iterator[Starter]:
    starter = Starter()
    yield starter
    starter.end_all()


def outcome(process: subprocess.Popen[bytes]) -> str:
    output, _ = process.communicate(timeout=60)
    assert process.returncode == 0
    return output.decode().strip()


def children_of(pid: int) -> list[int]:
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def wait_until_gone(pid: int) -> None:
    """Wait for a process that is not our child, without polling."""
    try:
        descriptor = os.pidfd_open(pid)
    except ProcessLookupError:
        return
    try:
        ready, _, _ = select.select([descriptor], [], [], 20)
        assert ready, f"process {pid} still runs"
    finally:
        os.close(descriptor)


def test_two_provisioners_at_once_make_one_download(
    tmp_path: Path, start: Starter, carrier: Carrier, hub_environment: dict[str, str], hub: Server
) -> None:
    hub.hold.clear()  # the first cannot finish before the second waits for it
    first = start(tmp_path, carrier, hub_environment)
    assert hub.held.wait(30)
    second = start(tmp_path, carrier, hub_environment)
    assert second.stdout is not None
    assert second.stdout.readline() == b"waiting\n"
    hub.hold.set()
    assert (outcome(first), outcome(second)) == ("provisioned", "ready")
    assert len([path for method, path in hub.requests if method == "GET"]) == 1
    assert verify(tmp_path, "hub-model", manifest=carrier.manifest).state is FileState.VERIFIED


def test_a_provisioner_killed_mid_download_leaves_nothing_that_exists_and_no_downloader(
    tmp_path: Path, start: Starter, carrier: Carrier, hub_environment: dict[str, str], hub: Server
) -> None:
    hub.hold.clear()
    process = start(tmp_path, carrier, hub_environment)
    assert hub.held.wait(30)
    (downloader,) = children_of(process.pid)
    process.send_signal(signal.SIGKILL)
    process.communicate(timeout=20)
    assert verify(tmp_path, "hub-model", manifest=carrier.manifest).state is FileState.MISSING
    assert not (tmp_path / "hub-model").exists()
    wait_until_gone(downloader)
    hub.hold.set()
    assert outcome(start(tmp_path, carrier, hub_environment)) == "provisioned"
    assert sorted(entry.name for entry in tmp_path.iterdir()) == [".lock", "hub-model"]


def test_a_leashed_program_ends_when_its_owner_lets_go(start: Starter) -> None:
    process = start.program(*LEASH, "http.server", "0", "--bind", "127.0.0.1")
    assert process.stdin is not None
    process.stdin.close()
    assert process.wait(20) == EXIT_OWNER_GONE


def test_a_leashed_program_gets_its_arguments_and_gives_its_exit_code(start: Starter) -> None:
    process = start.program(*LEASH, "zipfile", "--list")  # our end of its standard input stays open
    assert process.wait(20) == 2
    assert process.stderr is not None
    assert "--list" in process.stderr.read().decode()


def test_the_lock_is_released_by_death_alone(
    tmp_path: Path, start: Starter, carrier: Carrier, hub_environment: dict[str, str], hub: Server
) -> None:
    hub.hold.clear()
    first = start(tmp_path, carrier, hub_environment)
    assert hub.held.wait(30)
    assert (tmp_path / ".lock").read_text() == str(first.pid)
    first.kill()
    first.communicate(timeout=20)
    hub.hold.set()
    started_s = time.monotonic()
    assert outcome(start(tmp_path, carrier, hub_environment)) == "provisioned"
    assert time.monotonic() - started_s < 30.0
