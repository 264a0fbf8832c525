"""When waiting turns are read: bursts, steady chatter, cooldowns, failures, and what becomes of each turn."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recalld.models.policy.debounce import (
    DebounceCode,
    DebounceRules,
    WaitingTurn,
    after_failure,
    cooled_until,
    next_step,
    pause_after,
)

RULES = DebounceRules()
S = 1_000


def turn(number: int, at_s: float, *, chars: int = 40) -> WaitingTurn:
    return WaitingTurn(number=number, added_ms=round(at_s * S), chars=chars)


def numbers(batch: tuple[WaitingTurn, ...]) -> list[int]:
    return [each.number for each in batch]


def test_a_burst_of_three_is_one_batch_thirty_seconds_after_the_last() -> None:
    burst = [turn(1, 0), turn(2, 4), turn(3, 9)]
    early = next_step(burst, RULES, now_ms=30 * S)
    assert (early.batch, early.waits_for, early.look_at_ms) == ((), DebounceCode.SUPERSEDED, 39 * S)
    assert numbers(next_step(burst, RULES, now_ms=39 * S).batch) == [1, 2, 3]


def test_steady_chatter_is_read_after_the_longest_wait_however_much_comes() -> None:
    rules = msgspec.structs.replace(RULES, gathered_min=1_000)
    chatter = [turn(number, 20 * number) for number in range(16)]
    assert next_step(chatter[:15], rules, now_ms=299 * S).look_at_ms == 300 * S
    assert numbers(next_step(chatter, rules, now_ms=300 * S).batch) == list(range(12))


def test_enough_turns_do_not_wait_for_quiet() -> None:
    gathered = [turn(number, number) for number in range(1, 7)]
    assert not next_step(gathered[:5], RULES, now_ms=6 * S).batch
    assert len(next_step(gathered, RULES, now_ms=6 * S).batch) == 6


def test_a_cooldown_puts_off_and_drops_nothing() -> None:
    waiting = [turn(1, 0)]
    cool_until_ms = cooled_until(0, RULES)
    step = next_step(waiting, RULES, now_ms=40 * S, cool_until_ms=cool_until_ms)
    assert (step.batch, step.waits_for, step.look_at_ms) == ((), DebounceCode.COOLED, 60 * S)
    assert numbers(next_step(waiting, RULES, now_ms=60 * S, cool_until_ms=cool_until_ms).batch) == [1]


def test_whoever_asks_for_it_waits_for_neither_quiet_nor_cooldown_nor_a_pause() -> None:
    paused = msgspec.structs.replace(turn(1, 0), group=1, failures=1, paused_until_ms=900 * S)
    assert numbers(next_step([turn(2, 0)], RULES, now_ms=1, cool_until_ms=99 * S, is_forced=True).batch) == [2]
    assert numbers(next_step([paused], RULES, now_ms=1, is_forced=True).batch) == [1]


def test_nothing_waiting_needs_no_further_look() -> None:
    step = next_step([], RULES, now_ms=5)
    assert (step.batch, step.waits_for, step.look_at_ms) == ((), None, None)


def test_what_waited_longer_than_it_is_kept_is_let_go_and_the_rest_is_read() -> None:
    old, kept = turn(1, 0), turn(2, 10)
    step = next_step([old, kept], RULES, now_ms=RULES.keep_ms + 5 * S)
    assert step.expired == (1,)
    assert numbers(step.batch) == [2]


@pytest.mark.parametrize(("chars", "read"), [((90, 90, 90), 2), ((500, 10), 1), ((10, 500), 1)])
def test_a_call_gets_no_more_characters_than_it_may_and_a_longer_turn_goes_alone(
    chars: tuple[int, ...], read: int
) -> None:
    rules = msgspec.structs.replace(RULES, batch_chars_max=200)
    waiting = [turn(number, 0, chars=each) for number, each in enumerate(chars, start=1)]
    assert len(next_step(waiting, rules, now_ms=60 * S).batch) == read


def test_a_failed_batch_is_tried_again_as_it_was_without_what_came_meanwhile() -> None:
    failed = after_failure([turn(1, 0), turn(2, 1)], RULES, now_ms=40 * S, is_sources_fault=False)
    waiting = [*failed.turns, turn(3, 50)]
    assert numbers(next_step(waiting, RULES, now_ms=70 * S).batch) == [1, 2]


def test_what_came_meanwhile_does_not_wait_for_the_failed_batch() -> None:
    rules = msgspec.structs.replace(RULES, pause_ms=1_000 * S)
    failed = after_failure([turn(1, 0)], rules, now_ms=40 * S, is_sources_fault=False)
    assert numbers(next_step([*failed.turns, turn(2, 50)], rules, now_ms=80 * S).batch) == [2]


def test_a_failed_batch_whose_pause_is_over_is_not_starved_by_new_turns() -> None:
    failed = after_failure([turn(1, 0)], RULES, now_ms=0, is_sources_fault=False)
    waiting = [*failed.turns, turn(2, 31)]
    assert numbers(next_step(waiting, RULES, now_ms=100 * S).batch) == [1]


def test_pauses_double_and_are_bounded() -> None:
    assert [pause_after(failures, RULES) for failures in (1, 2, 3)] == [30 * S, 60 * S, 120 * S]
    assert pause_after(10_000, RULES) == RULES.pause_max_ms


def test_after_some_failures_a_batch_is_halved() -> None:
    batch = tuple(msgspec.structs.replace(turn(number, 0), group=1, failures=2) for number in (1, 2, 3))
    failed = after_failure(batch, RULES, now_ms=S, is_sources_fault=False)
    assert [(each.number, each.group, each.failures) for each in failed.turns] == [(1, 1, 0), (2, 2, 0), (3, 2, 0)]
    assert failed.set_aside is None


def test_a_single_turn_that_fails_too_often_is_set_aside() -> None:
    alone = msgspec.structs.replace(turn(7, 0), group=7, failures=2)
    failed = after_failure((alone,), RULES, now_ms=S, is_sources_fault=False)
    assert (failed.turns, failed.set_aside) == ((), 7)


def test_a_source_that_cannot_work_is_never_held_against_the_turns() -> None:
    waiting = tuple(turn(number, 0) for number in (1, 2))
    now_ms = 40 * S
    for _ in range(50):
        failed = after_failure(waiting, RULES, now_ms=now_ms, is_sources_fault=True)
        waiting, now_ms = failed.turns, now_ms + 30 * S
    assert [(each.group, each.failures) for each in waiting] == [(0, 0), (0, 0)]
    assert next_step(waiting, RULES, now_ms=now_ms - S).waits_for is DebounceCode.COOLED
    assert numbers(next_step([*waiting, turn(3, 50)], RULES, now_ms=now_ms).batch) == [1, 2, 3]


def test_an_empty_batch_cannot_fail() -> None:
    with pytest.raises(ValueError, match="batch: is empty"):
        after_failure((), RULES, now_ms=0, is_sources_fault=False)


@given(
    poison=st.frozensets(st.integers(1, 20), max_size=4),
    gaps_s=st.lists(st.integers(0, 200), min_size=20, max_size=20),
)
def test_every_turn_is_read_once_or_set_aside_if_it_is_poison(poison: frozenset[int], gaps_s: list[int]) -> None:
    """However turns come, and whichever no model can read: the others are read, and calls are bounded."""
    waiting: list[WaitingTurn] = []
    coming = [turn(number, sum(gaps_s[:number])) for number in range(1, 21)]
    read: list[int] = []
    aside: list[int] = []
    now_ms = cool_until_ms = calls = 0
    while coming or waiting:
        waiting += [each for each in coming if each.added_ms <= now_ms]
        coming = [each for each in coming if each.added_ms > now_ms]
        step = next_step(waiting, RULES, now_ms=now_ms, cool_until_ms=cool_until_ms)
        if step.batch:
            calls += 1
            tried = numbers(step.batch)
            waiting = [each for each in waiting if each.number not in tried]
            if poison.isdisjoint(tried):
                read += tried
            else:
                failed = after_failure(step.batch, RULES, now_ms=now_ms, is_sources_fault=False)
                waiting = sorted([*waiting, *failed.turns], key=lambda each: each.number)
                aside += [] if failed.set_aside is None else [failed.set_aside]
            cool_until_ms = cooled_until(now_ms, RULES)
        looks = [each.added_ms for each in coming[:1]] + ([] if step.look_at_ms is None else [step.look_at_ms])
        now_ms = now_ms if step.batch else min(looks)
    assert sorted(read) == sorted(set(range(1, 21)) - poison)
    assert sorted(aside) == sorted(poison)
    assert calls <= 20 + RULES.tries_max * 5 * len(poison)
