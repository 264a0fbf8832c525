"""A real daemon and a real endpoint: what was said is read in one batch and noted, by a restarted daemon too."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import ClassVar, cast

import pytest
from daemon_process import DaemonProcess

from recalld.protocol import requests

pytestmark = pytest.mark.integration

BEES = "I keep bees on the roof."
FACT = "The user keeps bees on the roof."
CONFIG = """
[admission]
position = "balanced"
rules = false
judge = false
model_gate = "endpoint"
[admission.extraction]
quiet_s = {quiet_s}
[admission.endpoint]
url = "{url}"
model = "small"
"""


class _Answering(BaseHTTPRequestHandler):
    """Finds one fact in the turn that has it."""

    asked: ClassVar[list[list[str]]] = []

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        turns = [cast("dict[str, str]", json.loads(line)) for line in body["messages"][1]["content"].splitlines()]
        self.asked.append([turn["text"] for turn in turns])
        facts = [{"statement": FACT, "quote": BEES, "turn": turn["turn"]} for turn in turns if turn["text"] == BEES]
        choice = {"message": {"content": json.dumps(facts)}, "finish_reason": "stop"}
        answer = json.dumps({"choices": [choice]}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_args: object) -> None:
        """Say nothing."""


@contextmanager
def endpoint() -> Iterator[tuple[str, list[list[str]]]]:
    """An endpoint, and the turns it was asked about."""
    _Answering.asked.clear()
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Answering)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1", _Answering.asked
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def observed(daemon: DaemonProcess) -> list[str]:
    with daemon.client() as client:
        page = client.observations(requests.ListObservations(user="ines"))
        return [each.text for each in page.observations]


def say(daemon: DaemonProcess, *texts: str) -> None:
    with daemon.client() as client:
        for turn_id, text in enumerate(texts):
            client.observe(requests.Observe(user="ines", session="s", turn_id=str(turn_id), speaker="user", text=text))


def test_what_was_said_is_read_in_one_batch_and_noted(make_daemon) -> None:  # type: ignore[no-untyped-def] # noqa: ANN001
    with endpoint() as (url, asked):
        daemon = make_daemon(config=CONFIG.format(quiet_s=0.3, url=url)).start().ready()
        say(daemon, "What is the time?", BEES)
        daemon.until(lambda: observed(daemon) == [FACT])
        assert asked == [["What is the time?", BEES]]
        assert daemon.stop() == 0


def test_what_waited_when_the_daemon_was_killed_is_read_by_the_next_one(make_daemon) -> None:  # type: ignore[no-untyped-def] # noqa: ANN001
    with endpoint() as (url, asked):
        daemon = make_daemon(config=CONFIG.format(quiet_s=3, url=url)).start().ready()
        say(daemon, BEES)
        daemon.kill()
        assert asked == []
        daemon.start().ready()
        daemon.until(lambda: observed(daemon) == [FACT])
        assert asked == [[BEES]]
