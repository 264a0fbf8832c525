"""A process with few descriptors, and more clients than it has room for."""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import gateway_process
import pytest
from gateway_harness import WAIT_S

from recalld.protocol import requests
from recalld.protocol.client import Client, ClientError
from recalld.protocol.codec import encode_message

pytestmark = pytest.mark.integration

NOFILE = 64
RESERVE = 32


@pytest.fixture
def process(socket_path: Path) -> Iterator[subprocess.Popen[str]]:
    script = Path(gateway_process.__file__)
    environment = {**os.environ, "PYTHONPATH": str(script.parent)}
    command = [sys.executable, str(script), str(socket_path), str(NOFILE)]
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as started:
        try:
            assert started.stdout is not None
            assert started.stdout.readline() == "ready\n"
            yield started
        finally:
            started.kill()


def test_idle_connections_never_take_the_last_descriptors_and_room_comes_back(  # P06
    process: subprocess.Popen[str], socket_path: Path
) -> None:
    with Client(socket_path) as early, contextlib.ExitStack() as idle:
        early.connect()
        answers = []
        for _ in range(100):
            sock = idle.enter_context(socket.socket(socket.AF_UNIX, socket.SOCK_STREAM))
            sock.settimeout(WAIT_S)
            sock.connect(str(socket_path))
            with contextlib.suppress(BrokenPipeError):  # turned away before it could say hello; why can still be read
                sock.sendall(encode_message(requests.Hello(id=1)))
            answers.append(sock.recv(65_536))
        refused = [b"busy" in answer for answer in answers]
        assert refused == sorted(refused)  # the first ones got in, the rest were told why not
        assert 0 < refused.count(False) < NOFILE - RESERVE
        assert len(list(Path(f"/proc/{process.pid}/fd").iterdir())) <= NOFILE - RESERVE + 1
        assert early.remember(requests.Remember(user="u", text="still served")).outcome == "created"
        with pytest.raises(ClientError, match="busy"), Client(socket_path) as late:
            late.ping()
    with Client(socket_path) as later:
        for _ in range(1_000):  # the server notices closed connections in its own time
            with contextlib.suppress(ClientError):
                assert later.ping() is not None
                break
        else:
            pytest.fail("no room came back")
    assert process.poll() is None
