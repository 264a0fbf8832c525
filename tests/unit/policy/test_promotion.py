from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from recalld.models.domain.admission_store import AdmissionLimits, Evidence
from recalld.models.domain.facts import Generator
from recalld.models.domain.reasons import AdmissionReason
from recalld.models.policy.promotion import counted, is_due, needs_yes, turn_of

LIMITS = AdmissionLimits(promote_after=3, promote_sessions=2, promote_window_ms=1_000)


def turn(
    session: str = "a",
    turn_id: str = "t",
    at_ms: int = 0,
    reason: AdmissionReason = AdmissionReason.JUDGED,
    decision_id: str = "",
) -> Evidence:
    return Evidence(
        session=session,
        turn_id=turn_id,
        at_ms=at_ms,
        generator=Generator.JUDGE,
        rule="judge",
        reason=reason,
        decision_id=decision_id,
    )


def test_turns_count_once_and_within_the_window_only() -> None:
    evidence = [turn("a", "1", 5), turn("a", "1", 9), turn("b", "1", 5), turn("c", "1", 4)]
    assert counted(evidence, since_ms=5) == (2, 2)
    assert counted([], since_ms=0) == (0, 0)


def test_enough_turns_in_enough_sessions_are_due() -> None:
    assert is_due([turn("a", "1"), turn("a", "2"), turn("b", "3")], LIMITS, now_ms=500)
    assert not is_due([turn("a", "1"), turn("a", "2"), turn("a", "3")], LIMITS, now_ms=500)
    assert not is_due([turn("a", "1"), turn("b", "2")], LIMITS, now_ms=500)


def test_the_window_includes_its_first_moment() -> None:
    evidence = [turn("a", "1"), turn("a", "2"), turn("b", "3")]
    assert is_due(evidence, LIMITS, now_ms=1_000)
    assert not is_due(evidence, LIMITS, now_ms=1_001)


def test_what_was_no_turn_is_told_apart_by_its_decision() -> None:
    assert turn_of(turn(turn_id="", decision_id="d1")) != turn_of(turn(turn_id="", decision_id="d2"))
    assert turn_of(turn(turn_id="t", decision_id="d1")) == turn_of(turn(turn_id="t", decision_id="d2"))


def test_one_turn_that_needed_a_yes_makes_all_of_them_need_one() -> None:
    assert needs_yes([turn(), turn(reason=AdmissionReason.NEEDS_CONFIRMATION)])
    assert needs_yes([turn(reason=AdmissionReason.INJECTION)])
    assert not needs_yes([turn()])


TURNS = st.lists(st.builds(turn, st.sampled_from("ab"), st.sampled_from("12345"), st.integers(0, 2_000)))


@given(evidence=TURNS, more=TURNS, now_ms=st.integers(0, 2_000))
def test_more_evidence_never_undoes_a_promotion(evidence: list[Evidence], more: list[Evidence], now_ms: int) -> None:
    assert is_due([*evidence, *more], LIMITS, now_ms=now_ms) >= is_due(evidence, LIMITS, now_ms=now_ms)
