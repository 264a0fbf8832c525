from __future__ import annotations

import pytest

from recalld.models.policy.recall_load import ALWAYS_TAKEN, COST_PRIOR_S, SAMPLES_MAX, WORKING_MAX, RecallLoad

ENVELOPE_S = 0.3


def taken(recalls: int) -> RecallLoad:
    """A load of so many recalls, none of which has begun."""
    load = RecallLoad()
    for _ in range(recalls):
        load.take()
    return load


def worked(cost_s: float, *, recalls: int = SAMPLES_MAX + 1) -> RecallLoad:
    """A load over which recalls of one cost went, one after another."""
    load, now_s = RecallLoad(), 100.0
    for _ in range(recalls):
        load.take()
        load.begin(now_s=now_s)
        now_s += cost_s
        load.end(now_s=now_s)
        now_s += 1.0  # nothing to do
    return load


def test_what_a_recall_costs_is_learned_and_idle_time_is_not_counted() -> None:
    assert worked(0.02).cost_s == pytest.approx(0.02)


def test_a_few_recalls_say_nothing_about_the_cost() -> None:
    assert worked(5.0, recalls=3).cost_s == COST_PRIOR_S


def test_recalls_that_overlap_share_the_time_they_take() -> None:
    load = RecallLoad()
    for _ in range(SAMPLES_MAX + 1):
        load.take()
        load.begin(now_s=0.0)
    for number in range(SAMPLES_MAX + 1):
        load.end(now_s=0.01 * (number + 1))
    assert load.cost_s == pytest.approx(0.01)


def test_waiting_for_a_model_is_not_work() -> None:
    load, now_s = RecallLoad(), 0.0
    for _ in range(SAMPLES_MAX + 1):
        load.take()
        load.begin(now_s=now_s)
        load.pause(now_s=now_s + 0.01)
        load.resume(now_s=now_s + 0.1)
        load.end(now_s=now_s + 0.11)
        now_s += 1.0
    assert load.cost_s == pytest.approx(0.02)


def test_behind_a_few_recalls_another_is_always_taken_and_behind_more_only_while_it_can_be_answered_in_time() -> None:
    load = RecallLoad()
    assert load.has_room(ALWAYS_TAKEN - 1, left_s=0.0)
    assert not load.has_room(ALWAYS_TAKEN, left_s=0.0)
    enough = int(0.8 * ENVELOPE_S / COST_PRIOR_S)
    assert load.has_room(enough - 1, left_s=ENVELOPE_S)
    assert not load.has_room(enough + 1, left_s=ENVELOPE_S)


def test_models_are_left_alone_long_before_recalls_are_turned_away() -> None:
    crowded = next(count for count in range(1000) if taken(count).is_crowded(left_s=ENVELOPE_S))
    full = next(count for count in range(1000) if not RecallLoad().has_room(count, left_s=ENVELOPE_S))
    assert ALWAYS_TAKEN < crowded < full / 2


def test_only_so_many_recalls_work_at_the_same_time() -> None:
    load = taken(WORKING_MAX + 1)
    for _ in range(WORKING_MAX):
        assert load.is_open
        load.begin(now_s=0.0)
    assert not load.is_open
    load.pause(now_s=0.1)
    assert load.is_open


def test_whoever_gives_up_leaves_room() -> None:
    load = taken(1000)
    for _ in range(1000):
        load.give_up()
    assert load.in_flight == 0
    assert not load.is_crowded(left_s=ENVELOPE_S)
