from __future__ import annotations

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recalld.models.calibration.labelled import LabelledCandidate, LabelledTurn, retention, silence
from recalld.models.calibration.threshold import (
    KIND_POSITIVES_MIN,
    choose_floors,
    choose_kind_thresholds,
    choose_margin,
    choose_threshold,
)
from recalld.models.domain.recall import Evidence
from recalld.models.domain.records import MemoryKind
from recalld.models.policy.floor import FloorResult, passes_floor
from recalld.models.policy.relevance import KindThreshold, uncalibrated
from recalld.models.policy.sigmoid import sigmoid

MODEL = uncalibrated(0.5)


def turn(
    source: str, *logits: float, relevant: bool, cosine: float | None = None, ask: float | None = None
) -> LabelledTurn:
    candidates = tuple(
        LabelledCandidate(
            memory_id=f"m{place}",
            evidence=Evidence(logit=logit, cosine=cosine, ask_cosine=ask),
            is_relevant=relevant and place == 0,
        )
        for place, logit in enumerate(logits)
    )
    return LabelledTurn(source=source, conversation="c", turn_id="t", is_answerable=relevant, candidates=candidates)


def test_the_threshold_is_the_highest_that_keeps_the_target() -> None:
    turns = [turn("a", float(logit), relevant=True) for logit in range(10)]
    assert choose_threshold(turns, MODEL, target_retention=0.8) == pytest.approx(sigmoid(2.0))
    assert choose_threshold(turns, MODEL, target_retention=1.0) == pytest.approx(sigmoid(0.0))


def test_sources_count_alike_whatever_their_size() -> None:
    large = [turn("large", 5.0, relevant=True) for _ in range(98)]
    small = [turn("small", 1.0, relevant=True), turn("small", 5.0, relevant=True)]
    assert choose_threshold(large + small, MODEL, target_retention=0.95) == pytest.approx(sigmoid(1.0))


def test_the_best_relevant_candidate_of_a_turn_counts_and_other_turns_do_not() -> None:
    turns = [turn("a", -5.0, 9.0, relevant=True), turn("a", 9.0, relevant=False)]
    assert choose_threshold(turns, MODEL, target_retention=1.0) == pytest.approx(sigmoid(-5.0))


@given(
    st.lists(st.tuples(st.sampled_from("ab"), st.floats(-10, 10)), min_size=1, max_size=25),
    st.sampled_from([0.5, 0.8, 0.95, 1.0]),
)
@settings(max_examples=60)
def test_the_target_is_always_met_on_its_own_data(scores: list[tuple[str, float]], target: float) -> None:
    turns = [turn(source, logit, relevant=True) for source, logit in scores]
    model = uncalibrated(choose_threshold(turns, MODEL, target_retention=target))
    by_source = [
        retention([each for each in turns if each.source == name], model).value for name in {s for s, _ in scores}
    ]
    assert sum(by_source) / len(by_source) >= target - 1e-6


def test_without_relevant_candidates_there_is_nothing_to_choose() -> None:
    with pytest.raises(ValueError, match="no turn has a relevant candidate"):
        choose_threshold([turn("a", 1.0, relevant=False)], MODEL, target_retention=0.9)
    with pytest.raises(ValueError, match="no relevant candidate has a cosine"):
        choose_floors([turn("a", 1.0, relevant=True)])


def test_retention_and_silence_count_turns_not_candidates() -> None:
    turns = [
        turn("a", 2.0, 3.0, relevant=True),
        turn("a", -2.0, 3.0, relevant=True),
        turn("a", -1.0, -3.0, relevant=False),
        turn("a", -1.0, 3.0, relevant=False),
        turn("a", relevant=False),
        LabelledTurn(source="a", conversation="c", turn_id="t", is_answerable=True, candidates=()),
    ]
    assert (retention(turns, MODEL).successes, retention(turns, MODEL).n) == (1, 2)
    assert (silence(turns, MODEL).successes, silence(turns, MODEL).n) == (2, 3)


def test_an_unscored_candidate_is_an_error() -> None:
    unscored = LabelledCandidate(memory_id="m7", evidence=Evidence(cosine=0.5), is_relevant=True)
    bad = LabelledTurn(source="a", conversation="c", turn_id="t", is_answerable=True, candidates=(unscored,))
    with pytest.raises(ValueError, match="m7 has no logit"):
        retention([bad], MODEL)


def test_floors_use_that_the_best_channel_counts() -> None:
    by_record = [turn("a", 1.0, relevant=True, cosine=0.8, ask=0.1) for _ in range(50)]
    by_ask = [turn("a", 1.0, relevant=True, cosine=0.1, ask=0.9) for _ in range(50)]
    floors = choose_floors(by_record + by_ask)
    assert (floors.record, floors.ask) == (0.8, 0.9)
    assert floors.cue > 0.99


def test_floors_keep_what_they_are_asked_to_keep() -> None:
    turns = [turn("a", 1.0, relevant=True, cosine=number / 200) for number in range(200)]
    floors = choose_floors(turns, retention=0.9)
    kept = sum(passes_floor(each.candidates[0].evidence, floors) is FloorResult.PASSED for each in turns)
    assert 180 <= kept <= 182


def test_floors_fall_to_the_minimum_when_nothing_may_be_lost() -> None:
    turns = [turn("a", 1.0, relevant=True, cosine=number / 500) for number in range(500)]
    assert choose_floors(turns, retention=1.0).record == 0.0


def of_kind(kind: MemoryKind, each: LabelledTurn) -> LabelledTurn:
    return msgspec.structs.replace(
        each, candidates=tuple(msgspec.structs.replace(item, kind=kind) for item in each.candidates)
    )


def test_a_kind_gets_a_threshold_when_enough_of_it_is_relevant() -> None:
    enough = [of_kind(MemoryKind.FACT, turn("a", place / 10, relevant=True)) for place in range(KIND_POSITIVES_MIN)]
    few = [of_kind(MemoryKind.NOTE, turn("a", 9.0, relevant=True)) for _ in range(KIND_POSITIVES_MIN - 1)]
    (fact,) = choose_kind_thresholds(enough + few, MODEL, target_retention=0.9)
    assert (fact.kind, fact.positives) == (MemoryKind.FACT, KIND_POSITIVES_MIN)
    assert fact.threshold == pytest.approx(sigmoid(0.6))  # six of sixty may be lost


def test_a_candidate_is_counted_by_the_threshold_of_its_kind() -> None:
    model = msgspec.structs.replace(
        MODEL, kind_thresholds=(KindThreshold(kind=MemoryKind.NOTE, threshold=0.01, positives=60),)
    )
    turns = [of_kind(kind, turn("a", -2.0, relevant=True)) for kind in (MemoryKind.NOTE, MemoryKind.FACT)]
    assert retention(turns, model).successes == 1
    silent = [of_kind(kind, turn("a", -2.0, relevant=False)) for kind in (MemoryKind.NOTE, MemoryKind.FACT)]
    assert silence(silent, model).successes == 1
    assert choose_margin(turns, model) is not None
    assert choose_margin(turns[1:], model) is None
