"""A real daemon for the demo: a process of its own, on a socket and a database in a temporary directory."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec

from recalld.daemon.clock import SystemClock
from recalld.daemon.faults import RAISE_FILE
from recalld.protocol.client import Client, ClientError

START_S_MAX = 60.0
MODELS_S_MAX = 180.0
ANSWER_S_MAX = 60.0
"""Longest wait for an answer to anything that is no recall."""
STOP_S_MAX = 15.0
POLL_S = 0.01
TURN_MS_MAX = 10_000
"""What a turn may take. Far more than it needs: what is shown is what the gate decides, with the time it took, and not
how busy the machine is at the moment."""
_SLACK_S = 5.0
"""What a recall's answer may come late before the client gives up on it."""

_CONFIG = f"""\
[debug]
fault_injection = true

[recall]
envelope_ms = {TURN_MS_MAX}
gate_ms = {TURN_MS_MAX // 2}

[models]
auto_provision = false

[log]
format = "json"
level = "warning"
"""


class DemoError(Exception):
    """The demo's daemon did not do what it should; the message says what, and where its log is."""


class DemoDaemon(msgspec.Struct, frozen=True, kw_only=True):
    """A running daemon.

    Attributes:
        client: Connected to it.
        ready_ms: From starting the process to its first answer.
        models_ms: From starting the process to both models being loaded.
        data_dir: Its data directory, where faults are injected.
        socket_path: Where it listens.
    """

    client: Client
    socket_path: Path
    ready_ms: float
    models_ms: float
    data_dir: Path

    def break_scorer(self) -> None:
        """Make every scoring fail from now on."""
        (self.data_dir / RAISE_FILE).touch()

    def repair_scorer(self) -> None:
        """Let scoring work again."""
        (self.data_dir / RAISE_FILE).unlink(missing_ok=True)


@contextmanager
def demo_daemon(model_dir: Path) -> Iterator[DemoDaemon]:
    """Start a daemon, wait until its models are loaded, and stop it at the end, whatever happens.

    Raises:
        DemoError: It did not come up.
    """
    with tempfile.TemporaryDirectory(prefix="recalld-demo-") as scratch:
        home = Path(scratch)
        config, socket_path, log = home / "recalld.toml", home / "run" / "recalld.sock", home / "log"
        config.write_text(_CONFIG, encoding="utf-8")
        clock = SystemClock()
        started_s = clock.monotonic_s()
        with log.open("wb") as sink:
            process = subprocess.Popen(  # noqa: S603 - this very interpreter and package
                [
                    *(sys.executable, "-m", "recalld.daemon.cli", "serve"),
                    *("--config", str(config), "--socket", str(socket_path)),
                    *("--data-dir", str(home / "data"), "--model-dir", str(model_dir)),
                ],
                stdin=subprocess.DEVNULL,
                stdout=sink,
                stderr=sink,
            )
        try:
            with _client(socket_path) as client:
                _wait(process, log, lambda: _answers(client), START_S_MAX, "did not start")
                ready_ms = (clock.monotonic_s() - started_s) * 1000.0
                _wait(process, log, lambda: _has_models(client), MODELS_S_MAX, "did not load its models")
                models_ms = (clock.monotonic_s() - started_s) * 1000.0
                yield DemoDaemon(
                    client=client,
                    socket_path=socket_path,
                    ready_ms=ready_ms,
                    models_ms=models_ms,
                    data_dir=home / "data",
                )
        finally:
            process.terminate()
            try:
                process.wait(STOP_S_MAX)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def _client(socket_path: Path) -> Client:
    recall_timeout_s = TURN_MS_MAX / 1000.0 + _SLACK_S
    return Client(socket_path, name="recalld-demo", timeout_s=ANSWER_S_MAX, recall_timeout_s=recall_timeout_s)


def _wait(
    process: subprocess.Popen[bytes], log: Path, is_done: Callable[[], bool], seconds_max: float, failure: str
) -> None:
    clock = SystemClock()
    pause = threading.Event()
    deadline_s = clock.monotonic_s() + seconds_max
    while not is_done():
        if process.poll() is not None or clock.monotonic_s() > deadline_s:
            last_lines = log.read_text(encoding="utf-8", errors="replace").splitlines()[-5:]
            message = f"the demo's daemon {failure}; its log ends with:\n" + "\n".join(last_lines)
            raise DemoError(message)
        pause.wait(POLL_S)


def _answers(client: Client) -> bool:
    try:
        client.ping(timeout_s=1.0)
    except ClientError:
        return False
    return True


def _has_models(client: Client) -> bool:
    health = client.health()
    return health.scorer.state == health.embedder.state == "ready"
