"""Commands run in this process, in a bare environment, against a stand-in for the daemon."""

import io
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from stand_in_daemon import Ended, Run, StandIn

from recalld.daemon.cli import main


@pytest.fixture
def daemon(tmp_path: Path) -> Iterator[StandIn]:
    stand_in = StandIn(tmp_path / "s.sock")
    yield stand_in
    stand_in.close()


@pytest.fixture(autouse=True)
def bare_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No setting of the machine the tests run on may leak in."""
    for name in ("RECALLD_CONFIG", "RECALLD_SOCKET", "RECALLD_DATA_DIR", "RECALLD_MODEL_DIR", "RECALLD_USER", "TZ"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    config = tmp_path / "recalld.toml"
    config.write_text("")
    monkeypatch.setenv("RECALLD_CONFIG", str(config))
    monkeypatch.setenv("RECALLD_SOCKET", str(tmp_path / "s.sock"))
    monkeypatch.setenv("RECALLD_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("RECALLD_MODEL_DIR", str(tmp_path / "models"))
    monkeypatch.setenv("RECALLD_USER", "ines")


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run a command in this process, as the console script would."""

    def run_command(*arguments: str, stdin: bytes = b"") -> Ended:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin), encoding="utf-8"))
        code = main(arguments)
        captured = capsys.readouterr()
        return Ended(int(code), captured.out, captured.err)

    return run_command
