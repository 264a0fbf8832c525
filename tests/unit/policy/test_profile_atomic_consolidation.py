"""Atomic's consolidation: when a tick runs, over which clusters, with how many calls, and what its counts must say."""

from __future__ import annotations

import msgspec
import pytest
from decide_requests import KNOWLEDGE, NOW_MS, ask, judged

from recalld.models.domain.decide import DecideCandidate
from recalld.models.domain.decision import CandidateReason, DecideReason, Decision, GateDecision
from recalld.models.policy.profiles.knowledge import Knowledge, TickState

HOUR_MS = 3_600_000
GATE = "atomic_consolidation"


def cluster(name: str, records: int = 3, *, age_h: float = 24) -> tuple[DecideCandidate, ...]:
    at_ms = NOW_MS - round(age_h * HOUR_MS)
    return tuple(DecideCandidate(id=f"{name}{place}", cluster=name, at_ms=at_ms) for place in range(records))


def tick(*candidates: DecideCandidate, latest: TickState | None = None) -> Decision:
    knowledge: Knowledge = msgspec.structs.replace(KNOWLEDGE, tick=latest)
    return ask(GATE, knowledge=knowledge, now_ms=NOW_MS, candidates=candidates)


def ended(**usage: int) -> Decision:
    return ask(GATE, now_ms=NOW_MS, usage=usage)


@pytest.mark.parametrize(("since_h", "reason"), [(5.99, DecideReason.NOT_DUE), (6, DecideReason.CLUSTERS_DUE)])
def test_a_tick_runs_every_six_hours(since_h: float, reason: DecideReason) -> None:
    latest = TickState(started_ms=NOW_MS - round(since_h * HOUR_MS), lease_until_ms=None)
    assert tick(*cluster("a"), latest=latest).reason_code is reason


@pytest.mark.parametrize(("age_h", "reason"), [(23.9, CandidateReason.TOUCHED_LATELY), (24, CandidateReason.PASSED)])
def test_a_cluster_must_be_untouched_for_a_day(age_h: float, reason: CandidateReason) -> None:
    assert judged(tick(*cluster("a", age_h=age_h)))["a0"].reason is reason


def test_one_record_that_was_touched_keeps_its_whole_cluster_waiting() -> None:
    touched = DecideCandidate(id="late", cluster="a", at_ms=NOW_MS - HOUR_MS)
    assert tick(*cluster("a"), touched).reason_code is DecideReason.NO_CLUSTERS


@pytest.mark.parametrize(("records", "reason"), [(2, CandidateReason.SMALL_CLUSTER), (3, CandidateReason.PASSED)])
def test_a_cluster_has_at_least_three_records(records: int, reason: CandidateReason) -> None:
    assert judged(tick(*cluster("a", records)))["a0"].reason is reason


def test_records_of_no_cluster_are_none() -> None:
    assert tick(*cluster("", 5)).reason_code is DecideReason.NO_CLUSTERS


def test_at_most_five_clusters_a_tick_and_those_left_alone_the_longest_first() -> None:
    records = [record for place, name in enumerate("abcdefg") for record in cluster(name, age_h=24 + place)]
    decision = tick(*records)
    assert decision.params.targets == tuple("gfedc")
    assert decision.evidence.counts == {
        "clusters": 7,
        "passed": 5,
        "small_cluster": 0,
        "touched_lately": 0,
        "over_limit": 2,
    }


def test_a_cluster_gets_one_call_even_for_lesson_and_procedure() -> None:
    assert tick(*cluster("a")).params.limits.batch_max == 1
    assert ended(clusters=1, calls=1, merged=1, abstained=0, failed=0).reason_code is DecideReason.TICK_ENDED
    assert ended(clusters=1, calls=2, merged=1, abstained=0, failed=0).reason_code is DecideReason.COUNTS_DIFFER


def test_abstaining_is_not_failing() -> None:
    decision = ended(clusters=3, calls=3, merged=1, abstained=2, failed=0)
    assert decision.reason_code is DecideReason.TICK_ENDED
    assert decision.evidence.counts["abstained"] == 2
    assert not decision.is_degraded


@pytest.mark.parametrize(
    "usage",
    [
        {"clusters": 3, "calls": 3, "merged": 1, "abstained": 1, "failed": 0},
        {"clusters": 6, "calls": 6, "merged": 6, "abstained": 0, "failed": 0},
        {"clusters": 1, "calls": 1, "merged": 2, "abstained": -1, "failed": 0},
        {"clusters": 1, "calls": 1, "merged": 1},
    ],
)
def test_counts_that_do_not_reconcile_are_refused(usage: dict[str, int]) -> None:
    decision = ended(**usage)
    assert (decision.decision, decision.reason_code) == (GateDecision.REFUSE, DecideReason.COUNTS_DIFFER)


def test_overlapping_ticks_report_busy_until_the_lease_is_over() -> None:
    latest = TickState(started_ms=NOW_MS - 7 * HOUR_MS, lease_until_ms=NOW_MS + 1)
    busy = tick(*cluster("a"), latest=latest)
    assert (busy.decision, busy.reason_code, busy.params.not_before_ms) == (
        GateDecision.DEFER,
        DecideReason.BUSY,
        NOW_MS + 1,
    )
    over = msgspec.structs.replace(latest, lease_until_ms=NOW_MS)
    assert tick(*cluster("a"), latest=over).reason_code is DecideReason.CLUSTERS_DUE


def test_what_a_tick_needs_is_named() -> None:
    assert ask(GATE, candidates=cluster("a")).params.missing == ("now",)
    assert tick(DecideCandidate(id="a", cluster="a")).params.missing == ("candidates.at_ms", "candidates.age_ms")
