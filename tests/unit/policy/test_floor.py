from __future__ import annotations

from collections.abc import Callable

import pytest

from recalld.models.domain.recall import Candidate, Evidence
from recalld.models.policy.floor import FloorResult, FloorValues, passes_floor, split_by_floor

FLOORS = FloorValues(record=0.5, cue=0.6, ask=0.7)


@pytest.mark.parametrize(
    ("evidence", "expected"),
    [
        (Evidence(cosine=0.5), FloorResult.PASSED),
        (Evidence(cosine=0.49), FloorResult.BELOW),
        (Evidence(cosine=0.1, cue_cosine=0.6), FloorResult.PASSED),
        (Evidence(cosine=0.1, cue_cosine=0.59), FloorResult.BELOW),
        (Evidence(cosine=0.1, ask_cosine=0.7), FloorResult.PASSED),
        (Evidence(cosine=0.1, cue_cosine=0.59, ask_cosine=0.69), FloorResult.BELOW),
        (Evidence(lexical=3.0), FloorResult.BYPASSED),
        (Evidence(), FloorResult.BYPASSED),
        (Evidence(cosine=float("nan")), FloorResult.BYPASSED),
        (Evidence(cosine=float("nan"), ask_cosine=0.1), FloorResult.BELOW),
    ],
)
def test_each_cosine_is_held_against_its_own_floor_and_the_best_counts(
    evidence: Evidence, expected: FloorResult
) -> None:
    assert passes_floor(evidence, FLOORS) is expected


def test_splitting_keeps_order_and_marks_what_bypassed(make_candidate: Callable[..., Candidate]) -> None:
    above, below = make_candidate("mem_a", cosine=0.9), make_candidate("mem_b", cosine=0.1)
    pending = make_candidate("mem_c", lexical=2.0)
    split = split_by_floor([pending, below, above], FLOORS)
    assert split.passed == (pending, above)
    assert split.below == (below,)
    assert split.bypassed == {"mem_c"}


@pytest.mark.parametrize("field", ["record", "cue", "ask"])
@pytest.mark.parametrize("value", [-1.0, 1.0, 40.0, float("nan")])
def test_a_floor_outside_the_range_of_a_cosine_is_refused_by_name(field: str, value: float) -> None:
    with pytest.raises(ValueError, match=f"floors.{field}"):
        FloorValues(**{"record": 0.5, "cue": 0.5, "ask": 0.5, field: value})
