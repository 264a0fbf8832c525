from __future__ import annotations

import msgspec
import pytest
from own_turns import make_own_turns

from recalld.models.calibration.fit import CalibrationInfo
from recalld.models.calibration.fit_own import InsufficientDataError, OwnFitOptions
from recalld.models.calibration.labelled import LabelledTurn
from recalld.models.calibration.own_record import groups_of, own_record, report_own_held_out
from recalld.models.calibration.record import CalibrationKeys, CalibrationRecord, dump_calibration, load_calibration

INFO = CalibrationInfo(
    id="own-test",
    date="2026-11-30",
    provenance="made up",
    keys=CalibrationKeys(model_key="m", embedder_key="e", pair_template="t"),
    corpus_id="notes.jsonl",
    corpus_sha256="0" * 64,
)
OPTIONS = OwnFitOptions(candidates_max=3)


@pytest.fixture(scope="module")
def turns() -> list[LabelledTurn]:
    return make_own_turns()


@pytest.fixture(scope="module")
def record(turns: list[LabelledTurn]) -> CalibrationRecord:
    return own_record(turns, info=INFO, options=OPTIONS)


def test_a_record_is_ones_own_can_be_stored_and_keeps_what_it_was_fitted_to_judge(record: CalibrationRecord) -> None:
    assert load_calibration(dump_calibration(record)) == record
    assert record.is_own
    assert record.candidates_max == record.relevance_model().candidates_max == 3
    assert record.retention.value >= 0.9


def test_every_conversation_is_left_out_once(record: CalibrationRecord, turns: list[LabelledTurn]) -> None:
    assert [each.source for each in record.held_out] == [f"c{number}" for number in range(5)]
    assert sum(each.silence.n for each in record.held_out) == sum(not turn.is_answerable for turn in turns)
    assert sum(each.retention.n for each in record.held_out) == record.retention.n


def test_what_is_left_out_has_no_say_in_its_own_threshold(turns: list[LabelledTurn]) -> None:
    reports = report_own_held_out(turns, OPTIONS)
    turned = [
        msgspec.structs.replace(turn, candidates=turn.candidates[::-1]) if turn.conversation == "c1" else turn
        for turn in turns
    ]
    others = report_own_held_out(turned, OPTIONS)
    assert [each.threshold for each in reports if each.source == "c1"] == [
        each.threshold for each in others if each.source == "c1"
    ]
    assert [each.threshold for each in reports] != [each.threshold for each in others]


def test_of_several_sources_one_is_left_out_at_a_time() -> None:
    apart = [
        msgspec.structs.replace(turn, conversation=f"{turn.source}-{turn.conversation}")
        for source in ("a", "b", "c")
        for turn in make_own_turns(2, 10, source=source)
    ]
    assert [group.name for group in groups_of(apart)] == ["a", "b", "c"]


def test_a_conversation_that_is_in_two_sources_is_left_out_of_both() -> None:
    shared = [turn for source in ("a", "b", "c") for turn in make_own_turns(4, 5, source=source)]
    groups = groups_of(shared)
    assert [group.name for group in groups] == ["c0", "c1", "c2", "c3"]
    assert {turn.source for turn in groups[0].turns} == {"a", "b", "c"}


def test_of_two_conversations_none_is_left_out_and_the_report_is_empty() -> None:
    assert own_record(make_own_turns(2, 110), info=INFO, options=OPTIONS).held_out == ()


def test_too_little_gives_no_record() -> None:
    with pytest.raises(InsufficientDataError):
        own_record(make_own_turns(3, 20), info=INFO, options=OPTIONS)


def test_progress_is_told_after_each_group(turns: list[LabelledTurn]) -> None:
    seen: list[tuple[int, int]] = []
    report_own_held_out(turns, OPTIONS, on_progress=lambda done, total: seen.append((done, total)))
    assert seen == [(place, 5) for place in range(1, 6)]


def test_the_scores_of_the_fit_are_kept_for_comparing_live_ones_with(
    record: CalibrationRecord, turns: list[LabelledTurn]
) -> None:
    assert record.scores is not None
    assert record.scores.n == sum(bool(turn.candidates) for turn in turns)
    assert load_calibration(dump_calibration(record)).scores == record.scores
