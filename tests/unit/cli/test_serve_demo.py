"""`serve` and `demo` hand over to the daemon and to the demo, and pass their exit codes on."""

import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
import uvloop
from stand_in_daemon import Run

from recalld.daemon.cli.commands import demo as demo_command
from recalld.daemon.cli.commands import serve as serve_command
from recalld.daemon.config import Settings


def test_serve_runs_the_daemon_on_uvloop_under_a_private_umask(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import asyncio

    seen: list[tuple[Settings, bool, int]] = []
    before = os.umask(0o022)
    try:

        async def run_daemon(settings: Settings, *, environ: Mapping[str, str], on_failure: object) -> int:
            umask = os.umask(0)
            os.umask(umask)
            assert environ["RECALLD_USER"] == "ines"
            seen.append((settings, isinstance(asyncio.get_running_loop(), uvloop.Loop), umask))
            return 69

        monkeypatch.setattr(serve_command, "run_daemon", run_daemon)
        assert run("serve").code == 69
    finally:
        os.umask(before)
    ((settings, is_uvloop, umask),) = seen
    assert settings.server.socket_path == tmp_path / "s.sock"
    assert is_uvloop
    assert umask == 0o077


@pytest.mark.parametrize("as_json", [True, False])
def test_a_daemon_that_cannot_start_says_so_on_standard_output_only_with_json(
    run: Run, monkeypatch: pytest.MonkeyPatch, *, as_json: bool
) -> None:
    async def run_daemon(
        _settings: Settings, *, environ: Mapping[str, str], on_failure: Callable[[str, str], None]
    ) -> int:
        on_failure("storage_unavailable", "the disk is gone")
        return 75

    before = os.umask(0o022)
    try:
        monkeypatch.setattr(serve_command, "run_daemon", run_daemon)
        ended = run("serve", *(["--json"] if as_json else []))
    finally:
        os.umask(before)
    assert ended.code == 75
    error = {"error": {"code": "storage_unavailable", "message": "the disk is gone"}}
    assert ended.out == (f"{json.dumps(error, separators=(',', ':'))}\n" if as_json else "")


def test_serve_with_a_wrong_configuration_never_starts(run: Run, tmp_path: Path) -> None:
    (tmp_path / "recalld.toml").write_text('[recall]\ngate = "sometimes"\n')
    assert run("serve").code == 78


def test_the_demo_gets_settings_and_a_console(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[dict[str, object]] = []

    def run_demo(**named: object) -> int:
        seen.append(named)
        return 0

    monkeypatch.setattr(demo_command, "run_demo", run_demo)
    assert run("demo", "--json").code == 0
    assert seen[0]["as_json"] is True
    assert set(seen[0]) == {"settings", "as_json", "console"}
