"""`recalld eval` needs no daemon; what programs read has a schema of its own here."""

from __future__ import annotations

import io
import json
from pathlib import Path

import jsonschema
import pytest
from labelled_rows import make_rows, telling_models, write_rows
from rich.console import Console
from stand_in_daemon import Run

from recalld.daemon.cli.commands import eval as eval_command
from recalld.daemon.cli.commands.eval import rows_bar
from recalld.models.lab.arms import ArmName


def _object(**properties: object) -> dict[str, object]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


NUMBER = {"type": "number"}
COUNT = {"type": "integer", "minimum": 0}
PART = {"type": "number", "minimum": 0, "maximum": 1}
TEXT = {"type": "string"}
SHARE = _object(k=COUNT, n=COUNT, rate=PART)
RATE = _object(k=COUNT, n=COUNT, rate=PART, low=PART, high=PART)
CANDIDATES = _object(k=COUNT, n=COUNT)
ARM = _object(
    silence=RATE,
    retention=RATE,
    memory_retention=RATE,
    mean_injected=NUMBER,
    precision=PART,
    f05=PART,
    by_kind={"type": "object", "additionalProperties": SHARE},
    pairs_scored=COUNT,
    ms_p50=NUMBER,
    ms_p95=NUMBER,
    candidates=CANDIDATES,
)
BREAKDOWN = _object(
    served=RATE,
    precision=RATE,
    mean_injected_nothing_relevant=NUMBER,
    by_memory_kind={"type": "object", "additionalProperties": SHARE},
    by_source={"type": "object", "additionalProperties": _object(silence=RATE, retention=RATE)},
)
SET = _object(
    arms={"type": "object", "additionalProperties": ARM},
    candidates=CANDIDATES,
    rows=_object(total=COUNT, disputed=COUNT, answerable=COUNT, nothing_relevant=COUNT),
    detectable=_object(silence=PART, retention=PART),
    control=_object(arm=TEXT, rows=COUNT, differences=COUNT),
    breakdown={"type": "object", "additionalProperties": BREAKDOWN},
)
CALIBRATION = _object(
    id=TEXT,
    is_own={"type": "boolean"},
    date=TEXT,
    corpus_id=TEXT,
    n=COUNT,
    positives=COUNT,
    target_retention=PART,
    threshold=PART,
    mismatches={"type": "array", "items": TEXT},
)
REPORT = _object(sets={"type": "object", "additionalProperties": SET}, calibration=CALIBRATION)


@pytest.fixture(autouse=True)
def models(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(eval_command, "load_pair_models", lambda _settings: telling_models())


@pytest.fixture
def file(tmp_path: Path) -> str:
    return str(write_rows(tmp_path / "notes.jsonl", make_rows(2, 10)))


def test_as_json_everything_is_there_and_nothing_else(run: Run, file: str) -> None:
    document = json.loads(run("eval", file, "--json").out)
    jsonschema.validate(document, REPORT)
    assert set(document["sets"]) == {"notes"}
    assert set(document["sets"]["notes"]["arms"]) == {name.value for name in ArmName}
    assert document["sets"]["notes"]["control"] == {"arm": "gate", "rows": 20, "differences": 0}
    assert document["calibration"]["id"].startswith("shipped-")


def test_people_get_counts_intervals_kinds_and_the_calibration(run: Run, file: str) -> None:
    ended = run("eval", file, "--arms", "floor_only, gate")
    assert ended.code == 0
    assert "8 answerable rows, 12 with nothing relevant" in ended.out
    assert "0 of 20 rows differ" in ended.out
    assert "by kind of turn" in ended.out
    assert "made_up/silence" in ended.out
    assert "data that is not yours" in ended.out
    assert "three_views" not in ended.out


def test_gates_are_told_apart_where_that_is_asked_for(run: Run, file: str) -> None:
    ended = run("eval", file, "--arms", "gate", "--compound")
    lines = [" ".join(line.split()) for line in ended.out.splitlines()]
    assert any(line.startswith("all gates together 8/8 = 1.000") for line in lines)
    assert any(line.startswith("product of the parts") for line in lines)
    document = json.loads(run("eval", file, "--arms", "gate", "--compound", "--json").out)
    compound = document["sets"]["notes"]["compound"]
    assert {"search", "turn", "floor", "relevance", "pack", "joint", "product", "injected"} == set(compound)


def test_the_plot_is_drawn_where_it_was_asked_for(run: Run, file: str, tmp_path: Path) -> None:
    path = tmp_path / "trade.svg"
    assert run("eval", file, "--arms", "gate,floor_only", "--plot", str(path)).code == 0
    assert b"retention when something is" in path.read_bytes()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "at least one FILE"),
        (("notes.jsonl", "--arms", "gate,best"), "'best' is no arm; give some of floor_only"),
        (("notes.jsonl", "--arms", " , "), "no arm"),
        (("notes.jsonl", "--plot", "a.pdf"), "neither .svg nor .png"),
    ],
)
def test_what_cannot_be_meant_is_refused(run: Run, arguments: tuple[str, ...], said: str) -> None:
    ended = run("eval", *arguments)
    assert ended.code == 64
    assert said in ended.err


def test_a_line_that_is_no_row_is_named_in_one_line(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "bad.jsonl"
    path.write_text('{"id": "a"}\n')
    ended = run("eval", str(path))
    assert ended.code == 64
    assert ended.err.count("\n") == 1
    assert f"{path}, line 1: " in ended.err
    error = json.loads(run("eval", str(path), "--json").out)["error"]
    assert error["code"] == "usage"


def test_a_file_that_is_not_there_is_named(run: Run, tmp_path: Path) -> None:
    ended = run("eval", str(tmp_path / "missing.jsonl"))
    assert ended.code == 1
    assert "missing.jsonl" in ended.err


def test_ctrl_c_ends_it_as_shells_expect(run: Run, file: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_arguments: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(eval_command, "evaluate", interrupted)
    assert run("eval", file).code == 130


def test_a_terminal_shows_how_far_it_is_and_a_file_does_not() -> None:
    for is_terminal in (True, False):
        shown = io.StringIO()
        console = Console(file=shown, force_terminal=is_terminal, width=100)
        with rows_bar(is_silent=False, console=console) as on_progress:
            on_progress("notes", 7, 10)
        assert ("7/10" in shown.getvalue()) is is_terminal
