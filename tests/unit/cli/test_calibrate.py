"""`recalld calibrate` needs no daemon, and changes nothing when it refuses."""

from __future__ import annotations

import io
import json
from pathlib import Path

import msgspec
import pytest
from labelled_rows import make_rows, telling_models, write_rows
from rich.console import Console
from stand_in_daemon import Run

from recalld.daemon.cli.commands import calibrate as calibrate_command
from recalld.daemon.cli.commands.calibrate_progress import stage_bars
from recalld.daemon.own_calibration import run as run_module
from recalld.daemon.own_calibration.builtin import BuiltinSource
from recalld.daemon.own_calibration.kept import current_path, last_refusal
from recalld.daemon.own_calibration.run import CalibrationStage
from recalld.models.calibration.record import load_calibration


@pytest.fixture(autouse=True)
def models(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(calibrate_command, "load_pair_models", lambda _settings: telling_models())


@pytest.fixture
def file(tmp_path: Path) -> str:
    return str(write_rows(tmp_path / "notes.jsonl", make_rows(3, 80)))


def test_a_record_is_put_into_force_and_what_to_expect_is_shown(run: Run, file: str, tmp_path: Path) -> None:
    ended = run("calibrate", file)
    assert ended.code == 0
    assert "without house-1" in ended.out
    assert "all of these" in ended.out
    assert load_calibration(current_path(tmp_path / "data").read_bytes()).is_own


def test_as_json_counts_and_intervals_are_whole(run: Run, file: str, tmp_path: Path) -> None:
    document = json.loads(run("calibrate", file, "--json", "--candidates-max", "3").out)
    assert document["is_installed"]
    assert (document["turns"], document["positives"], document["candidates_max"]) == (240, 96, 3)
    assert document["held_out_silence"]["n"] == 144
    assert document["path"] == str(current_path(tmp_path / "data"))


def test_a_record_that_is_written_elsewhere_is_not_in_force(run: Run, file: str, tmp_path: Path) -> None:
    out = tmp_path / "record.json"
    assert run("calibrate", file, "--out", str(out)).code == 0
    assert load_calibration(out.read_bytes()).is_own
    assert not current_path(tmp_path / "data").exists()


def test_rolling_back_says_what_is_in_force_then(run: Run, file: str, tmp_path: Path) -> None:
    run("calibrate", file)
    first = load_calibration(current_path(tmp_path / "data").read_bytes()).id
    document = json.loads(run("calibrate", "--rollback", "--json").out)
    assert document == {"removed_id": first, "current_id": ""}
    again = run("calibrate", "--rollback")
    assert again.code == 1
    assert "the shipped calibration is in force" in again.err


def test_too_little_data_ends_with_1_says_the_counts_and_is_remembered(run: Run, file: str, tmp_path: Path) -> None:
    run("calibrate", file)
    before = current_path(tmp_path / "data").read_bytes()
    few = str(write_rows(tmp_path / "few.jsonl", make_rows(3, 10)))
    ended = run("calibrate", few, "--json")
    assert ended.code == 1
    error = json.loads(ended.out)["error"]
    assert error["code"] == "insufficient_data"
    assert "turns 30 of 200" in error["message"]
    assert current_path(tmp_path / "data").read_bytes() == before
    refusal = last_refusal(tmp_path / "data")
    assert refusal is not None
    assert "turns 30 of 200" in refusal.reason


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "at least one FILE"),
        (("notes.jsonl", "--rollback"), "takes no FILE"),
        (("notes.jsonl", "--target", "95"), "target_retention"),
        (("notes.jsonl", "--candidates-max", "0"), "candidates_max"),
        (("notes.jsonl", "--plot", "a.pdf"), "neither .svg nor .png"),
        (("notes.jsonl", "--out", "nowhere/record.json"), "--out: nowhere is no directory"),
        (("--rollback", "--builtin"), "takes no FILE"),
    ],
)
def test_what_cannot_be_meant_is_refused(run: Run, arguments: tuple[str, ...], said: str) -> None:
    ended = run("calibrate", *arguments)
    assert ended.code == 64
    assert said in ended.err


def test_a_line_that_is_no_row_is_refused(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "bad.jsonl"
    path.write_text("{}\n")
    ended = run("calibrate", str(path))
    assert ended.code == 64
    assert "line 1" in ended.err


def test_a_terminal_shows_how_far_it_is_and_a_file_does_not() -> None:
    for is_terminal in (True, False):
        shown = io.StringIO()
        console = Console(file=shown, force_terminal=is_terminal, width=100)
        with stage_bars(is_silent=False, console=console) as on_progress:
            on_progress(CalibrationStage.SCORING, 7, 10)
        assert ("7/10" in shown.getvalue()) is is_terminal


def test_what_to_expect_elsewhere_is_said_and_drawn(run: Run, file: str, tmp_path: Path) -> None:
    ended = run("calibrate", file, "--candidates-max", "3", "--plot", str(tmp_path / "expected.svg"))
    assert ended.code == 0
    assert "conversation" in ended.out.splitlines()[-3]
    assert b"without house-1" in (tmp_path / "expected.svg").read_bytes()


def test_a_row_without_candidates_is_named_with_its_line(run: Run, tmp_path: Path) -> None:
    rows = make_rows(1, 2)
    rows[1] = msgspec.structs.replace(rows[1], memories=(), store="nowhere")
    path = write_rows(tmp_path / "notes.jsonl", rows)
    ended = run("calibrate", str(path))
    assert ended.code == 64
    assert f"{path}, line 2: row 0-1: it has no `memories`" in ended.err


def test_a_fit_on_the_sources_of_the_package_is_not_ones_own(
    run: Run, file: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    row = make_rows(1, 1)[0]
    source = BuiltinSource(name="written", records=row.memories, turns=(row,), content=b"rows")
    monkeypatch.setattr(run_module, "builtin_sources", lambda: [source])
    assert run("calibrate", file, "--builtin", "--candidates-max", "3").code == 0
    record = load_calibration(current_path(tmp_path / "data").read_bytes())
    assert (record.is_own, record.n, record.corpus_id) == (False, 241, "notes.jsonl+written")
    assert record.id.startswith("package-")
