"""Whether a threshold survives a change of source."""

from __future__ import annotations

import msgspec
import pytest
from own_turns import make_own_turns

from recalld.daemon.calibrating import shipped_calibration
from recalld.models.calibration.fit_own import (
    InsufficientDataError,
    OwnFitOptions,
    check_volume,
    fit_own,
    lower_bound_volume,
    quantile_threshold,
    volume_of,
)
from recalld.models.calibration.intervals import wilson
from recalld.models.calibration.labelled import LabelledTurn
from recalld.models.calibration.own_record import groups_of
from recalld.models.calibration.record import CalibrationRecord, SourceReport
from recalld.models.calibration.threshold import KIND_POSITIVES_MIN
from recalld.models.calibration.transfer import Promise, transfer_of


def record(*held_out: tuple[str, int, int]) -> CalibrationRecord:
    """Of each source left out: its name, of 100 turns those that keep help, and those that stay silent."""
    return msgspec.structs.replace(
        shipped_calibration(),
        corpus_id="a.jsonl+b.jsonl",
        target_retention=0.95,
        silence=wilson(70, 100),
        held_out=tuple(
            SourceReport(source=name, threshold=0.5, retention=wilson(kept, 100), silence=wilson(quiet, 100))
            for name, kept, quiet in held_out
        ),
    )


def test_what_holds_on_every_source_left_out_survives() -> None:
    transfer = transfer_of(record(("a.jsonl", 96, 72), ("b.jsonl", 93, 60)))
    assert (transfer.groups, transfer.is_by_source, transfer.broken) == (2, True, ())


def test_help_or_silence_that_is_measurably_less_elsewhere_is_reported() -> None:
    transfer = transfer_of(record(("a.jsonl", 80, 72), ("b.jsonl", 96, 20)))
    assert [(each.source, each.promise) for each in transfer.broken] == [
        ("a.jsonl", Promise.RETENTION),
        ("b.jsonl", Promise.SILENCE),
    ]


def test_conversations_left_out_are_no_sources() -> None:
    assert not transfer_of(record(("c1", 96, 72), ("c2", 96, 72))).is_by_source


def test_with_nothing_left_out_nothing_is_claimed() -> None:
    transfer = transfer_of(record())
    assert (transfer.groups, transfer.is_by_source) == (0, False)


def sourced(source: str, conversations: int) -> list[LabelledTurn]:
    turns = make_own_turns(conversations, 10, source=source)
    return [msgspec.structs.replace(turn, conversation=f"{source}-{turn.conversation}") for turn in turns]


def test_of_two_sources_each_is_left_out_once() -> None:
    assert [group.name for group in groups_of([*sourced("a", 2), *sourced("b", 2)])] == ["a", "b"]


def test_where_one_of_two_sources_is_not_enough_to_fit_on_conversations_are_left_out() -> None:
    groups = groups_of([*sourced("a", 1), *sourced("b", 3)])
    assert [group.name for group in groups] == ["a-c0", "b-c0", "b-c1", "b-c2"]


@pytest.mark.parametrize(("target", "positives"), [(0.95, 73), (0.9, 35), (0.8, 30)])
def test_a_lower_bound_needs_as_many_turns_as_could_meet_it_without_a_loss(target: float, positives: int) -> None:
    assert lower_bound_volume(target).positives == positives
    assert wilson(positives, positives).low >= target


def test_asked_for_the_lower_bound_meets_the_target_also_with_few_turns() -> None:
    scores = [(place + 1) / 100 for place in range(80)]
    threshold = quantile_threshold(scores, target_retention=0.95, lower_bound_positives_min=1)
    kept = sum(score >= threshold for score in scores)
    assert wilson(kept, len(scores)).low >= 0.95
    usual = quantile_threshold(scores, target_retention=0.95)
    assert wilson(sum(score >= usual for score in scores), len(scores)).low < 0.95


def test_too_few_turns_for_the_lower_bound_are_refused_with_the_counts() -> None:
    few = make_own_turns(4, 50)
    check_volume(volume_of(few))
    volume = msgspec.structs.replace(volume_of(few), positives=72)
    with pytest.raises(InsufficientDataError, match="72 of 73"):
        check_volume(volume, lower_bound_volume(0.95))


def test_kinds_get_thresholds_only_where_asked_for_and_only_with_relevant_memories_enough() -> None:
    turns = make_own_turns(5, 60)
    options = OwnFitOptions(candidates_max=3, has_kind_thresholds=True)
    assert fit_own(turns, msgspec.structs.replace(options, has_kind_thresholds=False)).kind_thresholds == ()
    (only,) = fit_own(turns, options).kind_thresholds
    assert only.positives >= KIND_POSITIVES_MIN
