from __future__ import annotations

import msgspec
import pytest

from recalld.models.calibration.fit import (
    HEADS,
    CalibrationInfo,
    FitOptions,
    fit_calibration,
    fit_model,
    leave_one_out,
    report_held_out,
)
from recalld.models.calibration.labelled import LabelledTurn
from recalld.models.calibration.record import CalibrationKeys, dump_calibration, load_calibration
from recalld.models.domain.recall import Evidence, TextShape
from recalld.models.domain.records import MemoryKind
from recalld.models.policy.head_inputs import SHAPE_INPUTS, HeadInput
from recalld.models.policy.relevance import relevance

SHAPE = TextShape(words=6, is_question=True, is_open_question=True, is_personal=True)
INFO = CalibrationInfo(
    id="cal_test",
    date="2026-11-30",
    provenance="made up",
    keys=CalibrationKeys(model_key="m", embedder_key="e", pair_template="t"),
    corpus_id="made-up",
    corpus_sha256="0" * 64,
)


def test_a_fit_meets_its_target_separates_and_can_be_stored(three_sources: list[LabelledTurn]) -> None:
    record = fit_calibration(three_sources, info=INFO)
    assert load_calibration(dump_calibration(record)) == record
    assert (record.n, record.positives) == (120, 48)
    assert record.retention.value >= 0.94
    assert record.silence.value >= 0.6
    assert tuple(head.inputs for head in record.heads) == HEADS
    assert [report.source for report in record.held_out] == ["source_0", "source_1", "source_2"]
    assert sum(report.retention.n for report in record.held_out) == record.retention.n
    assert sum(report.silence.n for report in record.held_out) == record.silence.n


def test_the_same_turns_give_the_same_record(three_sources: list[LabelledTurn]) -> None:
    assert fit_calibration(three_sources, info=INFO) == fit_calibration(list(three_sources), info=INFO)


def test_a_lower_target_never_gives_a_lower_threshold(three_sources: list[LabelledTurn]) -> None:
    thresholds = [
        fit_model(three_sources, FitOptions(target_retention=target)).threshold for target in (1.0, 0.95, 0.9, 0.8)
    ]
    assert thresholds == sorted(thresholds)


def test_a_held_out_source_is_never_seen_by_its_fit(three_sources: list[LabelledTurn]) -> None:
    """Turning the labels of one source round changes what its own trial shows, never the threshold it is tried with."""
    reports = {report.source: report for report in report_held_out(three_sources, FitOptions(target_retention=0.9))}
    turned = [turned_round(turn) if turn.source == "source_1" else turn for turn in three_sources]
    after = {report.source: report for report in report_held_out(turned, FitOptions(target_retention=0.9))}
    assert after["source_1"].threshold == reports["source_1"].threshold
    assert after["source_1"].retention != reports["source_1"].retention
    assert after["source_0"].threshold != reports["source_0"].threshold


def turned_round(turn: LabelledTurn) -> LabelledTurn:
    candidates = tuple(
        msgspec.structs.replace(item, is_relevant=place == len(turn.candidates) - 1 and turn.is_answerable)
        for place, item in enumerate(turn.candidates)
    )
    return msgspec.structs.replace(turn, candidates=candidates)


def test_a_single_source_is_split_by_conversation(one_source: list[LabelledTurn]) -> None:
    reports = report_held_out(one_source, FitOptions(target_retention=0.9))
    assert [report.source for report in sorted(reports, key=lambda report: report.source)] == [
        f"fold {number}" for number in range(1, 6)
    ]
    assert sum(report.silence.n for report in reports) == sum(not turn.is_answerable for turn in one_source)


def test_a_single_conversation_cannot_be_held_out(one_source: list[LabelledTurn]) -> None:
    together = [msgspec.structs.replace(turn, conversation="only") for turn in one_source]
    assert report_held_out(together, FitOptions(target_retention=0.9)) == ()


def without_asks(turn: LabelledTurn, *, is_relevant: bool) -> LabelledTurn:
    """The turn, its candidates without asks and, as labelled, all relevant or none."""
    return msgspec.structs.replace(
        turn,
        candidates=tuple(
            msgspec.structs.replace(
                item, evidence=msgspec.structs.replace(item.evidence, ask_cosine=None), is_relevant=is_relevant
            )
            for item in turn.candidates
        ),
    )


def test_a_later_head_is_as_strict_as_its_own_candidates_deserve(three_sources: list[LabelledTurn]) -> None:
    # The same evidence without asks: in one world seldom relevant, in the other often.
    seldom = [*three_sources, *(without_asks(turn, is_relevant=False) for turn in three_sources[:200])]
    often = [*three_sources, *(without_asks(turn, is_relevant=True) for turn in three_sources[:200])]
    evidence = Evidence(logit=-4.0, cosine=0.5, shape=SHAPE)
    strict = relevance(evidence, fit_model(seldom, FitOptions(target_retention=0.9))) or 0.0
    lax = relevance(evidence, fit_model(often, FitOptions(target_retention=0.9))) or 0.0
    assert lax > 5 * strict


def test_too_few_candidates_of_its_own_leave_a_later_head_as_it_is(three_sources: list[LabelledTurn]) -> None:
    few = [*three_sources, without_asks(three_sources[2], is_relevant=False)]
    evidence = Evidence(logit=-4.0, cosine=0.5, shape=SHAPE)
    before = relevance(evidence, fit_model(three_sources, FitOptions(target_retention=0.9)))
    assert relevance(evidence, fit_model(few, FitOptions(target_retention=0.9))) == pytest.approx(before, rel=0.2)


def test_the_margin_keeps_what_is_relevant_and_not_the_tail(three_sources: list[LabelledTurn]) -> None:
    model = fit_model(three_sources, FitOptions(target_retention=0.9))
    assert model.margin is not None
    assert 0.0 < model.margin < 10.0


def test_the_fitted_head_uses_its_inputs(three_sources: list[LabelledTurn]) -> None:
    model = fit_model(three_sources, FitOptions(target_retention=0.9))
    weak = Evidence(logit=-4.0, cosine=0.5, cue_cosine=0.5, ask_cosine=0.5, ask_mean=0.45, shape=SHAPE)
    strong = msgspec.structs.replace(weak, ask_cosine=0.85, ask_mean=0.8)
    assert (relevance(strong, model) or 0.0) > 5 * (relevance(weak, model) or 1.0)


def test_the_shape_may_count_against_a_memory_and_nothing_else_does(three_sources: list[LabelledTurn]) -> None:
    turned = [
        msgspec.structs.replace(
            turn,
            candidates=tuple(
                msgspec.structs.replace(
                    item,
                    evidence=msgspec.structs.replace(
                        item.evidence,
                        shape=msgspec.structs.replace(SHAPE, is_personal=not turn.is_answerable),
                        ask_cosine=None if item.evidence.ask_cosine is None else -item.evidence.ask_cosine,
                    ),
                )
                for item in turn.candidates
            ),
        )
        for turn in three_sources
    ]
    head = fit_model(turned, FitOptions()).heads[0]
    weights = dict(zip(head.inputs, head.weights, strict=True))
    assert weights[HeadInput.IS_PERSONAL] < -0.5
    assert weights[HeadInput.ASK_COSINE] == 0.0
    assert all(weight >= 0.0 for name, weight in weights.items() if name not in SHAPE_INPUTS)


def test_a_head_whose_inputs_nobody_has_is_left_out(three_sources: list[LabelledTurn]) -> None:
    bare = [without_asks(turn, is_relevant=turn.is_answerable) for turn in three_sources]
    model = fit_model(bare, FitOptions())
    assert tuple(head.inputs for head in model.heads) == HEADS[1:]


def test_every_trial_is_judged_by_a_fit_on_the_others(three_sources: list[LabelledTurn]) -> None:
    trials = leave_one_out(three_sources, FitOptions())
    assert [trial.name for trial in trials] == ["source_0", "source_1", "source_2"]
    for trial in trials:
        assert {turn.source for turn in trial.turns} == {trial.name}
        others = [turn for turn in three_sources if turn.source != trial.name]
        assert trial.model == fit_model(others, FitOptions())


def test_kinds_have_thresholds_of_their_own_only_when_asked_for(three_sources: list[LabelledTurn]) -> None:
    many = [msgspec.structs.replace(turn, source=f"{turn.source}{copy}") for copy in "ab" for turn in three_sources]
    assert fit_model(many, FitOptions()).kind_thresholds == ()
    record = fit_calibration(many, info=INFO, options=FitOptions(has_kind_thresholds=True))
    assert [each.kind for each in record.kind_thresholds] == [MemoryKind.FACT]
    assert load_calibration(dump_calibration(record)).relevance_model().kind_thresholds == record.kind_thresholds


def test_nothing_scored_is_an_error() -> None:
    with pytest.raises(ValueError, match="nothing to fit heads on"):
        fit_model([], FitOptions())


@pytest.mark.parametrize("target", [0.0, -0.1, 1.1, float("nan")])
def test_an_impossible_target_is_an_error(three_sources: list[LabelledTurn], target: float) -> None:
    with pytest.raises(ValueError, match="target_retention"):
        fit_calibration(three_sources, info=INFO, options=FitOptions(target_retention=target))


def test_a_head_without_anything_to_learn_from_is_named(three_sources: list[LabelledTurn]) -> None:
    nothing = [msgspec.structs.replace(turned_round(turn), candidates=turn.candidates[1:]) for turn in three_sources]
    with pytest.raises(ValueError, match="head over logit, logit_above_zero, cue_cosine"):
        fit_model(nothing, FitOptions(target_retention=0.9))
