"""Waku's keep and slot gates: a score, a threshold, and the shape of call that the threshold belongs to."""

import math

import pytest
from decide_requests import ask, judged

from recalld.models.domain.decide import CallShape, DecideCandidate
from recalld.models.domain.decision import CandidateReason, DecideReason, GateDecision

GATES = ("waku_keep", "waku_slot")


def fact(name: str, score: float | None) -> DecideCandidate:
    return DecideCandidate(id=name, text=f"fact {name}", score=score)


@pytest.mark.parametrize("gate", GATES)
def test_facts_at_or_above_the_threshold_are_kept_in_the_callers_order(gate: str) -> None:
    facts = (fact("a", 1.8), fact("b", 1.79), fact("c", 3.0))
    decision = ask(gate, call_shape=CallShape.SINGLE, candidates=facts)
    assert (decision.decision, decision.params.items) == (GateDecision.RUN, ("a", "c"))
    assert decision.evidence.thresholds == {"single": 1.8}


@pytest.mark.parametrize("gate", GATES)
def test_the_threshold_of_one_call_shape_is_not_used_for_another(gate: str) -> None:
    decision = ask(gate, call_shape=CallShape.BATCHED, candidates=(fact("a", 3.0), fact("b", 0.1)))
    assert (decision.decision, decision.reason_code) == (GateDecision.DEFER, DecideReason.SHAPE_NOT_CALIBRATED)
    assert decision.params.items == ()
    assert decision.params.limits.batch_max == 1


@pytest.mark.parametrize("gate", GATES)
def test_what_is_dropped_is_recorded_with_score_and_threshold(gate: str) -> None:
    decision = ask(gate, call_shape=CallShape.SINGLE, candidates=(fact("a", 0.4),))
    assert (decision.decision, decision.reason_code) == (GateDecision.SKIP, DecideReason.NONE_PASSED)
    dropped = judged(decision)["a"]
    assert (dropped.reason, dropped.score, dropped.threshold) == (CandidateReason.BELOW_THRESHOLD, 0.4, 1.8)


@pytest.mark.parametrize("score", [None, math.nan, math.inf])
def test_a_missing_or_senseless_score_drops_that_fact_alone_and_is_said(score: float | None) -> None:
    decision = ask("waku_keep", call_shape=CallShape.SINGLE, candidates=(fact("a", score), fact("b", 2.0)))
    assert decision.params.items == ("b",)
    assert judged(decision)["a"].reason is CandidateReason.NOT_SCORED
    assert decision.is_degraded


def test_without_the_shape_of_the_call_the_direction_for_missing_input_holds() -> None:
    assert ask("waku_keep", candidates=(fact("a", 3.0),)).decision is GateDecision.SKIP
    slot = ask("waku_slot", candidates=(fact("a", 3.0),))
    assert (slot.decision, slot.reason_code) == (GateDecision.DEFER, DecideReason.MISSING_INPUT)
    assert slot.params.missing == ("call_shape",)


def test_nothing_proposed_is_nothing_to_do() -> None:
    assert ask("waku_slot", call_shape=CallShape.SINGLE).reason_code is DecideReason.NO_CANDIDATES
