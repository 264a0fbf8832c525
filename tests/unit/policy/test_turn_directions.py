from __future__ import annotations

import pytest

from recalld.models.policy.turn.directions import (
    DEFAULT_DIRECTIONS,
    Directions,
    GateAnswer,
    GateCause,
    GateOperation,
    direction,
)

DOCUMENTED = {
    "recall": "run",
    "rewrite": "run",
    "inject": "skip",
    "probe": "skip",
    "tune": "skip",
    "sweep": "refuse",
    "write": "refuse",
    "extract": "defer",
    "consolidate": "defer",
}
"""Open, closed, refused or left pending, whatever the cause."""

MIXED = Directions(
    on_weak=GateAnswer.RUN,
    on_error=GateAnswer.SKIP,
    on_timeout=GateAnswer.DEFER,
    on_missing_input=GateAnswer.REFUSE,
    on_budget=GateAnswer.SKIP,
)


@pytest.mark.parametrize("cause", GateCause)
@pytest.mark.parametrize("op", GateOperation)
def test_every_operation_goes_its_documented_way_on_every_failure(op: GateOperation, cause: GateCause) -> None:
    assert direction(op, cause) == DOCUMENTED[op]


def test_the_documented_operations_are_all_there_are() -> None:
    assert set(DOCUMENTED) == set(GateOperation) == set(DEFAULT_DIRECTIONS)


@pytest.mark.parametrize("cause", GateCause)
@pytest.mark.parametrize("op", GateOperation)
def test_each_knob_is_its_own_and_turns_one_operation_only(op: GateOperation, cause: GateCause) -> None:
    assert direction(op, cause, table={op: MIXED}) is getattr(MIXED, f"on_{cause}")
    other = next(each for each in GateOperation if each is not op)
    assert direction(other, cause, table={op: MIXED}) == DOCUMENTED[other]
