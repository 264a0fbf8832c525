"""A person's audit of a real database earns the open position."""

from __future__ import annotations

import subprocess
import sys

import pytest
from daemon_process import DaemonProcess

from recalld.protocol import requests

pytestmark = pytest.mark.integration


def test_an_audit_is_noted_durably_and_earns_the_open_position(make_daemon) -> None:  # type: ignore[no-untyped-def] # noqa: ANN001
    daemon: DaemonProcess = make_daemon(config='[admission]\nposition = "balanced"\n').start().ready()
    with daemon.client() as client:
        for text in ("Works at Acme", "Prefers rye"):
            client.remember(requests.Remember(user="ines", text=text))

    def run(keys: str) -> str:
        command = [sys.executable, "-m", "recalld.daemon.cli", "audit", "--records", "--user", "ines"]
        command += ["--socket", str(daemon.socket_path)]
        return subprocess.run(command, input=keys, capture_output=True, text=True, check=True, timeout=60).stdout

    assert "no audit is noted" in run("k\n")
    shown = run("f\nk\n")
    assert "stored: somebody asked for it" in " ".join(shown.split())
    assert "Noted as audited" in shown
    with daemon.client() as client:
        (left,) = client.list_memories(requests.ListMemories(user="ines")).memories
    assert left.text == "Works at Acme"
    assert daemon.stop() == 0
    config = daemon.home / "recalld.toml"
    config.write_text(config.read_text().replace("balanced", "open"))
    daemon.start().ready()
    with daemon.client() as client:
        assert client.health().store.audited_at_ms is not None
