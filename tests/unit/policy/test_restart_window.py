from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recalld.models.policy.restart_window import RestartPolicy, backoff_s, decide_restart

POLICY = RestartPolicy(restarts_max=3, window_s=10.0, backoff_initial_s=1.0, backoff_max_s=8.0)

policies = st.builds(
    RestartPolicy,
    restarts_max=st.integers(0, 5),
    window_s=st.integers(1, 50).map(float),
    backoff_initial_s=st.just(0.5),
    backoff_max_s=st.floats(0.5, 100.0),
)
failure_times = st.lists(st.integers(0, 200).map(float), max_size=40).map(sorted)
jitters = st.floats(0.0, 1.0, exclude_max=True)


def granted_and_refused(policy: RestartPolicy, times_s: list[float]) -> tuple[list[float], list[float]]:
    granted: list[float] = []
    refused: list[float] = []
    history: tuple[float, ...] = ()
    for now_s in times_s:
        decision = decide_restart(policy, history, now_s=now_s, jitter=0.5)
        history = decision.granted_s
        (refused if decision.delay_s is None else granted).append(now_s)
    return granted, refused


@given(policies, failure_times)
def test_no_window_anywhere_holds_more_restarts_than_granted(policy: RestartPolicy, times_s: list[float]) -> None:
    granted, _ = granted_and_refused(policy, times_s)
    for start_s in granted:
        inside = [at_s for at_s in granted if start_s <= at_s < start_s + policy.window_s]
        assert len(inside) <= policy.restarts_max


@given(policies, failure_times)
def test_a_failure_escalates_only_when_the_window_before_it_is_full(
    policy: RestartPolicy, times_s: list[float]
) -> None:
    granted, refused = granted_and_refused(policy, times_s)
    for refused_s in refused:
        before = [at_s for at_s in granted if refused_s - policy.window_s < at_s <= refused_s]
        assert len(before) == policy.restarts_max


@given(policies, st.lists(st.floats(1.0, 5.0), min_size=1, max_size=20))
def test_failures_at_least_a_window_apart_are_restarted_for_ever(policy: RestartPolicy, gaps: list[float]) -> None:
    times_s = [0.0]
    for gap in gaps:
        times_s.append(times_s[-1] + gap * policy.window_s + 1e-6)
    _, refused = granted_and_refused(policy, times_s)
    assert bool(refused) == (policy.restarts_max == 0)


@given(policies, failure_times)
def test_the_history_never_grows_beyond_the_window(policy: RestartPolicy, times_s: list[float]) -> None:
    history: tuple[float, ...] = ()
    for now_s in times_s:
        history = decide_restart(policy, history, now_s=now_s, jitter=0.0).granted_s
        assert len(history) <= policy.restarts_max


@given(st.integers(1, 10_000), st.floats(0.0, 10.0), st.floats(10.0, 1000.0), jitters)
def test_a_wait_lies_in_the_upper_half_below_its_ceiling(
    attempt: int, initial_s: float, max_s: float, jitter: float
) -> None:
    wait_s = backoff_s(attempt, initial_s=initial_s, max_s=max_s, jitter=jitter)
    ceiling_s = min(max_s, initial_s * 2.0 ** min(attempt - 1, 62))
    assert ceiling_s / 2 <= wait_s <= ceiling_s


def test_waits_double_up_to_the_ceiling() -> None:
    waits = [backoff_s(attempt, initial_s=1.0, max_s=6.0, jitter=0.0) for attempt in range(1, 6)]
    assert waits == [0.5, 1.0, 2.0, 3.0, 3.0]


def test_a_restart_granted_exactly_one_window_ago_no_longer_counts() -> None:
    history = (0.0, 1.0, 2.0)
    assert decide_restart(POLICY, history, now_s=9.999, jitter=0.0).delay_s is None
    decision = decide_restart(POLICY, history, now_s=10.0, jitter=0.0)
    assert decision.granted_s == (1.0, 2.0, 10.0)
    assert decision.delay_s == 2.0


def test_the_wait_shrinks_again_once_failures_have_left_the_window() -> None:
    assert decide_restart(POLICY, (0.0, 1.0), now_s=2.0, jitter=0.0).delay_s == 2.0
    assert decide_restart(POLICY, (0.0, 1.0), now_s=20.0, jitter=0.0).delay_s == 0.5


@pytest.mark.parametrize(
    ("field", "values"),
    [
        ("restarts_max", (-1, 1.0, 1.0, 1.0)),
        ("window_s", (1, 0.0, 1.0, 1.0)),
        ("window_s", (1, float("nan"), 1.0, 1.0)),
        ("backoff_initial_s", (1, 1.0, 2.0, 1.0)),
        ("backoff_initial_s", (1, 1.0, -1.0, 1.0)),
    ],
)
def test_a_policy_that_means_nothing_is_refused_by_the_name_of_its_field(
    field: str, values: tuple[int, float, float, float]
) -> None:
    restarts_max, window_s, backoff_initial_s, backoff_max_s = values
    with pytest.raises(ValueError, match=field):
        RestartPolicy(
            restarts_max=restarts_max,
            window_s=window_s,
            backoff_initial_s=backoff_initial_s,
            backoff_max_s=backoff_max_s,
        )
