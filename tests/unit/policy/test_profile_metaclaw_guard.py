"""MetaClaw's guard: tuning is declined below five active memories, promotions below ten samples, knobs have bounds."""

from __future__ import annotations

import math

import msgspec
import pytest
from decide_requests import KNOWLEDGE, ask, judged

from recalld.models.domain.decide import DecideCandidate
from recalld.models.domain.decision import CandidateReason, DecideReason, GateDecision


def knob(name: str, value: float | None) -> DecideCandidate:
    return DecideCandidate(id=name, score=value)


@pytest.mark.parametrize(
    ("active", "decision", "reason"),
    [(4, GateDecision.REFUSE, DecideReason.FEW_MEMORIES), (5, GateDecision.RUN, DecideReason.WITHIN_BOUNDS)],
)
def test_tuning_is_declined_below_five_active_memories(
    active: int, decision: GateDecision, reason: DecideReason
) -> None:
    made = ask("metaclaw_tune", counters={"active_memories": active})
    assert (made.decision, made.reason_code) == (decision, reason)
    assert made.evidence.counts == {"active_memories": active}


@pytest.mark.parametrize(("samples", "reason"), [(9, DecideReason.FEW_SAMPLES), (10, DecideReason.WITHIN_BOUNDS)])
def test_a_promotion_needs_ten_samples(samples: int, reason: DecideReason) -> None:
    made = ask("metaclaw_promote", counters={"active_memories": 5, "samples": samples})
    assert made.reason_code is reason
    assert made.evidence.counts == {"active_memories": 5, "samples": samples}


def test_a_promotion_needs_memories_as_well_and_never_goes_without_its_samples() -> None:
    few = ask("metaclaw_promote", counters={"active_memories": 4, "samples": 100})
    assert few.reason_code is DecideReason.FEW_MEMORIES
    unknown = ask("metaclaw_promote", counters={"active_memories": 50})
    assert (unknown.decision, unknown.params.missing) == (GateDecision.REFUSE, ("counters.samples",))


@pytest.mark.parametrize(
    ("name", "value", "reason"),
    [
        ("recall_limit", 1, CandidateReason.PASSED),
        ("recall_limit", 20, CandidateReason.PASSED),
        ("recall_limit", 0.99, CandidateReason.OUT_OF_BOUNDS),
        ("recall_limit", 20.01, CandidateReason.OUT_OF_BOUNDS),
        ("recall_limit", math.inf, CandidateReason.NOT_SCORED),
        ("recall_limit", None, CandidateReason.NOT_SCORED),
        ("api_key", 1, CandidateReason.UNKNOWN_KNOB),
    ],
)
def test_knobs_have_hard_bounds(name: str, value: float | None, reason: CandidateReason) -> None:
    made = ask("metaclaw_tune", counters={"active_memories": 5}, candidates=(knob(name, value),))
    assert judged(made)[name].reason is reason
    assert made.params.items == ((name,) if reason is CandidateReason.PASSED else ())


def test_the_daemon_counts_its_own_memories_when_the_caller_does_not() -> None:
    few = ask("metaclaw_tune", knowledge=msgspec.structs.replace(KNOWLEDGE, active_memories=4))
    assert (few.reason_code, few.evidence.counts) == (DecideReason.FEW_MEMORIES, {"active_memories": 4})
    assert ask("metaclaw_tune").params.missing == ("counters.active_memories",)
