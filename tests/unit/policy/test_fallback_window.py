from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recalld.models.domain.reasons import DegradedReason
from recalld.models.policy.fallback_window import BUCKETS, FallbackWindow, counts, record

WINDOW_S = 600.0
reasons = st.none() | st.sampled_from(list(DegradedReason))


def test_counts_are_by_reason_and_include_healthy_recalls() -> None:
    window = FallbackWindow(window_s=WINDOW_S)
    for reason in (None, None, DegradedReason.QUEUE_FULL, DegradedReason.QUEUE_FULL, DegradedReason.BREAKER_OPEN):
        window = record(window, reason, now_s=5.0)
    seen = counts(window, now_s=5.0)
    assert seen.recalls == 5
    assert seen.degraded == {"queue_full": 2, "breaker_open": 1}
    assert seen.degraded_share == pytest.approx(0.6)


def test_an_empty_window_has_a_share_of_zero() -> None:
    assert counts(FallbackWindow(window_s=WINDOW_S), now_s=0.0).degraded_share == 0.0


def test_the_window_slides() -> None:
    window = record(FallbackWindow(window_s=WINDOW_S), DegradedReason.QUEUE_FULL, now_s=0.0)
    window = record(window, None, now_s=WINDOW_S / 2)
    assert counts(window, now_s=WINDOW_S).recalls == 2
    later = counts(window, now_s=WINDOW_S * (1 + 2 / BUCKETS))
    assert (later.recalls, later.degraded) == (1, {})


@given(st.lists(st.tuples(st.floats(0, 60), reasons), max_size=80))
def test_everything_within_the_window_is_counted_and_little_else(
    script: list[tuple[float, DegradedReason | None]],
) -> None:
    window, now_s = FallbackWindow(window_s=WINDOW_S), 0.0
    times = []
    for step_s, reason in script:
        now_s += step_s
        times.append(now_s)
        window = record(window, reason, now_s=now_s)
    seen = counts(window, now_s=now_s).recalls
    bucket_s = WINDOW_S / BUCKETS
    assert sum(time_s > now_s - WINDOW_S for time_s in times) <= seen
    assert seen <= sum(time_s >= now_s - WINDOW_S - bucket_s - 1e-6 for time_s in times)
    assert len(window.buckets) <= BUCKETS + 1


def test_a_clock_that_steps_back_loses_no_recall() -> None:
    window = record(FallbackWindow(window_s=WINDOW_S), None, now_s=100.0)
    assert counts(record(window, None, now_s=50.0), now_s=100.0).recalls == 2


@pytest.mark.parametrize("window_s", [0.0, -1.0, float("nan")])
def test_a_window_must_be_above_zero(window_s: float) -> None:
    with pytest.raises(ValueError, match="window_s"):
        FallbackWindow(window_s=window_s)
