from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from labelled_rows import make_rows, telling_models, write_rows

from recalld.daemon.calibrating import shipped_calibration
from recalld.daemon.own_calibration.labelling import Record, gate, label, memory_of, moment_ms
from recalld.daemon.own_calibration.rows import (
    DAY_MS,
    RecallRow,
    RowError,
    StoredRecord,
    by_store,
    conversation_of,
    now_of,
    present_of,
    read_rows,
    records_of,
)
from recalld.daemon.own_calibration.run import Calibrated, CalibrationInput, CalibrationStage, calibrate
from recalld.models.calibration.fit_own import InsufficientDataError, OwnFitOptions, first_candidates
from recalld.models.calibration.labelled import passes
from recalld.models.calibration.record import CalibrationKeys
from recalld.models.policy.gate_verdict import judge

FLOORS = shipped_calibration().floors


def given_of(*files: Path) -> CalibrationInput:
    return CalibrationInput(
        files=files,
        keys=CalibrationKeys(model_key="m", embedder_key="e", pair_template="t"),
        floors=FLOORS,
        date="2026-11-30",
        options=OwnFitOptions(),
    )


def silent(_stage: CalibrationStage, _done: int, _total: int) -> None:
    """Nobody looks."""


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    rows = make_rows()
    disputed = msgspec.structs.replace(rows[0], id="disputed", disputed=True)
    return write_rows(tmp_path_factory.mktemp("rows") / "notes.jsonl", [*rows, disputed])


@pytest.fixture(scope="module")
def made(file: Path) -> Calibrated:
    return calibrate(given_of(file), telling_models(), silent)


def test_a_file_becomes_a_record_that_separates_and_says_what_it_was_made_of(made: Calibrated, file: Path) -> None:
    record = made.record
    assert (record.n, record.positives, made.disputed) == (240, 96, 1)
    assert record.retention.value >= 0.9
    assert record.silence.value >= 0.9
    assert record.is_own
    assert record.corpus_id == file.name
    assert record.id == f"own-2026-11-30-{record.corpus_sha256[:8]}"
    assert [each.source for each in record.held_out] == [f"house-{number}" for number in range(4)]


def test_the_same_file_gives_the_same_record(made: Calibrated, file: Path) -> None:
    assert calibrate(given_of(file), telling_models(), silent) == made


def test_the_gate_with_the_record_decides_as_its_fit_did(made: Calibrated) -> None:
    models, model = telling_models(), made.record.relevance_model()
    assert model.candidates_max is not None
    for row in make_rows(2, 20, seed=11):
        memories = [memory_of(record) for record in row.memories]
        nominated = models.nominate(row, memories, FLOORS, source="s", conversation="c", now_ms=moment_ms("2026-11-30"))
        gated = gate(models, nominated, model)
        (cut,) = first_candidates([label(models, nominated, None)], model.candidates_max)
        scored = [each for each in gated.candidates if each.evidence.logit is not None]
        assert len(scored) <= model.candidates_max
        by_fit = {each.memory_id for each in cut.candidates if passes(each, model)}
        without_margin = msgspec.structs.replace(model, margin=None)
        assert {item.memory.id for item in judge(gated.candidates, model=without_margin).passed} == by_fit


def test_too_little_is_refused_before_anything_is_scored(tmp_path: Path) -> None:
    stages: list[CalibrationStage] = []
    with pytest.raises(InsufficientDataError, match="turns 40 of 200"):
        calibrate(
            given_of(write_rows(tmp_path / "few.jsonl", make_rows(4, 10))),
            telling_models(),
            lambda stage, _done, _total: stages.append(stage),
        )
    assert set(stages) == {CalibrationStage.READING}


def test_a_record_of_the_time_asked_for_fits_and_is_scored_without_the_time() -> None:
    scored: list[str] = []
    models = telling_models()
    tell = models.score
    models.score = lambda query, text: scored.append(query) or tell(query, text)  # type: ignore[assignment,func-returns-value]
    row = RecallRow(
        id="q",
        user="ines",
        query="What bread did I bake in March 2026?",
        query_kind="made_up",
        relevant=("a",),
        nothing_relevant=False,
        memories=(
            Record(id="a", text="The user keeps bread", ts="2026-03-03T10:00:00Z"),
            Record(id="b", text="The user keeps boats", ts="2026-05-03T10:00:00Z"),
        ),
    )
    memories = [memory_of(record) for record in row.memories]
    turn = models.nominate(row, memories, FLOORS, source="", conversation="", now_ms=moment_ms("2026-11-30"))
    assert [each.evidence.is_in_interval for each in turn.candidates] == [True, False]
    models.scored(turn, turn.candidates[0])
    assert not any("March" in query for query in scored)
    models.scored(turn, turn.candidates[1])
    assert any("March" in query for query in scored)
    untold = models.nominate(row, memories, FLOORS, source="", conversation="")
    assert [each.evidence.is_in_interval for each in untold.candidates] == [None, None]


def test_a_line_that_is_no_row_is_named_with_its_file_and_field(tmp_path: Path) -> None:
    path = tmp_path / "bad.jsonl"
    path.write_text('\n{"id": "a", "query": 1}\n')
    with pytest.raises(RowError, match=r"bad\.jsonl, line 2: .*query"):
        read_rows(path, RecallRow)


def test_rows_name_their_conversation_their_records_and_their_time() -> None:
    (row,) = make_rows(1, 1)
    assert conversation_of(row) == "house-0"
    assert conversation_of(msgspec.structs.replace(row, conversation="kitchen")) == "kitchen"
    stores = by_store([StoredRecord(store="shed", id="s1", text="a"), StoredRecord(store="shed", id="s2", text="b")])
    stored = msgspec.structs.replace(row, memories=(), store="shed", exclude=("s2",))
    assert conversation_of(stored) == "shed"
    assert [each.id for each in records_of(stored, stores)] == ["s1"]
    with pytest.raises(RowError, match="names no store"):
        records_of(msgspec.structs.replace(stored, store="attic"), stores)
    newest = moment_ms("2026-08-03T10:00:00Z")
    assert newest is not None
    present = present_of([row], {})
    assert now_of(row, present) == newest + DAY_MS
    assert now_of(msgspec.structs.replace(row, now="2026-11-30T00:00:00+02:00"), present) == moment_ms(
        "2026-11-29T22:00Z"
    )
    assert now_of(stored, present_of([stored], stores)) is None
    with pytest.raises(RowError, match="now: "):
        now_of(msgspec.structs.replace(row, now="soon"), present)
