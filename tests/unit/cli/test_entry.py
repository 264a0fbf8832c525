"""The edges of the command line: usage, configuration, the daemon away, and readers that leave."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from stand_in_daemon import Run, StandIn

from recalld.daemon.cli import entry
from recalld.protocol import replies, requests

RECALLD = (sys.executable, "-c", "import sys; from recalld.daemon.cli import main; sys.exit(main())")


def test_without_a_daemon_the_error_says_how_to_start_it(run: Run, tmp_path: Path) -> None:
    ended = run("recall", "hello")
    assert ended.code == 69
    assert str(tmp_path / "s.sock") in ended.err
    assert "recalld serve" in ended.err
    assert ended.err.count("\n") == 1


def test_without_a_daemon_the_json_error_has_a_code(run: Run) -> None:
    ended = run("status", "--json")
    assert ended.code == 69
    assert json.loads(ended.out)["error"]["code"] == "connect_failed"


def test_a_socket_that_this_account_may_not_use_is_no_missing_daemon(
    run: Run, daemon: StandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_arguments: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("socket.socket.connect", refuse)
    ended = run("status")
    assert ended.code == 77
    assert "group" in ended.err


@pytest.mark.parametrize(
    "arguments",
    [
        ("nonsense",),
        ("recall",),
        ("recall", "x", "--max-items", "0"),
        ("recall", "x", "--nonsense"),
        ("remember", "x", "--kind", "secret"),
        ("events", "--name", "memory_made_up"),
        ("forget",),
        ("forget", "mem_1", "--query", "words"),
        ("remember", "x", "--cue", "a", "--cue", "b", "--cue", "c", "--cue", "d"),
        ("list", "--data-dir", "x"),
        ("forget", "mem_1", "--session", "x"),
        ("demo", "--socket", "x"),
        ("demo", "--data-dir", "x"),
        ("models", "list", "--socket", "x"),
    ],
)
def test_a_wrong_command_line_is_one_line_and_exit_code_64(run: Run, arguments: tuple[str, ...]) -> None:
    ended = run(*arguments)
    assert ended.code == 64
    assert ended.err.startswith("recalld: ")
    assert "--help" in ended.err
    assert ended.err.count("\n") == 1
    as_json = run(*arguments, "--json")
    assert json.loads(as_json.out)["error"]["code"] == "usage"


@pytest.mark.parametrize(
    ("arguments", "command"),
    [
        (("review", "--edit"), "recalld review"),
        (("review", "--edit", "obs_1"), "recalld review"),
        (("gates", "show", "--nope"), "recalld gates show"),
        (("list", "--scope"), "recalld list"),
    ],
)
def test_the_help_that_is_pointed_to_is_that_of_the_command(run: Run, arguments: tuple[str, ...], command: str) -> None:
    assert f"See `{command} --help`." in run(*arguments).err


@pytest.mark.parametrize("word", ["observe", "review", "standing"])
def test_explain_says_which_commands_print_an_id(run: Run, word: str) -> None:
    assert f"`{word}`" in " ".join(run("explain", "--help").out.split())


@pytest.mark.parametrize("text", ["", "   \n", "x" * 70_000, "\udcff"])
def test_text_that_cannot_be_sent_is_refused_before_the_daemon_is_asked(run: Run, text: str) -> None:
    ended = run("recall", text)
    assert ended.code == 64
    assert "the text is" in ended.err


@pytest.mark.parametrize("stdin", [b"", b"\xff\xfe", b"x" * 300_000, "é".encode() * 131_073 + b"x"])
def test_standard_input_that_cannot_be_sent_is_refused(run: Run, stdin: bytes) -> None:
    ended = run("recall", "-", stdin=stdin)
    assert ended.code == 64
    assert ended.err.count("\n") == 1


def test_a_wrong_configuration_ends_with_78_and_names_the_key(run: Run, tmp_path: Path) -> None:
    (tmp_path / "recalld.toml").write_text("[recall]\nthresold = 1\n")
    ended = run("list")
    assert ended.code == 78
    assert "recall.threshold" in ended.err
    assert json.loads(run("list", "--json").out)["error"]["code"] == "config_error"


def test_json_after_two_dashes_is_text_and_no_option(run: Run, daemon: StandIn) -> None:
    daemon.plan(requests.Recall, replies.Error(code="busy", message="no"))
    ended = run("recall", "--", "--json")
    assert daemon.seen[0].text == "--json"
    assert ended.err.startswith("recalld: ")


def test_ctrl_c_ends_with_130_and_without_a_traceback(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_arguments: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(entry.root, "invoke", interrupted)
    ended = run("status")
    assert ended.code == 130
    assert "Traceback" not in ended.err


def test_help_lists_every_command_and_imports_none(run: Run) -> None:
    ended = run("--help")
    assert ended.code == 0
    for name in (
        "serve",
        "demo",
        "recall",
        "remember",
        "forget",
        "get",
        "list",
        "standing",
        "outcome",
        "explain",
        "events",
        "status",
        "doctor",
        "models",
    ):
        assert f"  {name} " in ended.out


def test_help_starts_without_heavy_libraries() -> None:
    code = (
        "import sys; from recalld.daemon.cli import main; main(['--help']); "
        "print([name for name in ('rich', 'onnxruntime', 'numpy', 'tokenizers', 'aiosqlite', 'uvloop', 'anyio', "
        "'huggingface_hub', 'asyncio') if name in sys.modules])"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60).stdout
    assert out.splitlines()[-1] == "[]"


@pytest.mark.parametrize("name", [name for name in entry._COMMANDS if name not in {"serve", "demo"}])
def test_every_command_has_help_of_its_own_that_begins_like_its_line_in_the_list(run: Run, name: str) -> None:
    ended = run(name, "--help")
    assert ended.code == 0
    assert f"Usage: recalld {name}" in ended.out


def test_a_reader_that_leaves_ends_the_command_quietly(daemon: StandIn, tmp_path: Path) -> None:
    page = replies.Memories(total=0)
    daemon.plan(requests.ListMemories, page)
    read_end, write_end = os.pipe()
    os.close(read_end)
    process = subprocess.run(
        [*RECALLD, "list", "--json"], stdout=write_end, stderr=subprocess.PIPE, text=True, check=False, timeout=60
    )
    os.close(write_end)
    assert process.returncode == 141
    assert process.stderr == ""


def test_the_version_is_printed(run: Run) -> None:
    ended = run("--version")
    assert ended.code == 0
    assert ended.out.startswith("recalld ")


def test_in_system_mode_the_default_user_lies_below_the_accounts_prefix(
    run: Run, daemon: StandIn, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("RECALLD_USER")
    daemon.plan(requests.ListMemories, replies.Memories())
    run("list")
    (tmp_path / "recalld.toml").write_text('[server]\nmode = "system"\n')
    run("list")
    run("list", "--user", "team/x")
    plain, prefixed, named = (request.user for request in daemon.seen)
    assert prefixed == f"uid:{os.getuid()}/{plain}"
    assert named == "team/x"


@pytest.mark.parametrize("arguments", [(), ("models",)])
def test_a_command_without_its_sub_command_prints_its_whole_help_and_ends_with_64(
    run: Run, arguments: tuple[str, ...]
) -> None:
    ended = run(*arguments)
    assert ended.code == 64
    assert ended.err == ""
    assert ended.out.startswith(f"Usage: {' '.join(('recalld', *arguments))} [OPTIONS] COMMAND")
    assert "\nCommands:\n" in ended.out


def test_a_hung_daemon_is_not_waited_for_for_ever(tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    import socket

    from recalld.daemon.cli.common import Common
    from recalld.protocol.client.blocking import Client

    monkeypatch.setattr(
        Common, "client", lambda self, **_: Client(self.settings.server.socket_path, strict=True, timeout_s=0.05)
    )
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener:
        listener.bind(str(tmp_path / "s.sock"))
        listener.listen()
        began = time.monotonic()
        ended = run("status")
    assert ended.code == 75
    assert time.monotonic() - began < 10
