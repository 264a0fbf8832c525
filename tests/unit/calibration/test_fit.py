from __future__ import annotations

import msgspec
import pytest

from recalld.models.calibration.fit import HEADS, CalibrationInfo, fit_calibration, fit_model, report_held_out
from recalld.models.calibration.labelled import LabelledTurn
from recalld.models.calibration.record import CalibrationKeys, dump_calibration, load_calibration
from recalld.models.domain.recall import Evidence
from recalld.models.policy.relevance import HeadInput, relevance

INFO = CalibrationInfo(
    id="cal_test",
    date="2026-11-30",
    provenance="made up",
    keys=CalibrationKeys(model_key="m", embedder_key="e", pair_template="t"),
    corpus_id="made-up",
    corpus_sha256="0" * 64,
)


def test_a_fit_meets_its_target_separates_and_can_be_stored(three_sources: list[LabelledTurn]) -> None:
    record = fit_calibration(three_sources, info=INFO, target_retention=0.95)
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
    thresholds = [fit_model(three_sources, target_retention=target).threshold for target in (1.0, 0.95, 0.9, 0.8)]
    assert thresholds == sorted(thresholds)


def test_a_held_out_source_is_never_seen_by_its_fit(three_sources: list[LabelledTurn]) -> None:
    """Turning the labels of one source round changes what its own trial shows, never the threshold it is tried with."""
    reports = {report.source: report for report in report_held_out(three_sources, target_retention=0.9)}
    turned = [turned_round(turn) if turn.source == "source_1" else turn for turn in three_sources]
    after = {report.source: report for report in report_held_out(turned, target_retention=0.9)}
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
    reports = report_held_out(one_source, target_retention=0.9)
    assert [report.source for report in sorted(reports, key=lambda report: report.source)] == [
        f"fold {number}" for number in range(1, 6)
    ]
    assert sum(report.silence.n for report in reports) == sum(not turn.is_answerable for turn in one_source)


def test_a_single_conversation_cannot_be_held_out(one_source: list[LabelledTurn]) -> None:
    together = [msgspec.structs.replace(turn, conversation="only") for turn in one_source]
    assert report_held_out(together, target_retention=0.9) == ()


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
    evidence = Evidence(logit=-4.0, cosine=0.5)
    strict = relevance(evidence, fit_model(seldom, target_retention=0.9)) or 0.0
    lax = relevance(evidence, fit_model(often, target_retention=0.9)) or 0.0
    assert lax > 5 * strict


def test_too_few_candidates_of_its_own_leave_a_later_head_as_it_is(three_sources: list[LabelledTurn]) -> None:
    few = [*three_sources, without_asks(three_sources[0], is_relevant=False)]
    evidence = Evidence(logit=-4.0, cosine=0.5)
    before = relevance(evidence, fit_model(three_sources, target_retention=0.9))
    assert relevance(evidence, fit_model(few, target_retention=0.9)) == pytest.approx(before, rel=0.2)


def test_the_margin_keeps_what_is_relevant_and_not_the_tail(three_sources: list[LabelledTurn]) -> None:
    model = fit_model(three_sources, target_retention=0.9)
    assert model.margin is not None
    assert 0.0 < model.margin < 10.0


def test_the_fitted_head_uses_its_inputs(three_sources: list[LabelledTurn]) -> None:
    model = fit_model(three_sources, target_retention=0.9)
    weak = Evidence(logit=-4.0, cosine=0.5, cue_cosine=0.5, ask_cosine=0.5)
    strong = msgspec.structs.replace(weak, ask_cosine=0.85)
    assert (relevance(strong, model) or 0.0) > 5 * (relevance(weak, model) or 1.0)


@pytest.mark.parametrize("target", [0.0, -0.1, 1.1, float("nan")])
def test_an_impossible_target_is_an_error(three_sources: list[LabelledTurn], target: float) -> None:
    with pytest.raises(ValueError, match="target_retention"):
        fit_calibration(three_sources, info=INFO, target_retention=target)


def test_a_head_without_anything_to_learn_from_is_named(three_sources: list[LabelledTurn]) -> None:
    nothing = [msgspec.structs.replace(turned_round(turn), candidates=turn.candidates[1:]) for turn in three_sources]
    with pytest.raises(ValueError, match=f"head over {HeadInput.LOGIT}, {HeadInput.CUE_COSINE}"):
        fit_model(nothing, target_retention=0.9)
