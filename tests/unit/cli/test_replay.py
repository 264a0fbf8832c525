"""`recalld replay` needs no daemon; what programs read has a schema of its own here."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace

import jsonschema
import numpy as np
import pytest
from stand_in_daemon import Run

from recalld.daemon.cli.commands import replay as replay_command
from recalld.daemon.evaluation.replay_gates import GateName
from recalld.daemon.evaluation.replay_sources import DRAWN_PER_STYLE, ReplaySource, sources_of
from recalld.models.domain.admission import Speaker
from recalld.models.lab.replay_rows import ReplayRow, RowTurn


def _object(**properties: object) -> dict[str, object]:
    return {"type": "object", "properties": properties, "required": list(properties)}


NUMBER = {"type": "number", "minimum": 0}
COUNT = {"type": "integer", "minimum": 0}
PART = {"type": "number", "minimum": 0, "maximum": 1}
TEXT = {"type": "string"}
RATE = _object(k=COUNT, n=COUNT, rate=PART, low=PART, high=PART)
GATE = _object(
    turns=COUNT,
    writes=COUNT,
    write_rate=NUMBER,
    precision=RATE,
    recall=RATE,
    wrong_per_1000=NUMBER,
    ms_p50=NUMBER,
    ms_p95=NUMBER,
)
WRONG = _object(row=TEXT, turn=COUNT, statement=TEXT, rule=TEXT)
REPORT = _object(
    gates={"type": "object", "additionalProperties": GATE},
    wrong={"type": "array", "items": WRONG},
    sets={"type": "object", "additionalProperties": _object(gates={"type": "object", "additionalProperties": GATE})},
    excluded=_object(rows_disputed=COUNT, facts_of_others=COUNT, facts_elsewhere=COUNT, facts_ending=COUNT),
    identity=_object(arm=TEXT, rows=COUNT, differences=COUNT),
    minimum_detectable=_object(precision=PART, recall=PART),
    judge=_object(id=TEXT, sha256={"type": "string", "minLength": 64}),
)
ROWS = [
    {
        "id": "a",
        "turns": [
            {"role": "user", "text": "I work at Acme."},
            {"role": "assistant", "text": "Noted."},
            {"role": "user", "text": "I live in Graz. My cat is called Tofu."},
        ],
        "facts": [{"turn": 0, "statement": "The user works at Acme.", "quote": "I work at Acme"}],
    },
    {"id": "b", "turns": [{"role": "user", "text": "Which train goes to Linz?"}], "reason": "a question"},
]


@pytest.fixture(autouse=True)
def models(monkeypatch: pytest.MonkeyPatch) -> None:
    flat = np.full(384, 384**-0.5, dtype=np.float32)
    words = SimpleNamespace(embed=lambda text, is_query: flat)  # noqa: ARG005 - the real one's signature
    monkeypatch.setattr(replay_command, "load_bi_encoder", lambda _dir, _id: words)


@pytest.fixture
def file(tmp_path: Path) -> str:
    path = tmp_path / "talks.jsonl"
    path.write_text("".join(f"{json.dumps(row)}\n" for row in ROWS))
    return str(path)


def test_as_json_every_gate_and_every_wrong_record_is_there(run: Run, file: str) -> None:
    document = json.loads(run("replay", file, "--json", "--wrong", "0").out)
    jsonschema.validate(document, REPORT)
    assert set(document["gates"]) == {name.value for name in GateName}
    stack = document["gates"]["stack"]
    assert (stack["turns"], stack["recall"]["k"], stack["recall"]["n"]) == (3, 1, 1)
    assert stack["writes"] == stack["precision"]["n"]
    assert len(document["wrong"]) == stack["precision"]["n"] - stack["precision"]["k"] > 0
    assert document["identity"] == {"arm": "stack", "rows": 3, "differences": 0}
    assert (document["position"], document["pooled"]) == ("strict", ["talks"])


def test_people_get_tables_of_a_hundred_columns_and_the_wrong_records(run: Run, file: str) -> None:
    ended = run("replay", file, "--all-wrong", "--position", "balanced")
    assert ended.code == 0
    assert "talks: 2 conversations, 3 turns of users; 1 state 1 facts" in ended.out
    assert "Smallest difference that can be told from chance" in ended.out
    assert "0 of 3 turns differ" in ended.out
    assert "Wrong records of `stack`" in ended.out
    assert "talks a, turn 2, rule:" in ended.out
    assert "`stack` stands at position balanced" in ended.out
    assert max(map(len, ended.out.splitlines())) <= 100


def test_only_as_many_wrong_records_as_asked_for_are_shown(run: Run, file: str) -> None:
    ended = run("replay", file, "--wrong", "0")
    assert "talks a, turn 2" not in ended.out
    assert "more: --all-wrong shows them" in ended.out


def test_the_conversations_of_the_package_need_no_file(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def few(_taken: set[str], *, drawn_max: int | None) -> list[ReplaySource]:
        assert drawn_max == DRAWN_PER_STYLE
        return sources_of([ReplayRow(id="c", turns=(RowTurn(role=Speaker.USER, text="Hello."),))], "conversations")

    monkeypatch.setattr(replay_command, "builtin_sources", few)
    ended = run("replay", "--builtin")
    assert ended.code == 0
    assert "conversations: 1 conversations" in ended.out
    assert "No wrong record" in ended.out


def test_the_plot_is_drawn_where_it_was_asked_for(run: Run, file: str, tmp_path: Path) -> None:
    path = tmp_path / "replay.svg"
    assert run("replay", file, "--plot", str(path)).code == 0
    assert b"precision of records" in path.read_bytes()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "at least one FILE"),
        (("talks.jsonl", "--leave-one-out"), "give --builtin with it"),
        (("talks.jsonl", "--position", "loose"), "'loose' is no position; give one of strict, balanced, open"),
        (("talks.jsonl", "--wrong", "-1"), "--wrong"),
        (("talks.jsonl", "--plot", "a.pdf"), "neither .svg nor .png"),
    ],
)
def test_what_cannot_be_meant_is_refused(run: Run, arguments: tuple[str, ...], said: str) -> None:
    ended = run("replay", *arguments)
    assert ended.code == 64
    assert said in ended.err


def test_a_line_that_is_no_conversation_is_named_in_one_line(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "bad.jsonl"
    path.write_text('{"id": "a"}\n')
    ended = run("replay", str(path))
    assert ended.code == 64
    assert ended.err.count("\n") == 1
    assert f"{path}, line 1: " in ended.err
    assert json.loads(run("replay", str(path), "--json").out)["error"]["code"] == "usage"


@pytest.mark.parametrize("name", ["missing.jsonl", "."])
def test_a_file_that_is_not_there_or_is_none_is_named(run: Run, tmp_path: Path, name: str) -> None:
    ended = run("replay", str(tmp_path / name))
    assert ended.code == 1
    assert str(tmp_path) in ended.err
