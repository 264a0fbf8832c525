from __future__ import annotations

import msgspec
import pytest
from judged_rows import STYLES, embed, make_rows

from recalld.models.calibration.admission_calibrate import AdmissionInfo, Steps, calibrate_admission, prepare_rows
from recalld.models.calibration.admission_fit import (
    WRITTEN_MIN,
    JudgeFit,
    rates_at,
    score,
    threshold_for,
)
from recalld.models.calibration.admission_record import (
    AdmissionRecord,
    dump_admission_record,
    load_admission_record,
    shipped_admission_record,
)
from recalld.models.calibration.admission_turns import states_any
from recalld.models.calibration.record import CalibrationError
from recalld.models.domain.facts import Span
from recalld.models.policy.judge.model import Judge

INFO = AdmissionInfo(id="test", date="2026-11-30", provenance="a test", embedder_key="words", corpus_sha256="0")


@pytest.fixture(scope="module")
def record() -> AdmissionRecord:
    return calibrate_admission(make_rows(), embed, INFO)


def test_a_style_left_out_of_the_fit_is_judged_right() -> None:
    turns = prepare_rows(make_rows(), embed)
    scores = JudgeFit(turns).held_out_scores()
    for turn, each in zip(turns, scores, strict=True):
        best = max(range(len(each)), key=lambda place: each[place])
        assert turn.labels[best] == bool(turn.row.facts)
    lowest = min(max(each) for turn, each in zip(turns, scores, strict=True) if turn.row.facts)
    report = rates_at(turns, scores, lowest)
    assert (report.precision.value, report.recall.value) == (1.0, 1.0)


def test_a_threshold_reaches_its_target_as_far_as_any_does_and_rests_on_enough_turns() -> None:
    turns = prepare_rows(make_rows(), embed)
    scores = JudgeFit(turns).held_out_scores()
    threshold = threshold_for(turns, scores, 0.75)
    assert rates_at(turns, scores, threshold).precision.value >= 0.75
    assert rates_at(turns, scores, threshold_for(turns, scores, 0.99)).precision.n == WRITTEN_MIN


def test_held_out_means_that_a_style_does_not_change_its_own_scores() -> None:
    rows = make_rows()
    turns = prepare_rows(rows, embed)
    mislabelled = [
        msgspec.structs.replace(turn, labels=tuple(not label for label in turn.labels))
        if turn.row.style == STYLES[0]
        else turn
        for turn in turns
    ]
    scores, others = JudgeFit(turns).held_out_scores(), JudgeFit(mislabelled).held_out_scores()
    for turn, one, two in zip(turns, scores, others, strict=True):
        assert (one == pytest.approx(two, abs=1e-4)) == (turn.row.style == STYLES[0])


def test_a_model_without_a_style_scores_that_style_as_when_it_was_held_out() -> None:
    turns = prepare_rows(make_rows(), embed)
    fit = JudgeFit(turns)
    judges = {style: Judge.of(fit.model_without(style)) for style in STYLES}
    whole = Judge.of(fit.model())
    differences: list[float] = []
    for turn, expected in zip(turns, fit.held_out_scores(), strict=True):
        # A fit sees its own rows rounded, as a record keeps them; a judge reads a turn as it is.
        assert score(turn, judges[turn.row.style]) == pytest.approx(expected, abs=0.01)
        differences += [abs(one - other) for one, other in zip(score(turn, whole), expected, strict=True)]
    assert max(differences) > 0.05


def test_the_same_rows_give_the_same_record(record: AdmissionRecord) -> None:
    assert dump_admission_record(calibrate_admission(make_rows(), embed, INFO)) == dump_admission_record(record)


def test_progress_is_told_for_every_turn_and_every_style() -> None:
    turns: list[int] = []
    styles: list[str] = []
    calibrate_admission(make_rows(), embed, INFO, Steps(on_turn=lambda: turns.append(1), on_style=styles.append))
    assert (len(turns), styles) == (len(make_rows()), sorted(STYLES))


def test_disputed_rows_are_left_out_and_counted(record: AdmissionRecord) -> None:
    rows = make_rows()
    disputed = (*rows, msgspec.structs.replace(rows[0], id="more", disputed=True))
    made = calibrate_admission(disputed, embed, INFO)
    assert (made.disputed, made.n) == (1, record.n)
    assert made.model == record.model


def test_a_record_reads_back_equal_and_judges_equally(record: AdmissionRecord) -> None:
    again = load_admission_record(dump_admission_record(record))
    assert again == record
    turn = prepare_rows(make_rows()[:1], embed)[0]
    assert score(turn, Judge.of(again.model)) == score(turn, Judge.of(record.model))


def test_one_style_or_one_label_is_too_little_to_fit_on() -> None:
    one_style = [row for row in make_rows() if row.style == STYLES[0]]
    with pytest.raises(ValueError, match="two styles or more"):
        calibrate_admission(one_style, embed, INFO)
    with pytest.raises(ValueError, match="turns that state none"):
        JudgeFit(prepare_rows([row for row in make_rows() if not row.facts], embed))


def test_a_record_for_another_embedder_says_so(record: AdmissionRecord) -> None:
    assert record.mismatch("words") is None
    mismatch = record.mismatch("others")
    assert mismatch is not None
    assert "words" in mismatch.sentence


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (lambda data: data.replace(b'"question_mark"', b'"query_mark"'), "flags"),
        (lambda data: data.replace(b'"components": ', b'"components": 1'), "sizes"),
        (lambda data: data.replace(b'"date": "2026', b'"date": "Monday'), "admission record"),
        (lambda data: data.replace(b'"positives": ', b'"positives": -'), "positives"),
        (lambda _data: b"{", "admission record"),
    ],
)
def test_a_record_that_cannot_be_used_is_refused_with_a_remedy(record: AdmissionRecord, change, problem: str) -> None:  # noqa: ANN001 - a lambda of bytes
    with pytest.raises(CalibrationError, match=f"{problem}.*calibrate --admission|admission record"):
        load_admission_record(change(dump_admission_record(record)))


def test_the_shipped_record_reports_every_style_and_all_of_them() -> None:
    record = shipped_admission_record()
    for reports in (record.balanced, record.strict):
        assert reports[0].style == "all"
        assert sum(each.recall.n for each in reports[1:]) == reports[0].recall.n == record.positives


def test_a_part_states_a_fact_when_more_than_half_of_either_is_common() -> None:
    fact = Span(start=10, end=20)
    assert states_any(Span(start=0, end=100), [fact])
    assert states_any(Span(start=12, end=14), [fact])
    assert not states_any(Span(start=0, end=15), [fact])
    assert not states_any(Span(start=20, end=30), [fact])
