"""Redis' debounced extraction: one call for a burst, and the situations in which such queues lose turns."""

from __future__ import annotations

import pytest
from decide_requests import NOW_MS, Fields, ask, judged

from recalld.models.domain.decide import DecideCandidate
from recalld.models.domain.decision import CandidateReason, DecideReason, Decision, GateDecision

S = 1_000


def turn(name: str, age_s: float, *, batch: str = "", failures: int = 0) -> DecideCandidate:
    return DecideCandidate(
        id=name, text=f"turn {name}", at_ms=NOW_MS - round(age_s * S), cluster=batch, failures=failures
    )


def debounce(*turns: DecideCandidate, gate: str = "redis_debounce", **counters: int) -> Decision:
    fields: Fields = {"now_ms": NOW_MS, "candidates": turns, "counters": counters}
    return ask(gate, **fields)


def test_a_burst_of_three_gives_one_extraction_thirty_seconds_after_the_last() -> None:
    early = debounce(turn("a", 38), turn("b", 34), turn("c", 29))
    assert (early.decision, early.reason_code) == (GateDecision.DEFER, DecideReason.QUIET_AWAITED)
    assert early.params.not_before_ms == NOW_MS + 1 * S
    assert {each.reason for each in early.evidence.candidates} == {CandidateReason.WAITING}
    late = debounce(turn("a", 39), turn("b", 35), turn("c", 30))
    assert (late.decision, late.params.items) == (GateDecision.RUN, ("a", "b", "c"))


def test_steady_chatter_does_not_put_extraction_off_for_ever() -> None:
    chatter = [turn(str(place), 300 - 20 * place) for place in range(16)]
    assert debounce(*chatter).reason_code is DecideReason.BATCH_DUE


def test_a_cooldown_defers_and_keeps_every_turn() -> None:
    cooled = debounce(turn("a", 45), called_ms=NOW_MS - 20 * S)
    assert (cooled.decision, cooled.reason_code) == (GateDecision.DEFER, DecideReason.COOLING_DOWN)
    assert cooled.params.not_before_ms == NOW_MS + 40 * S
    assert cooled.evidence.counts["waiting"] == 1
    assert debounce(turn("a", 85), called_ms=NOW_MS - 60 * S).params.items == ("a",)


def test_a_turn_that_came_during_the_call_is_read_next() -> None:
    came = debounce(turn("during", 61), called_ms=NOW_MS - 60 * S)
    assert came.params.items == ("during",)


def test_a_late_worker_still_reads_everything() -> None:
    late = debounce(turn("a", 9 * 86_400), turn("b", 3 * 86_400))
    assert late.params.items == ("a", "b")


def test_nothing_waiting_is_another_answer_than_quiet_cooldown_or_expiry() -> None:
    assert debounce().reason_code is DecideReason.NOTHING_WAITING
    expired = debounce(turn("a", 31 * 86_400), turn("b", 60))
    assert judged(expired)["a"].reason is CandidateReason.EXPIRED
    assert (expired.params.items, expired.evidence.counts["expired"]) == (("b",), 1)


def test_without_the_time_or_an_age_the_decision_says_what_is_missing() -> None:
    assert ask("redis_debounce", candidates=(turn("a", 0),)).params.missing == ("now",)
    ageless = debounce(DecideCandidate(id="a", text="x"))
    assert (ageless.decision, ageless.params.missing) == (
        GateDecision.DEFER,
        ("candidates.at_ms", "candidates.age_ms"),
    )


def test_whoever_forces_it_does_not_wait() -> None:
    assert debounce(turn("a", 1), called_ms=NOW_MS, forced=1).reason_code is DecideReason.BATCH_DUE


@pytest.mark.parametrize(("waiting", "decision"), [(5, GateDecision.DEFER), (6, GateDecision.RUN)])
def test_waku_reads_at_six_exchanges_and_not_before(waiting: int, decision: GateDecision) -> None:
    exchanges = [turn(str(place), 3_600 - place) for place in range(waiting)]
    assert debounce(*exchanges, gate="waku_batch").decision is decision


def test_waku_batch_that_failed_is_tried_again_without_what_came_meanwhile() -> None:
    failed = [turn(name, 900, batch="b1", failures=1) for name in "abcdef"]
    again = debounce(*failed, turn("new", 10), gate="waku_batch", called_ms=NOW_MS - 31 * S)
    assert again.params.items == tuple("abcdef")
    pausing = debounce(*failed, turn("new", 10), gate="waku_batch", called_ms=NOW_MS - 29 * S)
    assert pausing.reason_code is DecideReason.COOLING_DOWN


def test_waku_batch_that_always_fails_is_halved_down_to_the_turn_that_fails_alone() -> None:
    failed = [turn(name, 900, batch="b1", failures=3) for name in "abcdef"]
    assert debounce(*failed, gate="waku_batch", called_ms=NOW_MS).params.items == ("a", "b", "c")
    alone = debounce(turn("c", 900, batch="b1", failures=3), gate="waku_batch", called_ms=NOW_MS)
    assert judged(alone)["c"].reason is CandidateReason.SET_ASIDE
    assert (alone.reason_code, alone.evidence.counts["set_aside"]) == (DecideReason.NOTHING_WAITING, 1)
