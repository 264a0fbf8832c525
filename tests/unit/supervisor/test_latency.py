from __future__ import annotations

import pytest

from recalld.actors.supervisor.latency import SAMPLES_MAX, LatencyWindow, percentile


def test_the_percentile_is_the_nearest_rank() -> None:
    values = [float(number) for number in range(1, 101)]
    assert percentile(values, 0.5) == 50
    assert percentile(values, 0.95) == 95
    assert percentile(values, 1.0) == 100
    assert percentile([7.0], 0.01) == 7


@pytest.mark.parametrize(("values", "share"), [([], 0.5), ([1.0], 0.0), ([1.0], 1.1)])
def test_a_percentile_of_nothing_or_outside_is_refused(values: list[float], share: float) -> None:
    with pytest.raises(ValueError, match="percentile"):
        percentile(values, share)


def test_the_oldest_sample_makes_room() -> None:
    window = LatencyWindow()
    window.add("total", 1e9)
    for _ in range(SAMPLES_MAX):
        window.add("total", 5.0)
    assert window.percentiles() == {"total_p50": 5.0, "total_p95": 5.0}
