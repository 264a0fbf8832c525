from __future__ import annotations

import random

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from own_turns import CANDIDATES, make_own_turns

from recalld.models.calibration.fit import HeadKind
from recalld.models.calibration.fit_own import (
    CHOICES,
    CHOICES_WITH_ASKS,
    FOLDS_MAX,
    HEAD_CHOICES,
    LOWER_BOUND_POSITIVES_MIN,
    VOLUME_MIN,
    InsufficientDataError,
    OwnFitOptions,
    check_volume,
    fit_own,
    folds_of,
    is_floor_served,
    quantile_threshold,
    volume_of,
)
from recalld.models.calibration.intervals import wilson
from recalld.models.calibration.labelled import LabelledCandidate, LabelledTurn
from recalld.models.domain.recall import TextShape
from recalld.models.policy.head_inputs import HeadInput

scores = st.lists(st.floats(0.001, 0.999), min_size=1, max_size=120)


@pytest.fixture(scope="module")
def turns() -> list[LabelledTurn]:
    return make_own_turns()


def test_the_same_turns_give_the_same_model_in_whatever_order_they_come(turns: list[LabelledTurn]) -> None:
    shuffled = list(turns)
    random.Random(3).shuffle(shuffled)
    assert fit_own(turns) == fit_own(shuffled)


def test_a_fit_says_how_many_candidates_it_judges_and_looks_at_names_and_times(turns: list[LabelledTurn]) -> None:
    model = fit_own(turns)
    assert model.candidates_max in CHOICES
    assert model.looks_at_pairs
    assert HeadInput.TIME_FIT in model.heads[0].inputs
    assert model.heads[-1].inputs == (HeadInput.LOGIT,)


def test_more_candidates_are_judged_where_that_costs_no_silence(turns: list[LabelledTurn]) -> None:
    assert fit_own(turns).candidates_max == max(CHOICES)


def test_fewer_candidates_are_judged_where_the_later_ones_are_noise() -> None:
    assert fit_own(make_own_turns(noise_from=3)).candidates_max == min(CHOICES)


def test_records_with_asks_may_be_judged_eight_at_a_time() -> None:
    model = fit_own(make_own_turns(has_asks=True))
    assert model.candidates_max == max(CHOICES_WITH_ASKS)
    assert HeadInput.ASK_COSINE in model.heads[0].inputs


def test_a_number_of_candidates_that_is_given_stays(turns: list[LabelledTurn]) -> None:
    assert fit_own(turns, OwnFitOptions(candidates_max=4)).candidates_max == 4


def test_a_lower_target_never_gives_a_lower_threshold(turns: list[LabelledTurn]) -> None:
    thresholds = [
        fit_own(turns, OwnFitOptions(target_retention=target, candidates_max=3)).threshold
        for target in (0.98, 0.95, 0.9, 0.8)
    ]
    assert thresholds == sorted(thresholds)


def test_heads_look_at_more_only_where_that_wins_clearly(turns: list[LabelledTurn]) -> None:
    """Telling turns apart by the length of their query is only possible for heads that look at it."""
    assert fit_own(turns).heads[0].inputs == HEAD_CHOICES[0][1]
    told = [
        msgspec.structs.replace(turn, candidates=tuple(with_words(each, turn) for each in turn.candidates))
        for turn in make_own_turns(noise_from=0)
    ]
    assert fit_own(told).heads[0].inputs == HEAD_CHOICES[1][1]


def with_words(candidate: LabelledCandidate, turn: LabelledTurn) -> LabelledCandidate:
    shape = TextShape(words=3 if turn.is_answerable else 18, is_question=True)
    return msgspec.structs.replace(candidate, evidence=msgspec.structs.replace(candidate.evidence, shape=shape))


def test_trees_may_correct_the_heads(turns: list[LabelledTurn]) -> None:
    model = fit_own(turns, OwnFitOptions(head=HeadKind.TREES, candidates_max=3))
    assert {HeadInput.LOGIT_AS_GIVEN, HeadInput.LOGIT} & set(model.heads[0].inputs)


def test_progress_ends_at_all_of_it(turns: list[LabelledTurn]) -> None:
    seen: list[tuple[int, int]] = []
    fit_own(turns, on_progress=lambda done, total: seen.append((done, total)))
    assert [done for done, _ in seen] == list(range(1, len(seen) + 1))
    assert seen[-1] == (len(CHOICES) * len(HEAD_CHOICES) + 1,) * 2


def test_folds_hold_every_turn_once_and_split_no_conversation_not_even_across_sources() -> None:
    both = [*make_own_turns(7, 3, source="a"), *make_own_turns(7, 3, source="b")]
    folds = folds_of(both)
    assert len(folds) == FOLDS_MAX
    assert sorted(place for fold in folds for place in fold) == list(range(len(both)))
    of_fold = [{both[place].conversation for place in fold} for fold in folds]
    assert sum(map(len, of_fold)) == len({turn.conversation for turn in both})


@pytest.mark.parametrize(
    ("conversations", "turns_each", "missing"),
    [(1, 300, "conversations 1 of 2"), (3, 20, "turns 60 of 200"), (3, 20, "23 of 30")],
)
def test_too_little_is_refused_with_the_counts(conversations: int, turns_each: int, missing: str) -> None:
    with pytest.raises(InsufficientDataError, match="label more turns") as refused:
        fit_own(make_own_turns(conversations, turns_each))
    volume = volume_of(make_own_turns(conversations, turns_each))
    assert missing.replace("23", str(volume.positives)) in str(refused.value)


def test_just_enough_is_not_refused() -> None:
    check_volume(VOLUME_MIN)


def test_the_target_counts_what_the_floor_alone_would_serve(turns: list[LabelledTurn]) -> None:
    late = [turn for turn in turns if any(each.is_relevant and each.place == 4 for each in turn.candidates)]
    assert late
    assert not any(map(is_floor_served, late))
    untold = [
        msgspec.structs.replace(
            turn, candidates=tuple(msgspec.structs.replace(each, place=None) for each in turn.candidates)
        )
        for turn in late
    ]
    assert all(map(is_floor_served, untold))


@given(scores=scores, target=st.floats(0.5, 0.99))
def test_a_threshold_lies_among_the_scores(scores: list[float], target: float) -> None:
    threshold = quantile_threshold(scores, target_retention=target)
    assert min(scores) - 1e-6 <= threshold <= max(scores) + 1e-6


@given(scores=scores, targets=st.tuples(st.floats(0.5, 0.99), st.floats(0.5, 0.99)))
def test_a_threshold_never_rises_with_its_target(scores: list[float], targets: tuple[float, float]) -> None:
    low, high = sorted(targets)
    assert quantile_threshold(scores, target_retention=high) <= quantile_threshold(scores, target_retention=low) + 1e-9


def test_a_single_hopeless_score_does_not_draw_the_threshold_away() -> None:
    usual = [0.3 + 0.4 * place / 99 for place in range(100)]
    thresholds = [quantile_threshold([worst, *usual], target_retention=0.9) for worst in (-1.0, 1e-30)]
    assert thresholds[0] == pytest.approx(thresholds[1])
    assert thresholds[0] == pytest.approx(quantile_threshold(usual, target_retention=0.9), abs=0.03)


def test_with_volume_enough_the_lower_end_of_the_interval_meets_the_target() -> None:
    many = [(place + 1) / (2 * LOWER_BOUND_POSITIVES_MIN) for place in range(LOWER_BOUND_POSITIVES_MIN)]
    threshold = quantile_threshold(many, target_retention=0.95)
    assert wilson(sum(score >= threshold for score in many), len(many)).low >= 0.95
    few = many[::2]
    threshold = quantile_threshold(few, target_retention=0.95)
    assert wilson(sum(score >= threshold for score in few), len(few)).low < 0.95


def test_no_scores_are_refused() -> None:
    with pytest.raises(ValueError, match="nothing to choose a threshold on"):
        quantile_threshold([], target_retention=0.95)


@pytest.mark.parametrize(("field", "value"), [("target_retention", 1.0), ("candidates_max", 0)])
def test_impossible_options_are_refused_by_name(field: str, value: float) -> None:
    with pytest.raises(ValueError, match=field):
        msgspec.structs.replace(OwnFitOptions(), **{field: value})


def test_the_turns_of_these_tests_have_candidates_that_no_gate_judges() -> None:
    assert max(CHOICES) < CANDIDATES
