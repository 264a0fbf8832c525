"""A drill forces the product's own gates, with models that tell topics apart."""

from __future__ import annotations

import random
from pathlib import Path

import msgspec
import pytest
from labelled_rows import make_rows, telling_models, write_rows

from recalld.actors.recall import GateCalibration, RecallLimits, TurnGateOptions
from recalld.daemon.evaluation.bench import BenchSettings
from recalld.daemon.evaluation.drill import Drilled, drill
from recalld.daemon.evaluation.drill_plot import draw_drill
from recalld.daemon.evaluation.meter import Meter
from recalld.daemon.evaluation.sets import EvalSet, read_sets
from recalld.daemon.own_calibration.labelling import PairModels
from recalld.models.domain.shadow import GateMode
from recalld.models.lab.drill_report import DrillVerdict
from recalld.models.policy.floor import FloorValues
from recalld.models.policy.relevance import uncalibrated

SETTINGS = BenchSettings(
    calibration=GateCalibration(floors=FloorValues(record=0.01, cue=0.01, ask=0.01), model=uncalibrated(0.5)),
    limits=RecallLimits(
        gate_ms=60,
        max_items=5,
        max_chars=8_000,
        degraded_max_items=3,
        candidates_max=8,
        lexical_limit=20,
        vector_limit=50,
        is_gate_on=True,
        lanes=2,
        reserve_ms=15,
    ),
    turn_gate=TurnGateOptions(),
    embedder_key="test",
)


@pytest.fixture(scope="module")
def sets(tmp_path_factory: pytest.TempPathFactory) -> list[EvalSet]:
    rows = make_rows(1, 30)
    smalltalk = msgspec.structs.replace(rows[4], id="thanks", query="Thanks!")
    return read_sets([write_rows(tmp_path_factory.mktemp("drill") / "notes.jsonl", [*rows, smalltalk])], [])


def run(sets: list[EvalSet], settings: BenchSettings = SETTINGS, models: PairModels | None = None) -> Drilled:
    told: list[int] = []
    (drilled,) = drill(
        settings,
        sets,
        Meter(models or telling_models()),
        random.Random(1),
        lambda _name, done, _total: told.append(done),
    )
    assert told == list(range(1, 32))
    return drilled


@pytest.fixture(scope="module")
def drilled(sets: list[EvalSet]) -> Drilled:
    return run(sets)


def test_shut_gates_hand_over_nothing_and_open_ones_always_something(drilled: Drilled) -> None:
    assert all(row.shut == () for row in drilled.rows)
    assert all(row.opened for row in drilled.rows)
    assert drilled.report.verdict is DrillVerdict.EARNS_ITS_PLACE
    assert drilled.report.control.differences == 0
    assert drilled.report.random_skip.p_value < 0.05


def test_a_turn_that_is_skipped_says_why_and_is_searched_where_the_gates_are_forced_open(drilled: Drilled) -> None:
    thanks = drilled.rows[-1]
    assert (thanks.skip_reason, thanks.shipped, thanks.pairs_scored) == ("acknowledgement", (), 0)
    assert thanks.opened


def test_a_gate_that_rejects_everything_does_not_earn_its_place(sets: list[EvalSet]) -> None:
    told_nothing = telling_models()
    rejecting = PairModels(told_nothing.embed, told_nothing.embed_query, lambda _query, _text: -11.0)
    report = run(sets, models=rejecting).report
    assert report.verdict is DrillVerdict.DOES_NOT_EARN_ITS_PLACE
    assert report.candidates.k == 12


def test_the_mode_that_is_configured_changes_nothing(sets: list[EvalSet], drilled: Drilled) -> None:
    silent = msgspec.structs.replace(
        SETTINGS, limits=msgspec.structs.replace(SETTINGS.limits, mode=GateMode.SHADOW_SILENT)
    )
    assert [row.shipped for row in run(sets, silent).rows] == [row.shipped for row in drilled.rows]


def test_the_picture_has_every_arm_and_the_verdict(drilled: Drilled, tmp_path: Path) -> None:
    report = drilled.report
    draw_drill({"notes": report, "more": report}, tmp_path / "a.svg")
    drawn = (tmp_path / "a.svg").read_text()
    assert all(name in drawn for name in ("forced_shut", "forced_open", "random_skip", "earns_its_place"))
    draw_drill({"notes": report}, tmp_path / "a.png")
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")
