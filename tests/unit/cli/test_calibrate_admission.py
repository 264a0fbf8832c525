"""`recalld calibrate --admission` needs no daemon, and writes nothing but what --out names."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace

import msgspec
import pytest
from judged_rows import embed, make_rows
from stand_in_daemon import Run

from recalld.daemon.cli.commands import calibrate_admission
from recalld.daemon.exit_codes import ExitCode
from recalld.models.calibration.admission_record import load_admission_record


@pytest.fixture(autouse=True)
def models(monkeypatch: pytest.MonkeyPatch) -> None:
    words = SimpleNamespace(embed=lambda text, is_query: embed(text))  # noqa: ARG005 - the real one's signature
    monkeypatch.setattr(calibrate_admission, "load_bi_encoder", lambda _dir, _id: words)


@pytest.fixture
def file(tmp_path: Path) -> str:
    path = tmp_path / "turns.jsonl"
    path.write_bytes(b"".join(msgspec.json.encode(row) + b"\n" for row in make_rows()))
    return str(path)


def test_what_to_expect_is_shown_for_every_style_and_the_record_written(run: Run, file: str, tmp_path: Path) -> None:
    out = tmp_path / "judge.json"
    ended = run("calibrate", "--admission", file, "--out", str(out), "--date", "2026-11-30")
    assert ended.code == 0
    assert all(
        word in ended.out for word in ("own-judge-2026-11-30", "0 disputed", "dry", "chatty", "balanced", "strict")
    )
    assert load_admission_record(out.read_bytes()).id == "own-judge-2026-11-30"


def test_without_out_nothing_is_written(run: Run, file: str) -> None:
    ended = run("calibrate", "--admission", file)
    assert ended.code == 0
    assert "Not written" in ended.out


def test_as_json_counts_are_whole(run: Run, file: str) -> None:
    document = json.loads(run("calibrate", "--admission", file, "--json").out)
    assert (document["turns"], document["positives"], document["disputed"], document["path"]) == (32, 16, 0, "")
    assert [each["style"] for each in document["balanced"]] == ["all", "chatty", "dry"]


def test_a_bad_line_is_named(run: Run, file: str) -> None:
    with Path(file).open("ab") as added:
        added.write(b"{}\n")
    ended = run("calibrate", "--admission", file)
    assert ended.code == ExitCode.USAGE
    assert "turns.jsonl:33" in ended.err


def test_too_little_data_is_said(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "few.jsonl"
    path.write_bytes(msgspec.json.encode(make_rows()[0]))
    ended = run("calibrate", "--admission", str(path))
    assert ended.code == 1
    assert "two styles" in ended.err


@pytest.mark.parametrize(
    "words", [("--admission", "--rollback"), ("--date", "2026-11-30"), ("--admission", "gone.jsonl")]
)
def test_what_does_not_go_together_or_is_not_there_is_refused(run: Run, words: tuple[str, ...]) -> None:
    assert run("calibrate", *words).code == ExitCode.USAGE
