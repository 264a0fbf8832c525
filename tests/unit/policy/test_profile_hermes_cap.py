"""Hermes' hard caps: characters with separators, a batch as one, and refusals that say how to go on."""

from __future__ import annotations

import pytest
from decide_requests import ask, judged

from recalld.models.domain.decide import CandidatePresence, DecideCandidate
from recalld.models.domain.decision import CandidateReason, DecideReason, Decision, GateDecision

CAPS = {"hermes_memory_cap": 2_200, "hermes_user_cap": 1_375}
SEPARATOR = 3


def entry(
    name: str, chars: int, state: CandidatePresence = CandidatePresence.PROPOSED, *, at_ms: int = 0
) -> DecideCandidate:
    return DecideCandidate(id=name, text=name * chars, presence=state, at_ms=at_ms)


def stored(name: str, chars: int, *, at_ms: int = 0) -> DecideCandidate:
    return entry(name, chars, CandidatePresence.STORED, at_ms=at_ms)


def removed(name: str, chars: int) -> DecideCandidate:
    return entry(name, chars, CandidatePresence.REMOVED)


def cap(*entries: DecideCandidate, gate: str = "hermes_memory_cap", **counters: int) -> Decision:
    return ask(gate, candidates=entries, counters=counters)


@pytest.mark.parametrize(("gate", "chars"), CAPS.items())
def test_separators_count_towards_the_cap(gate: str, chars: int) -> None:
    room = chars - 1_000 - SEPARATOR
    assert cap(stored("a", 1_000), entry("b", room), gate=gate).decision is GateDecision.RUN
    over = cap(stored("a", 1_000), entry("b", room + 1), gate=gate)
    assert (over.decision, over.evidence.counts["over"]) == (GateDecision.REFUSE, 1)


def test_a_batch_is_judged_on_its_final_state_whatever_the_order() -> None:
    changes = (entry("b", 2_100), removed("a", 2_000))
    for batch in (changes, changes[::-1]):
        decision = cap(*batch)
        assert (decision.decision, decision.params.items) == (GateDecision.RUN, ("b",))


def test_a_batch_that_does_not_fit_is_refused_as_a_whole() -> None:
    decision = cap(stored("a", 2_000), entry("b", 10), entry("c", 400))
    assert decision.params.items == ()
    assert {judged(decision)[name].reason for name in "bc"} == {CandidateReason.OVER_CHARS}


def test_an_exact_duplicate_is_no_operation() -> None:
    copy = DecideCandidate(id="copy", text="A" * 2_200)
    decision = cap(stored("a", 2_200), copy)
    assert (decision.decision, decision.params.items) == (GateDecision.RUN, ())
    assert judged(decision)["copy"].reason is CandidateReason.ALREADY_STORED


def test_a_refusal_carries_the_usage_and_what_to_remove_first() -> None:
    decision = cap(stored("new", 300, at_ms=9), stored("old", 200, at_ms=1), entry("c", 900))
    assert (decision.decision, decision.reason_code) == (GateDecision.REFUSE, DecideReason.OVER_CAP)
    assert decision.evidence.counts["chars_before"] == 1_503
    assert decision.params.targets == ("old",)


@pytest.mark.parametrize(
    ("before", "reason"),
    [(2, DecideReason.OVER_CAP), (3, DecideReason.OVER_CAP_TERMINAL), (9, DecideReason.OVER_CAP_TERMINAL)],
)
def test_the_fourth_failure_in_a_turn_is_final(before: int, reason: DecideReason) -> None:
    assert cap(entry("b", 2_201), failures_in_turn=before).reason_code is reason


@pytest.mark.parametrize(("chars", "reason"), [(1_979, DecideReason.WITHIN_CAP), (1_980, DecideReason.NEARLY_FULL)])
def test_ninety_per_cent_is_a_warning(chars: int, reason: DecideReason) -> None:
    assert cap(entry("b", chars)).reason_code is reason


def test_a_cap_lowered_below_the_usage_still_allows_removal_and_what_does_not_grow() -> None:
    assert cap(stored("a", 2_500), removed("b", 10)).decision is GateDecision.RUN
    assert cap(stored("a", 2_500), removed("b", 10), entry("c", 10)).decision is GateDecision.RUN
    assert cap(stored("a", 2_500), removed("b", 10), entry("c", 11)).decision is GateDecision.REFUSE


def test_without_entries_there_is_nothing_to_judge() -> None:
    assert cap().params.missing == ("candidates",)
