"""The product's own recall on rows of a known structure, with models that tell their topics apart."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import ClassVar

import msgspec
import pytest
from labelled_rows import TOPICS, make_rows, telling_models, write_rows

from recalld.actors.embedder import EmbedderModelsChanged
from recalld.actors.recall import GateCalibration, RecallLimits, TurnGateOptions
from recalld.actors.scorer import ScorerModelsChanged
from recalld.daemon.evaluation.bench import BenchSettings
from recalld.daemon.evaluation.direct import embedder_of, scorer_of
from recalld.daemon.evaluation.meter import Meter
from recalld.daemon.evaluation.run import EvalInput, Evaluated, evaluate
from recalld.daemon.evaluation.sets import EvalSet, read_sets
from recalld.daemon.own_calibration.labelling import PairModels
from recalld.daemon.own_calibration.rows import StoredRecord
from recalld.models.domain.errors import InvariantError
from recalld.models.lab.arms import ArmName
from recalld.models.lab.comparators import shipped_comparators
from recalld.models.policy.floor import FloorValues
from recalld.models.policy.relevance import uncalibrated

LIMITS = RecallLimits(
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
)
CALIBRATION = GateCalibration(floors=FloorValues(record=0.01, cue=0.01, ask=0.01), model=uncalibrated(0.5))
"""A floor that everything passes, so that the gate has something to do."""


def given_of(*arms: ArmName, limits: RecallLimits = LIMITS) -> EvalInput:
    return EvalInput(
        arms=arms or tuple(ArmName),
        bench=BenchSettings(calibration=CALIBRATION, limits=limits, turn_gate=TurnGateOptions(), embedder_key="test"),
        comparators=shipped_comparators(),
    )


def silent(_name: str, _done: int, _total: int) -> None:
    """Nobody looks."""


def run(sets: list[EvalSet], given: EvalInput, models: PairModels | None = None) -> Evaluated:
    (evaluated,) = evaluate(given, sets, Meter(models or telling_models()), silent)
    return evaluated


@pytest.fixture(scope="module")
def sets(tmp_path_factory: pytest.TempPathFactory) -> list[EvalSet]:
    return read_sets([write_rows(tmp_path_factory.mktemp("rows") / "notes.jsonl", make_rows(2, 15))], [])


@pytest.fixture(scope="module")
def evaluated(sets: list[EvalSet]) -> Evaluated:
    return run(sets, given_of())


def test_every_arm_judges_every_row(evaluated: Evaluated) -> None:
    assert {name.value for name in ArmName} == set(evaluated.report.arms)
    assert all(len(rows) == 30 for rows in evaluated.results.values())
    assert evaluated.report.rows.answerable == 12
    assert all(arm.silence.n == 18 and arm.candidates.n == 12 for arm in evaluated.report.arms.values())


def test_the_gate_separates_what_the_floor_alone_does_not(evaluated: Evaluated) -> None:
    gate, floor = evaluated.report.arms["gate"], evaluated.report.arms["floor_only"]
    assert (gate.silence.rate, gate.retention.rate) == (1.0, 1.0)
    assert gate.precision == 1.0
    assert floor.pairs_scored == 0
    assert floor.silence.rate == 0.0


def test_the_same_arm_twice_differs_nowhere(sets: list[EvalSet], evaluated: Evaluated) -> None:
    assert evaluated.report.control.arm == "gate"
    assert (evaluated.report.control.rows, evaluated.report.control.differences) == (30, 0)
    again = run(sets, given_of())
    for name, rows in again.results.items():
        assert [(row.label, row.judged, row.pairs_scored) for row in rows] == [
            (row.label, row.judged, row.pairs_scored) for row in evaluated.results[name]
        ]


def test_a_model_that_changes_its_mind_shows_in_the_control(sets: list[EvalSet]) -> None:
    class Fickle(Meter):
        calls: ClassVar[Counter[tuple[str, str]]] = Counter()

        def score(self, query: str, text: str) -> float:
            self.calls[query, text] += 1
            return 9.0 if self.calls[query, text] > 2 else -9.0  # the gate reads it first, and then the arm

    (found,) = evaluate(given_of(ArmName.ONE_VIEW), sets, Fickle(telling_models()), silent)
    assert found.report.control.differences > 0


def test_an_arm_is_counted_what_it_asks_for_whether_or_not_another_asked_before(sets: list[EvalSet]) -> None:
    asked: list[tuple[str, str]] = []
    plain = telling_models()

    def score(query: str, text: str) -> float:
        asked.append((query, text))
        return plain.score(query, text)

    models = PairModels(plain.embed, plain.embed_query, score)
    both = run(sets, given_of(ArmName.ONE_VIEW, ArmName.THREE_VIEWS), models)
    alone = run(sets, given_of(ArmName.THREE_VIEWS))
    assert both.report.arms["three_views"].pairs_scored == alone.report.arms["three_views"].pairs_scored
    assert both.report.arms["one_view_0.02"].pairs_scored == 3 * 30
    assert len(asked) == len(set(asked))


def test_the_arms_that_were_asked_for_are_reported_in_that_order(sets: list[EvalSet]) -> None:
    found = run(sets, given_of(ArmName.BEST_ASK, ArmName.FLOOR_ONLY))
    assert list(found.report.arms) == ["best_ask", "floor_only"]
    assert found.report.control.arm == "best_ask"
    assert found.report.candidates == found.report.arms["best_ask"].candidates


def test_a_store_is_searched_by_vectors_and_words_and_not_beyond_its_limits(tmp_path: Path) -> None:
    records = [
        StoredRecord(store="shed", id=f"{topic}-{number}", text=f"The user keeps {topic}, box {number}")
        for topic in TOPICS
        for number in range(12)
    ]
    stores = tmp_path / "stores.jsonl"
    stores.write_bytes(b"".join(msgspec.json.encode(each) + b"\n" for each in records))
    (first, *_), wanted = make_rows(1, 1), "bread-7"
    row = msgspec.structs.replace(
        first, query="What is with my bread in box 7?", memories=(), store="shed", relevant=(wanted,)
    )
    sets = read_sets([write_rows(tmp_path / "notes.jsonl", [row])], [stores])
    wide = run(sets, given_of(ArmName.NO_FLOOR))
    (judged,) = wide.results[ArmName.NO_FLOOR]
    assert wanted in {each.memory_id for each in judged.judged}
    narrow = msgspec.structs.replace(LIMITS, lexical_limit=1, vector_limit=1)
    found = run(sets, given_of(ArmName.NO_FLOOR, limits=narrow))
    assert len(found.results[ArmName.NO_FLOOR][0].judged) < len(judged.judged)


def test_small_talk_costs_nothing_behind_the_turn_gate(tmp_path: Path) -> None:
    (_, _, row) = make_rows(1, 3)
    talk = msgspec.structs.replace(row, query="hello!", relevant=(), nothing_relevant=True)
    sets = read_sets([write_rows(tmp_path / "notes.jsonl", [talk])], [])
    found = run(sets, given_of(ArmName.GATE, ArmName.TURN_GATE))
    assert found.report.arms["gate_and_turn_gate"].pairs_scored == 0
    assert found.report.arms["gate_and_turn_gate"].silence.rate == 1.0


def test_a_recall_asks_the_models_for_nothing_else_than_pairs_and_vectors() -> None:
    meter = Meter(telling_models())
    with pytest.raises(InvariantError, match="no ScorerModelsChanged"):
        scorer_of(meter)(ScorerModelsChanged())
    with pytest.raises(InvariantError, match="no EmbedderModelsChanged"):
        embedder_of(meter, "test")(EmbedderModelsChanged())


def test_a_meter_tells_what_an_arm_would_have_waited_for_alone() -> None:
    ticks = iter(float(number) for number in range(100))
    plain = telling_models()
    meter = Meter(plain, now_s=lambda: next(ticks))
    meter.begin()  # 0
    meter.score("q", "t")  # runs from 1 to 2
    assert meter.elapsed_ms == 3_000.0  # read at 3
    meter.begin()  # 4
    meter.score("q", "t")  # known: counted as the second that it took
    assert meter.elapsed_ms == 2_000.0  # read at 5
    assert meter.pairs == 1
