"""What the user said in a turn stands in front of later sessions: a real daemon and a real database, without models."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator

import pytest
from daemon_process import BOUND_S, DaemonProcess

from recalld.protocol import items, requests
from recalld.protocol.client import Client
from recalld.protocol.replies import StandingBlock

pytestmark = pytest.mark.integration

ORDER = "Never run migrations against production without asking me first."


@pytest.fixture(scope="module")
def daemon(make_daemon) -> DaemonProcess:  # type: ignore[no-untyped-def] # noqa: ANN001
    return make_daemon(config='[admission]\nposition = "balanced"\n').start().ready()


@pytest.fixture
def client(daemon: DaemonProcess) -> Iterator[Client]:
    with daemon.client() as client:
        yield client


def say(
    client: Client, user: str, session: str, text: str, candidates: tuple[items.OfferedFact, ...] = ()
) -> items.Verdict:
    """Observe a turn that leads to one thing."""
    request = requests.Observe(
        user=user, session=session, turn_id="t", speaker="user", text=text, candidates=candidates
    )
    done = client.observe(request)
    assert not done.dropped, done.dropped
    (verdict,) = (*done.kept, *done.observed, *done.proposals)
    return verdict


def explained(client: Client, user: str) -> StandingBlock:
    return client.standing(requests.Standing(user=user, session="", explain=True))


def words(client: Client, user: str) -> list[tuple[str, str]]:
    return [(rank.word, rank.verdict) for rank in explained(client, user).ranking]


def test_an_order_that_was_said_once_stands_in_the_next_session(client: Client, daemon: DaemonProcess) -> None:
    kept = say(client, "ines", "s1", ORDER)
    assert kept.memory is not None
    block = explained(client, "ines")
    assert [item.id for item in block.items] == [kept.memory.id]
    assert words(client, "ines") == [("said", "shown")]
    command = [sys.executable, "-m", "recalld.daemon.cli", "standing", "--explain", "--user", "ines"]
    command += ["--socket", str(daemon.socket_path)]
    shown = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout
    assert "the user said it" in " ".join(shown.split())
    assert "nobody" not in shown


def test_a_yes_makes_it_the_users_word(client: Client, daemon: DaemonProcess) -> None:
    wish = items.OfferedFact(statement="The user likes replies in rhyme.", quote="in rhyme", kind="preference")
    waiting = say(client, "omar", "s1", "I do enjoy it when your replies come in rhyme.", (wish,))
    assert words(client, "omar") == []
    assert waiting.observation is not None
    with Client(daemon.socket_path, name="person", timeout_s=BOUND_S, strict=True) as person:
        person.settle(requests.Settle(user="omar", observation_id=waiting.observation.id, accept=True))
    assert words(client, "omar") == [("confirmed", "shown")]


def test_what_a_model_found_stands_once_turns_enough_say_it(client: Client) -> None:
    wish = items.OfferedFact(statement="The user likes replies in rhyme.", quote="in rhyme", kind="preference")
    for session in ("s1", "s2", "s3"):
        assert words(client, "mei") == []
        say(client, "mei", session, "I do enjoy it when your replies come in rhyme.", (wish,))
    assert words(client, "mei") == [("repeated", "shown")]


def test_what_a_person_had_remembered_is_asked_for(client: Client) -> None:
    client.remember(requests.Remember(user="noor", text="Prefers Latin", kind="preference"))
    assert words(client, "noor") == [("asked", "shown")]
