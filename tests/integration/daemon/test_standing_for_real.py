"""A real daemon without models: what a session is given before anything is asked. The tests run in their order."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator

import pytest
from daemon_process import DaemonProcess

from recalld.protocol import requests
from recalld.protocol.client import Client, ClientError
from recalld.protocol.replies import StandingBlock

pytestmark = pytest.mark.integration

CONFIG = """
[standing]
max_chars = 60
"""
PREFERENCES = ("Answers in German, please", "Never use pip, use uv", "Tabs, not spaces, in every file")


@pytest.fixture(scope="module")
def daemon(make_daemon) -> DaemonProcess:  # type: ignore[no-untyped-def] # noqa: ANN001
    return make_daemon(config=CONFIG).start().ready()


@pytest.fixture(scope="module")
def client(daemon: DaemonProcess) -> Iterator[Client]:
    with daemon.client() as client:
        for text in PREFERENCES:
            client.remember(requests.Remember(user="ines", text=text, kind="preference"))
        client.remember(requests.Remember(user="omar", text="Prefers Latin", kind="preference"))
        yield client


def give(client: Client, session: str = "", *, user: str = "ines", max_chars: int | None = None) -> StandingBlock:
    return client.standing(requests.Standing(user=user, session=session, max_chars=max_chars))


def texts(block: StandingBlock) -> list[str]:
    return [item.text for item in block.items]


def test_a_cap_below_what_is_stored_gives_the_newest_that_fit(client: Client) -> None:
    block = give(client, "one")
    assert block.reason == "given"
    assert texts(block) == [PREFERENCES[2], PREFERENCES[1]]
    assert (block.chars, block.chars_max, block.left_out) == (len("\n".join(texts(block))), 60, 1)
    assert texts(give(client, max_chars=1_000)) == list(reversed(PREFERENCES))


def test_a_block_is_given_once_per_session_and_again_after_compaction(client: Client) -> None:
    assert (texts(give(client, "one")), give(client, "one").reason) == ([], "already_given")
    recalled = client.recall(requests.Recall(user="ines", session="one", text="tabs or spaces in files?"))
    assert recalled.items == ()
    client.session(requests.Session(user="ines", session="one", event="compacted"))
    assert texts(give(client, "one")) == [PREFERENCES[2], PREFERENCES[1]]


def test_two_users_never_mix(client: Client) -> None:
    assert texts(give(client, "one", user="omar")) == ["Prefers Latin"]
    assert texts(give(client, "one", user="mei")) == []


def test_outcomes_are_durable_demote_and_can_be_undone(client: Client, daemon: DaemonProcess) -> None:
    for session in ("a", "b"):
        block = give(client, session, max_chars=1_000)
        (item_id,) = (item.id for item in block.items if item.text == PREFERENCES[2])
        for _ in range(2):
            client.outcome(
                requests.Outcome(user="ines", decision_id=block.decision_id, item_id=item_id, result="harmful")
            )
    with pytest.raises(ClientError, match="there is no decision"):
        client.outcome(requests.Outcome(user="omar", decision_id=block.decision_id, result="used"))
    daemon.stop()
    daemon.start().ready()
    explained = client.standing(requests.Standing(user="ines", session="", explain=True))
    (demoted,) = (rank for rank in explained.ranking if rank.verdict == "below_bar")
    assert (demoted.id, demoted.outcomes.harmful, demoted.value) == (item_id, 2, 0.0)
    assert texts(explained) == [PREFERENCES[1], PREFERENCES[0]]
    client.set_standing(requests.SetStanding(user="ines", memory_id=item_id, action="pin"))
    assert texts(give(client))[0] == PREFERENCES[2]
    report = client.outcomes(requests.Outcomes(user="ines", memory_id=item_id))
    assert (report.counts.harmful, report.choice) == (2, "pinned")


@pytest.mark.parametrize("is_hard", [False, True])
def test_a_forgotten_record_is_never_shown_again(client: Client, *, is_hard: bool) -> None:
    gone = give(client, max_chars=1_000).items[0]
    forgotten = client.forget(requests.Forget(user="ines", ids=(gone.id,), hard=is_hard))
    assert forgotten.count == 1
    for session in ("one", "fresh", ""):
        block = client.standing(requests.Standing(user="ines", session=session, again=True, explain=True))
        assert gone.id not in {*(item.id for item in block.items), *(rank.id for rank in block.ranking)}
    with pytest.raises(ClientError, match="not_found"):
        client.set_standing(requests.SetStanding(user="ines", memory_id=gone.id, action="restore"))


def test_the_command_line_shows_the_block_and_reports_an_outcome(client: Client, daemon: DaemonProcess) -> None:
    def run(*words: str) -> str:
        command = [sys.executable, "-m", "recalld.daemon.cli", *words, "--user", "ines"]
        command += ["--socket", str(daemon.socket_path)]
        return subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout

    (kept,) = give(client, max_chars=1_000).items
    shown = json.loads(run("standing", "--json", "--session", "shell"))
    assert [item["id"] for item in shown["items"]] == [kept.id]
    assert "Noted" in run("outcome", shown["decision_id"], "--result", "used", "--item", kept.id)
    assert "used 1" in run("standing", "--explain")
    assert "outcomes used 1" in run("get", kept.id)
    assert kept.id in run("explain", shown["decision_id"])
