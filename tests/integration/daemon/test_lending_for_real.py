"""A real daemon, the example runtime beside it, and a person at the command line. The tests run in their order."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
from collections.abc import Iterator

import pytest
from daemon_process import BOUND_S, REPOSITORY, DaemonProcess

from recalld.protocol import requests
from recalld.protocol.client import Client

pytestmark = pytest.mark.integration

EXAMPLE = REPOSITORY / "docs" / "examples" / "extractor.py"
FACTS = ("kestrel: room with the projector", "greenhouse: where bonfires are held")


@pytest.fixture(scope="module")
def daemon(make_daemon) -> DaemonProcess:  # type: ignore[no-untyped-def] # noqa: ANN001
    return make_daemon().start().ready()


@pytest.fixture(scope="module")
def client(daemon: DaemonProcess) -> Iterator[Client]:
    with daemon.client() as client:
        yield client


@pytest.fixture(scope="module")
def ids(client: Client) -> tuple[str, ...]:
    return tuple(client.remember(requests.Remember(user="ines", text=fact)).memory.id for fact in FACTS)


@contextlib.contextmanager
def example(daemon: DaemonProcess) -> Iterator[None]:
    """The example runtime, lending its model."""
    process = subprocess.Popen(
        [sys.executable, str(EXAMPLE), str(daemon.socket_path)], stdout=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == "lending\n"
        yield
    finally:
        process.kill()
        process.communicate(timeout=BOUND_S)


def recalld(daemon: DaemonProcess, *words: str) -> subprocess.CompletedProcess[str]:
    """Run a command against the daemon."""
    command = [sys.executable, "-m", "recalld.daemon.cli", *words, "--user", "ines"]
    options = ["--socket", str(daemon.socket_path), "--config", str(daemon.home / "recalld.toml")]
    environ = {name: value for name, value in os.environ.items() if not name.startswith("RECALLD_")}
    return subprocess.run(
        [*command, *options], check=False, capture_output=True, text=True, timeout=BOUND_S, env=environ
    )


def test_without_a_runtime_a_backfill_says_what_to_do(daemon: DaemonProcess, ids: tuple[str, ...]) -> None:
    assert recalld(daemon, "cues", "backfill", "--dry-run").stdout == "2 memories without questions.\n"
    ended = recalld(daemon, "cues", "backfill")
    assert ended.returncode == 69
    assert "docs/examples/extractor.py" in ended.stderr
    assert len(ids) == 2


def test_the_example_runtime_gives_every_memory_its_questions(
    daemon: DaemonProcess, client: Client, ids: tuple[str, ...]
) -> None:
    with example(daemon):
        ended = recalld(daemon, "cues", "backfill", "--json")
    assert (ended.returncode, ended.stderr) == (0, "")
    document = json.loads(ended.stdout)
    assert (document["asked"], document["updated"], document["remaining"]) == (2, 2, 0)
    memories = [client.get(requests.Get(user="ines", memory_id=memory_id)).memory for memory_id in ids]
    assert [memory.asks for memory in memories] == [
        ("What is kestrel?",),
        ("What is greenhouse?",),
    ]
    assert [memory.revision for memory in memories] == [2, 2]


def test_its_questions_find_the_memory_by_their_words(client: Client, ids: tuple[str, ...]) -> None:
    found = client.recall(requests.Recall(user="ines", session="", text="What is the greenhouse?"))
    assert [item.id for item in found.items] == [ids[1]]


def test_the_change_is_explained_by_counts(daemon: DaemonProcess, client: Client, ids: tuple[str, ...]) -> None:
    updated = client.update(requests.Update(user="ines", memory_id=ids[0], asks=("Where is the beamer?",)))
    shown = recalld(daemon, "explain", updated.decision_id)
    assert "decision: updated (edited)" in shown.stdout
    assert "changed: asks" in shown.stdout
    assert "beamer" not in shown.stdout


def test_a_person_adds_and_replaces_questions(daemon: DaemonProcess, client: Client, ids: tuple[str, ...]) -> None:
    assert recalld(daemon, "cues", "add", ids[0], "--ask", "Which room has a screen?").returncode == 0
    assert recalld(daemon, "cues", "set", ids[1], "--no-asks").returncode == 0
    assert client.get(requests.Get(user="ines", memory_id=ids[0])).memory.asks == (
        "Where is the beamer?",
        "Which room has a screen?",
    )
    missing = recalld(daemon, "cues", "list", "--missing")
    assert ids[1] in missing.stdout
    assert ids[0] not in missing.stdout


def test_a_runtime_that_is_gone_is_no_longer_asked(daemon: DaemonProcess, ids: tuple[str, ...]) -> None:
    assert len(ids) == 2
    assert recalld(daemon, "cues", "backfill").returncode == 69


def test_a_daemon_with_a_lending_runtime_stops_at_once_and_in_order(daemon: DaemonProcess) -> None:
    with example(daemon):
        assert daemon.stop() == 0
    assert all("Traceback" not in line for line in daemon.log().splitlines())
