"""A real daemon without models: everything of a user, out of it, into another, judged by hand, and gone for good."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from daemon_process import BOUND_S, DaemonProcess

from recalld.protocol import items, requests
from recalld.protocol.client import Client

pytestmark = pytest.mark.integration

CONFIG = """
[admission]
position = "balanced"
"""
CANARIES = ("QUOKKA", "NUMBAT", "BILBY")
MANY = 2_000
PEAK_BYTES_MAX = 256 << 20
"""Far above what the command needs with any number of memories, and below what holding a large one would take."""


PEAK_OF = """
import resource, subprocess, sys
code = subprocess.call(sys.argv[1:], stdout=subprocess.DEVNULL)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024)
sys.exit(code)
"""
"""Runs a command and prints its peak memory in bytes, apart from that of every other child of the tests."""


def recalld(
    daemon: DaemonProcess, *arguments: str, stdin: bytes = b"", code: int = 0, runner: tuple[str, ...] = ()
) -> str:
    """Run a command against a daemon, as user ines, by itself or through a runner; the standard output."""
    ended = subprocess.run(
        [*runner, sys.executable, "-m", "recalld.daemon.cli", *arguments, "--socket", str(daemon.socket_path)],
        input=stdin,
        capture_output=True,
        timeout=4 * BOUND_S,
        check=False,
        env={**os.environ, "RECALLD_USER": "ines", "RECALLD_CONFIG": str(daemon.home / "recalld.toml")},
    )
    assert ended.returncode == code, ended.stderr.decode() + ended.stdout.decode()
    return ended.stdout.decode()


def observe(client: Client, text: str, statement: str, turn: str, user: str = "ines") -> None:
    """A turn with a fact that a model found in it: in the balanced position it is noted."""
    offered = items.OfferedFact(statement=statement, quote=text)
    client.observe(
        requests.Observe(user=user, session=f"s-{turn}", turn_id=turn, speaker="user", text=text, candidates=(offered,))
    )


def fill(daemon: DaemonProcess) -> None:
    """Something of everything: a memory that was replaced, headings, expiry, an observation."""
    with daemon.client() as client:
        for text in ("I work at Initech", "I work at Hooli"):
            client.remember(requests.Remember(user="ines", text=text))
        client.remember(
            requests.Remember(
                user="ines",
                text="Standup is at ten",
                scope="work",
                asks=("When is standup?",),
                expires_at="2999-01-01T00:00:00Z",
            )
        )
        gone = client.remember(requests.Remember(user="ines", text="Prefers Latin"))
        client.forget(requests.Forget(user="ines", ids=(gone.memory.id,)))
        for turn in ("t1", "t2"):
            observe(client, "Ugh, my Brompton squeaks again.", "The user rides a Brompton.", turn)


def exported(daemon: DaemonProcess, path: Path) -> list[str]:
    """The lines of an export behind its header."""
    recalld(daemon, "export", "--out", str(path))
    return path.read_text().splitlines()[1:]


def waiting(daemon: DaemonProcess) -> list[dict[str, str]]:
    found: list[dict[str, str]] = json.loads(recalld(daemon, "review", "--all", "--json"))["waiting"]
    return found


@pytest.fixture
def daemon(make_daemon) -> DaemonProcess:  # type: ignore[no-untyped-def] # noqa: ANN001
    started: DaemonProcess = make_daemon(config=CONFIG).start().ready()
    return started


@pytest.fixture
def other(make_daemon) -> DaemonProcess:  # type: ignore[no-untyped-def] # noqa: ANN001
    started: DaemonProcess = make_daemon(config=CONFIG).start().ready()
    return started


def test_what_is_exported_and_imported_elsewhere_is_exported_there_as_it_was(
    daemon: DaemonProcess, other: DaemonProcess, tmp_path: Path
) -> None:
    fill(daemon)
    lines = exported(daemon, tmp_path / "a")
    assert [json.loads(line)["type"] for line in lines] == ["memory_record"] * 3 + ["observation_record"]
    assert "Prefers Latin" not in "".join(lines)
    dry = json.loads(recalld(other, "import", str(tmp_path / "a"), "--dry-run", "--json"))
    assert (dry["created"], exported(other, tmp_path / "b")) == (4, [])
    done = json.loads(recalld(other, "import", str(tmp_path / "a"), "--json"))
    assert (done["created"], done["refused"]) == (4, {})
    assert exported(other, tmp_path / "b") == lines
    again = json.loads(recalld(other, "import", str(tmp_path / "a"), "--json"))
    assert (again["created"], again["updated"], again["unchanged"]) == (0, 0, 4)
    assert exported(other, tmp_path / "b") == lines
    with other.client() as client:
        observe(client, "Ugh, my Brompton squeaks again.", "The user rides a Brompton.", "t3")
    assert "The user rides a Brompton." in recalld(other, "list")


def test_what_was_forgotten_here_does_not_come_back_from_a_file(
    daemon: DaemonProcess, other: DaemonProcess, tmp_path: Path
) -> None:
    fill(daemon)
    exported(daemon, tmp_path / "a")
    recalld(other, "import", str(tmp_path / "a"))
    recalld(other, "forget", "--query", "Hooli", "--yes")
    done = json.loads(recalld(other, "import", str(tmp_path / "a"), "--json", code=1))
    assert (done["refused"], done["unchanged"]) == ({"tombstoned": 1}, 3)


def test_a_person_accepts_rewords_and_turns_down_what_waits_and_learns_why_a_memory_is_there(
    daemon: DaemonProcess,
) -> None:
    with daemon.client() as client:
        observe(client, "Ugh, my Brompton squeaks again.", "The user rides a Brompton.", "t1")
        observe(client, "Ugh, my kayak leaks again.", "The user owns a kayak.", "t2")
        observe(client, "The tram was late as ever.", "The user takes the tram.", "t3")
    found = {each["text"]: each["id"] for each in waiting(daemon)}
    assert set(found) == {"The user rides a Brompton.", "The user owns a kayak.", "The user takes the tram."}
    recalld(daemon, "review", "--accept", found["The user rides a Brompton."])
    recalld(daemon, "review", "--edit", found["The user owns a kayak."], "The user owns a blue kayak.")
    recalld(daemon, "review", "--reject", found["The user takes the tram."])
    assert recalld(daemon, "review", "--all") == "Nothing waits for your word.\n"
    listed = json.loads(recalld(daemon, "list", "--json"))["memories"]
    assert {each["text"] for each in listed} == {"The user rides a Brompton.", "The user owns a blue kayak."}
    (bike,) = (each["id"] for each in listed if "Brompton" in each["text"])
    why = recalld(daemon, "why", bike)
    assert "“Ugh, my Brompton squeaks again.”" in why
    assert "found by a model" in why
    assert "confirmed" in why
    with daemon.client() as client:
        for turn in ("t4", "t5", "t6", "t7"):
            observe(client, "The tram was late as ever.", "The user takes the tram.", turn)
    assert "tram" not in recalld(daemon, "list") + recalld(daemon, "review", "--all")
    recalld(daemon, "forget", bike)
    ended = json.loads(recalld(daemon, "why", bike, "--json", code=1))
    assert ended["error"]["code"] == "forgotten"
    recalld(daemon, "why", bike, "--user", "omar", code=1)


def test_nothing_of_a_purged_user_is_left_in_any_file_and_others_keep_everything(daemon: DaemonProcess) -> None:
    with daemon.client() as client:
        for canary in CANARIES:
            client.remember(requests.Remember(user="quoll", text=f"Knows {canary}", asks=(f"Who knows {canary}?",)))
            observe(
                client,
                f"Ugh, my {canary} figurine wobbles again.",
                f"The user owns a {canary} figurine.",
                canary,
                user="quoll",
            )
            client.recall(requests.Recall(user="quoll", session="s", text=f"What of {canary}?"))
        forgotten = client.remember(requests.Remember(user="quoll", text="Knew POTOROO"))
        client.forget(requests.Forget(user="quoll", ids=(forgotten.memory.id,)))
        client.remember(requests.Remember(user="ines", text="Prefers tea"))
    out = recalld(daemon, "purge-user", "quoll", "--yes")
    assert out.startswith("Purged: 4 memories, 3 observations and 0 proposals.")
    assert "Prefers tea" in recalld(daemon, "list")
    daemon.until(lambda: not _found_in(daemon.data_dir, (*CANARIES, "POTOROO", "quoll")))
    assert daemon.stop() == 0
    assert _found_in(daemon.data_dir, (*CANARIES, "POTOROO", "quoll")) == set()


def test_thousands_of_plain_texts_come_in_and_go_out_within_bounds(daemon: DaemonProcess, tmp_path: Path) -> None:
    plain = tmp_path / "plain"
    plain.write_text(
        "".join(f'{{"text": "Shelf {number} holds the jars of row {number % 97}."}}\n' for number in range(MANY))
    )
    done = json.loads(recalld(daemon, "import", str(plain), "--json"))
    assert done["created"] == MANY
    lines = exported(daemon, tmp_path / "a")
    assert len(lines) == MANY
    again = json.loads(recalld(daemon, "import", str(tmp_path / "a"), "--json"))
    assert again["unchanged"] == MANY
    assert exported(daemon, tmp_path / "b") == lines
    measured = (sys.executable, "-c", PEAK_OF)
    for command in (("import", str(tmp_path / "a")), ("export", "--out", str(tmp_path / "c"))):
        assert int(recalld(daemon, *command, runner=measured)) < PEAK_BYTES_MAX


def _found_in(directory: Path, words: tuple[str, ...]) -> set[str]:
    """Which of the words any file below holds, in any case."""
    content = b"".join(path.read_bytes().lower() for path in directory.rglob("*") if path.is_file())
    return {word for word in words if word.lower().encode() in content}
