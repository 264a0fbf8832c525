"""A real daemon in a process of its own, and what a service manager would know of it."""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import pytest

from recalld.daemon.config import process_environment
from recalld.daemon.config.paths import default_paths
from recalld.protocol import replies
from recalld.protocol.client import Client

BOUND_S = 30.0
"""Bound of every wait; none of these tests comes near it."""
REPOSITORY = Path(__file__).resolve().parents[2]
CROSS_ENCODER = "ms-marco-minilm-l-12-v2-int8"
EMBEDDER = "bge-small-en-v1.5-int8"
_PRIVATE = ("RECALLD_", "NOTIFY_", "WATCHDOG_", "LISTEN_", "XDG_")
_numbers = itertools.count()


def find_models() -> Path:
    """The directory of verified models; fails the test when there is none."""
    configured = os.environ.get("RECALLD_TEST_MODELS")
    default = default_paths(process_environment(), is_system=False).model_dir
    places = (Path(configured),) if configured else (REPOSITORY / ".cache" / "models", default)
    for place in places:
        if all((place / model / "model.onnx").is_file() for model in (CROSS_ENCODER, EMBEDDER)):
            return place
    pytest.fail(
        f"no models in {' or '.join(map(str, places))}: run `recalld models provision`, or set RECALLD_TEST_MODELS"
    )


class ServiceManager:
    """Hears what a daemon notifies, on an abstract datagram socket."""

    def __init__(self) -> None:
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._name = f"recalld-test-{os.getpid()}-{next(_numbers)}"
        self._socket.bind(f"\0{self._name}")
        self._socket.settimeout(0.05)

    @property
    def address(self) -> str:
        return f"@{self._name}"

    def hear(self, wanted: str, is_alive: Callable[[], bool]) -> bool:
        """Wait for a notification that has a line; False when the daemon ended without it."""
        deadline_s = time.monotonic() + BOUND_S
        while time.monotonic() < deadline_s:
            try:
                if wanted in self._socket.recv(4096).decode().splitlines():
                    return True
            except TimeoutError:
                if not is_alive():
                    return False
        pytest.fail(f"{wanted} was not heard within {BOUND_S} s")

    def close(self) -> None:
        self._socket.close()


class DaemonProcess:
    """`recalld serve` in a directory of its own.

    Args:
        home: Where its configuration, socket, database and log are.
        model_dir: Its models; by default an empty directory.
        config: TOML appended to its configuration.
    """

    def __init__(self, home: Path, *, model_dir: Path | None = None, config: str = "") -> None:
        self.home = home
        self.model_dir = home / "models" if model_dir is None else model_dir
        self.socket_path = home / "run" / "s"
        self.data_dir = home / "data"
        self.log_path = home / "log"
        self._manager = ServiceManager()
        self._process: subprocess.Popen[bytes] | None = None
        home.mkdir(parents=True, exist_ok=True)
        (home / "recalld.toml").write_text(f"[models]\nauto_provision = false\n\n{config}", encoding="utf-8")

    @property
    def process(self) -> subprocess.Popen[bytes]:
        assert self._process is not None
        return self._process

    def start(
        self,
        *,
        prefix: Sequence[str] = (),
        environ: Mapping[str, str] | None = None,
        listener: socket.socket | None = None,
        stderr: int | None = None,
    ) -> DaemonProcess:
        """Start it, without waiting for anything."""
        inherited = {name: value for name, value in os.environ.items() if not name.startswith(_PRIVATE)}
        command = [
            *prefix,
            *(sys.executable, "-m", "recalld.daemon.cli", "serve", "--config", str(self.home / "recalld.toml")),
            *("--socket", str(self.socket_path), "--data-dir", str(self.data_dir), "--model-dir", str(self.model_dir)),
        ]
        if listener is not None:  # only the shell that becomes the daemon knows the process id it will have
            command = ["/bin/sh", "-c", 'LISTEN_PID=$$ LISTEN_FDS=1 exec "$@"', "sh", *command]
        with self.log_path.open("ab") as log:
            self._process = subprocess.Popen(
                command,
                env={**inherited, "NOTIFY_SOCKET": self._manager.address, **(environ or {})},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log if stderr is None else stderr,
                pass_fds=() if listener is None else (3,),
                preexec_fn=None if listener is None else lambda: os.dup2(listener.fileno(), 3),  # noqa: PLW1509 - one call
            )
        return self

    def ready(self) -> DaemonProcess:
        """Wait until it says that it serves."""
        assert self.hears("READY=1"), f"the daemon ended with {self.process.wait()}:\n{self.log()}"
        return self

    def hears(self, line: str) -> bool:
        return self._manager.hear(line, lambda: self.process.poll() is None)

    @contextlib.contextmanager
    def client(self) -> Iterator[Client]:
        with Client(self.socket_path, name="test", timeout_s=BOUND_S, recall_timeout_s=BOUND_S, strict=True) as client:
            yield client

    def with_models(self) -> DaemonProcess:
        """Wait until both models are loaded."""
        with self.client() as client:
            self.until(lambda: _has_models(client.health()))
        return self

    def until(self, is_so: Callable[[], bool]) -> None:
        """Look again and again until something holds."""
        deadline_s = time.monotonic() + BOUND_S
        pause = threading.Event()
        while not is_so():
            assert self.process.poll() is None, self.log()
            assert time.monotonic() < deadline_s, self.log()
            pause.wait(0.02)

    def stop(self) -> int:
        """Ask it to stop; its exit code."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(BOUND_S)

    def kill(self) -> None:
        """End it as a crash of the machine's power would."""
        self.process.kill()
        self.process.wait(BOUND_S)

    def close(self) -> None:
        """Leave nothing running."""
        if self._process is not None and self._process.poll() is None:
            self.kill()
        self._manager.close()

    def log(self) -> str:
        return self.log_path.read_text(encoding="utf-8", errors="replace") if self.log_path.exists() else ""

    def log_rows(self) -> list[dict[str, object]]:
        """The log, each line as the object it must be."""
        return [json.loads(line) for line in self.log().splitlines()]


def _has_models(health: replies.HealthReport) -> bool:
    return health.scorer.state == health.embedder.state == "ready"
