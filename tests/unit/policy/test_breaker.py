from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recalld.models.domain.health import BreakerState
from recalld.models.policy.breaker import Breaker, BreakerPolicy, admit, on_failure, on_success

POLICY = BreakerPolicy(failures_max=3, open_s=10.0, trial_s=5.0)


def opened(now_s: float = 0.0) -> Breaker:
    breaker = Breaker()
    for _ in range(POLICY.failures_max):
        breaker = on_failure(breaker, POLICY, now_s=now_s)
    return breaker


def test_it_opens_after_failures_in_a_row_and_a_success_between_starts_the_count_again() -> None:
    breaker = Breaker()
    for _ in range(2):
        breaker = on_failure(breaker, POLICY, now_s=0.0)
    assert breaker.state is BreakerState.CLOSED
    breaker = on_success(breaker)
    for _ in range(2):
        breaker = on_failure(breaker, POLICY, now_s=0.0)
    assert breaker.state is BreakerState.CLOSED
    assert on_failure(breaker, POLICY, now_s=0.0).state is BreakerState.OPEN


def test_open_it_admits_nothing_until_its_time_and_then_exactly_one() -> None:
    breaker = opened(now_s=100.0)
    breaker, is_admitted = admit(breaker, POLICY, now_s=109.9)
    assert not is_admitted
    breaker, is_admitted = admit(breaker, POLICY, now_s=110.0)
    assert is_admitted
    assert breaker.state is BreakerState.HALF_OPEN
    assert not admit(breaker, POLICY, now_s=110.1)[1]


def test_the_trial_closes_it_or_opens_it_for_another_while() -> None:
    trial, _ = admit(opened(), POLICY, now_s=10.0)
    assert on_success(trial) == Breaker()
    again = on_failure(trial, POLICY, now_s=11.0)
    assert again == Breaker(state=BreakerState.OPEN, since_s=11.0)
    assert not admit(again, POLICY, now_s=20.9)[1]


def test_a_trial_that_never_answers_does_not_keep_it_shut_for_ever() -> None:
    trial, _ = admit(opened(), POLICY, now_s=10.0)
    assert not admit(trial, POLICY, now_s=14.9)[1]
    assert admit(trial, POLICY, now_s=15.0)[1]


def test_late_answers_of_calls_made_before_it_opened_change_nothing() -> None:
    breaker = opened(now_s=0.0)
    assert on_success(breaker) == breaker
    assert on_failure(breaker, POLICY, now_s=9.0) == breaker


def test_closed_it_admits_everything_and_stays_as_it_is() -> None:
    breaker = Breaker(failures=2)
    assert admit(breaker, POLICY, now_s=5.0) == (breaker, True)


@given(st.lists(st.tuples(st.sampled_from(["ask", "good", "bad"]), st.floats(0.1, 8.0)), max_size=60))
def test_it_is_never_shut_for_longer_than_its_longest_wait(script: list[tuple[str, float]]) -> None:
    breaker, now_s = Breaker(), 0.0
    for event, step_s in script:
        now_s += step_s
        match event:
            case "ask":
                breaker, _ = admit(breaker, POLICY, now_s=now_s)
            case "good":
                breaker = on_success(breaker)
            case _:
                breaker = on_failure(breaker, POLICY, now_s=now_s)
    # A hair more than the wait: sums of floats may fall short of it by a rounding.
    assert admit(breaker, POLICY, now_s=now_s + POLICY.open_s + 1e-6)[1]


@pytest.mark.parametrize("change", [{"failures_max": 0}, {"open_s": 0.0}, {"trial_s": -1.0}])
def test_a_policy_that_cannot_work_is_refused(change: dict[str, float]) -> None:
    with pytest.raises(ValueError, match="failures_max"):
        BreakerPolicy(**change)  # type: ignore[arg-type]
