from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recalld.models.policy.rate_limit import (
    CAUSES_MAX,
    OTHER_CAUSE,
    CauseWindow,
    Cooldowns,
    Emission,
    flush,
    offer,
    recover,
)


def test_the_first_of_each_cause_is_immediate_and_later_ones_carry_what_was_held_back() -> None:  # R25
    cooldowns = Cooldowns(cooldown_s=300.0)
    emitted = []
    for number in range(200):
        now_s = number * 3.0
        for cause in ("sub_budget_exceeded", "scorer_unavailable"):
            cooldowns, emission = offer(cooldowns, cause, now_s=now_s)
            emitted.append((now_s, emission))
    events = [(now_s, emission.cause, emission.suppressed_count) for now_s, emission in emitted if emission]
    assert events == [
        (0.0, "sub_budget_exceeded", 0),
        (0.0, "scorer_unavailable", 0),
        (300.0, "sub_budget_exceeded", 99),
        (300.0, "scorer_unavailable", 99),
    ]
    _, recovered = recover(cooldowns)
    assert recovered == (
        Emission(cause="sub_budget_exceeded", suppressed_count=99),
        Emission(cause="scorer_unavailable", suppressed_count=99),
    )


def test_recovery_tells_the_counts_once_and_leaves_the_cooldowns_running() -> None:
    cooldowns, _ = offer(Cooldowns(cooldown_s=300.0), "a", now_s=0.0)
    cooldowns, _ = offer(cooldowns, "a", now_s=1.0)
    cooldowns, told = recover(cooldowns)
    assert told == (Emission(cause="a", suppressed_count=1),)
    assert recover(cooldowns)[1] == (Emission(cause="a", suppressed_count=0),)
    cooldowns, emission = offer(cooldowns, "a", now_s=299.0)
    assert emission is None
    assert offer(cooldowns, "a", now_s=300.0)[1] == Emission(cause="a", suppressed_count=1)
    assert recover(Cooldowns(cooldown_s=300.0))[1] == ()


def test_a_quiet_window_does_not_swallow_its_count() -> None:
    cooldowns = Cooldowns(cooldown_s=10.0)
    for now_s in (0.0, 1.0, 2.0):
        cooldowns, _ = offer(cooldowns, "a", now_s=now_s)
    cooldowns, _ = offer(cooldowns, "b", now_s=0.0)
    cooldowns, early = flush(cooldowns, now_s=9.0)
    assert early == ()
    cooldowns, late = flush(cooldowns, now_s=10.0)
    assert late == (Emission(cause="a", suppressed_count=2),)
    assert cooldowns.causes == {"a": CauseWindow(emitted_s=10.0)}
    assert flush(cooldowns, now_s=20.0) == (Cooldowns(cooldown_s=10.0), ())


def test_too_many_causes_are_counted_together_and_memory_stays_bounded() -> None:
    cooldowns = Cooldowns(cooldown_s=10.0)
    for number in range(CAUSES_MAX + 5):
        cooldowns, _ = offer(cooldowns, f"cause_{number}", now_s=0.0)
    assert len(cooldowns.causes) == CAUSES_MAX + 1
    assert cooldowns.causes[OTHER_CAUSE].suppressed_count == 4


@given(st.lists(st.tuples(st.sampled_from("abc"), st.floats(0.01, 20.0)), max_size=80))
def test_nothing_is_lost_and_nothing_comes_twice_within_a_cooldown(script: list[tuple[str, float]]) -> None:
    cooldowns, now_s = Cooldowns(cooldown_s=10.0), 0.0
    last_s: dict[str, float] = {}
    accounted = 0
    for place, (cause, step_s) in enumerate(script):
        now_s += step_s
        cooldowns, emission = offer(cooldowns, cause, now_s=now_s)
        if emission is not None:
            assert now_s - last_s.get(cause, -100.0) >= 10.0
            last_s[cause] = now_s
            accounted += 1 + emission.suppressed_count
        if place % 7 == 0:
            cooldowns, flushed = flush(cooldowns, now_s=now_s)
            accounted += sum(item.suppressed_count for item in flushed)
            last_s |= {item.cause: now_s for item in flushed}
    accounted += sum(item.suppressed_count for item in recover(cooldowns)[1])
    assert accounted == len(script)


@pytest.mark.parametrize("cooldown_s", [0.0, -1.0, float("nan")])
def test_a_cooldown_must_be_above_zero(cooldown_s: float) -> None:
    with pytest.raises(ValueError, match="cooldown_s"):
        Cooldowns(cooldown_s=cooldown_s)
