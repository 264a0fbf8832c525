"""`recalld drill` needs no daemon; its exit code is its verdict."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from labelled_rows import make_rows, telling_models, write_rows
from stand_in_daemon import Run

from recalld.daemon.cli.commands import drill as drill_command
from recalld.models.lab.drill_report import DrillReport, DrillSet


@pytest.fixture(autouse=True)
def models(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(drill_command, "load_pair_models", lambda _settings: telling_models())


@pytest.fixture
def file(tmp_path: Path) -> str:
    return str(write_rows(tmp_path / "notes.jsonl", make_rows(2, 10)))


def test_where_something_is_lost_the_code_is_0_and_the_sentence_says_so(run: Run, file: str) -> None:
    ended = run("drill", file)
    assert ended.code == 0
    assert "8 answerable rows" in ended.out
    assert "Smallest loss that can be told from chance" in ended.out
    assert "0 of 20 rows differ" in ended.out
    assert "recall earns its place here" in ended.out
    assert "data that is not yours" in ended.out


def test_where_nothing_is_lost_the_code_is_1(run: Run, file: str, tmp_path: Path) -> None:
    (tmp_path / "recalld.toml").write_text("[recall]\nthreshold = 0.9999999\n")
    ended = run("drill", file)
    assert ended.code == 1
    assert "does not earn its place" in ended.out


def test_as_json_every_figure_is_there_and_the_same_each_time(run: Run, file: str) -> None:
    first, again = (json.loads(run("drill", file, "--json").out) for _ in range(2))
    assert set(first) == set(DrillReport.__struct_fields__)
    assert set(first["sets"]["notes"]) == set(DrillSet.__struct_fields__)
    for document in (first, again):
        del document["sets"]["notes"]["cost"]  # has times
    assert first == again
    notes = first["sets"]["notes"]
    assert set(notes["arms"]) == {"shipped", "forced_shut", "forced_open"}
    assert notes["against_shipped"]["forced_shut"]["retention"]["lost"] == 8


def test_the_picture_is_drawn_where_it_was_asked_for(run: Run, file: str, tmp_path: Path) -> None:
    assert run("drill", file, "--plot", str(tmp_path / "drill.svg")).code == 0
    assert b"forced_shut" in (tmp_path / "drill.svg").read_bytes()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "at least one FILE"),
        (("notes.jsonl", "--plot", "a.pdf"), "neither .svg nor .png"),
        (("notes.jsonl", "--plot", "nowhere/a.svg"), "is no directory"),
    ],
)
def test_what_cannot_be_meant_is_refused(run: Run, arguments: tuple[str, ...], said: str) -> None:
    ended = run("drill", *arguments)
    assert ended.code == 64
    assert said in ended.err


def test_a_line_that_is_no_row_is_named(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "bad.jsonl"
    path.write_text('{"id": "a"}\n')
    ended = run("drill", str(path))
    assert ended.code == 64
    assert f"{path}, line 1: " in ended.err
