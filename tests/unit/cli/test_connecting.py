"""Each reason for not reaching a daemon has its own remedy."""

import errno
import json
import socket
from collections.abc import Callable
from pathlib import Path

import pytest
from stand_in_daemon import Run

from recalld.daemon.cli.connecting import start_remedy, why_unreachable
from recalld.daemon.config import Environment, Overrides, Settings, load_settings


def nothing(_folder: Path) -> str:
    return "missing"


def regular_file(folder: Path) -> str:
    (folder / "file").touch()
    return "file"


def folder_itself(folder: Path) -> str:
    (folder / "folder").mkdir()
    return "folder"


def below_a_file(folder: Path) -> str:
    (folder / "plain").touch()
    return "plain/s.sock"


def left_behind(folder: Path) -> str:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener:
        listener.bind(str(folder / "stale"))
    return "stale"


def too_long(_folder: Path) -> str:
    return "x" * 108


@pytest.mark.parametrize(
    ("make", "why", "is_startable"),
    [
        (nothing, "there is no such socket", True),
        (left_behind, "nobody listens there any more", True),
        (regular_file, "it is not a socket", False),
        (folder_itself, "it is not a socket", False),
        (below_a_file, "a part of the path is no directory", False),
        (too_long, "the system allows 107", False),
    ],
)
def test_what_stands_in_the_way_is_told_with_its_own_remedy(
    run: Run, tmp_path: Path, make: Callable[[Path], str], why: str, *, is_startable: bool
) -> None:
    path = tmp_path / make(tmp_path)
    ended = run("status", "--socket", str(path))
    assert ended.code == 69
    assert ended.err.startswith(f"recalld: cannot connect to {path}: ")
    assert why in ended.err
    assert ("recalld serve" in ended.err) is is_startable
    assert ended.err.count("\n") == 1
    assert json.loads(run("status", "--socket", str(path), "--json").out)["error"]["code"] == "connect_failed"


def test_a_datagram_socket_belongs_to_another_program(run: Run, tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as receiver:
        receiver.bind(str(tmp_path / "datagram"))
        ended = run("status", "--socket", str(tmp_path / "datagram"))
    assert ended.code == 69
    assert "a socket of another kind" in ended.err


def test_watching_events_is_told_the_same(run: Run, tmp_path: Path) -> None:
    path = tmp_path / regular_file(tmp_path)
    ended = run("events", "--socket", str(path))
    assert ended.code == 69
    assert "it is not a socket" in ended.err


def test_a_refusal_nobody_foresaw_is_told_as_it_came(tmp_path: Path) -> None:
    assert why_unreachable(tmp_path / "s", OSError(errno.ENOBUFS, "No buffers"), start="start it").endswith(
        "No buffers; start it"
    )


@pytest.mark.parametrize(
    ("uid", "mode", "systemctl"),
    [
        (1000, "user", "`systemctl --user enable"),
        (1000, "system", "`sudo systemctl enable"),
        (0, "user", "`systemctl enable"),
        (0, "system", "`systemctl enable"),
    ],
)
def test_the_way_to_start_it_suits_the_account_and_the_mode(
    tmp_path: Path, uid: int, mode: str, systemctl: str
) -> None:
    config = tmp_path / "recalld.toml"
    config.write_text(f'[server]\nmode = "{mode}"\n')
    environment = Environment(variables={}, uid=uid, login="x", home=tmp_path)
    settings: Settings = load_settings(environment, Overrides(config_path=config))
    assert systemctl in start_remedy(settings, environment)
