from __future__ import annotations

import itertools

from hypothesis import given
from hypothesis import strategies as st
from lab_rows import judged, result

from recalld.models.lab.curve import trade_off

SCORES = st.floats(0.0, 1.0)


def test_a_threshold_between_helpful_and_useless_scores_keeps_one_and_stays_silent_on_the_other() -> None:
    rows = [
        result("a", judged("r", injected=True, score=0.9), judged("x", injected=True, score=0.95), relevant=("r",)),
        result("b", judged("r", injected=False, score=0.4), relevant=("r",)),
        result("c", judged("x", injected=True, score=0.5), is_answerable=False),
        result("d", is_answerable=False),
    ]
    points = {point.threshold: (point.retention.k, point.silence.k) for point in trade_off(rows)}
    assert points == {0.4: (2, 1), 0.5: (1, 1), 0.9: (1, 2)}


def test_an_arm_without_scores_has_no_curve() -> None:
    assert trade_off([result("a", judged("r", injected=True), relevant=("r",))]) == ()
    assert trade_off([]) == ()


@given(st.lists(SCORES, min_size=1, max_size=30), st.lists(SCORES, min_size=1, max_size=30), st.integers(2, 10))
def test_silence_rises_and_retention_falls_with_the_threshold(
    helped: list[float], shown: list[float], most: int
) -> None:
    rows = [
        *(result(f"h{i}", judged("r", injected=True, score=score), relevant=("r",)) for i, score in enumerate(helped)),
        *(
            result(f"s{i}", judged("x", injected=True, score=score), is_answerable=False)
            for i, score in enumerate(shown)
        ),
    ]
    points = trade_off(rows, points_max=most)
    assert 1 <= len(points) <= most
    assert points[0].silence.k == 0 or points[0].retention.k == len(helped)
    for low, high in itertools.pairwise(points):
        assert low.threshold < high.threshold
        assert low.silence.k <= high.silence.k
        assert low.retention.k >= high.retention.k
