"""GenericAgent's index: permanent context holds what averts more error than the words it costs."""

from __future__ import annotations

import msgspec
from decide_requests import KNOWLEDGE, ask, judged
from standing_cases import candidate

from recalld.models.domain.decision import CandidateReason, DecideReason, Decision, GateDecision
from recalld.models.domain.outcomes import OutcomeTally
from recalld.models.domain.records import MemorySource
from recalld.models.domain.standing import StandingCandidate, StandingCandidates, StandingChoice
from recalld.models.policy.standing.worth import usefulness_of, value_of


def index(*candidates: StandingCandidate) -> Decision:
    standing = StandingCandidates(candidates=candidates)
    return ask("generic_agent_index", knowledge=msgspec.structs.replace(KNOWLEDGE, standing=standing))


def inferred(**tally: int) -> StandingCandidate:
    return candidate(source=MemorySource.HEURISTIC, tally=OutcomeTally(**tally))


def test_the_index_has_at_most_thirty_lines() -> None:
    decision = index(*(candidate(f"m{place:02}", f"Rule {place}: use uv") for place in range(31)))
    assert (len(decision.params.items), decision.evidence.counts["lines"]) == (30, 30)
    assert [each.reason for each in decision.evidence.candidates][-1] is CandidateReason.OVER_LIMIT


def test_the_index_has_at_most_a_thousand_tokens() -> None:
    wordy = [candidate(f"m{place}", f"{place}" + " word" * 60, choice=StandingChoice.PINNED) for place in range(20)]
    decision = index(*wordy)
    assert 0 < len(decision.params.items) < 20
    assert 900 < decision.evidence.counts["tokens"] <= 1_000


def test_recorded_outcomes_with_a_prior_decide_and_are_shown() -> None:
    stated = candidate()
    decision = index(stated)
    worth = judged(decision)["mem_1"]
    assert worth.score == round(value_of(usefulness_of(stated), words=3, error_cost_words=200.0), 3)
    assert worth.threshold == 1.0


def test_what_falls_below_the_bar_is_demoted_with_a_pointer_and_comes_back_with_better_outcomes() -> None:
    useless = index(candidate(tally=OutcomeTally(ignored=500)))
    assert (useless.params.items, useless.params.targets) == ((), ("mem_1",))
    assert judged(useless)["mem_1"].reason is CandidateReason.BELOW_THRESHOLD
    assert index(candidate(tally=OutcomeTally(ignored=500, used=100))).params.items == ("mem_1",)


def test_what_a_person_took_out_stays_out_and_keeps_its_pointer() -> None:
    decision = index(candidate(choice=StandingChoice.DEMOTED))
    assert judged(decision)["mem_1"].reason is CandidateReason.DEMOTED
    assert decision.params.targets == ("mem_1",)


def test_nothing_enters_without_a_users_statement_or_a_successful_use() -> None:
    unproven = index(inferred(missed=9))
    assert (unproven.decision, unproven.reason_code) == (GateDecision.SKIP, DecideReason.NONE_PASSED)
    assert judged(unproven)["mem_1"].reason is CandidateReason.UNPROVEN
    assert index(inferred(used=1)).params.items == ("mem_1",)


def test_without_the_store_the_index_is_not_guessed() -> None:
    decision = ask("generic_agent_index")
    assert (decision.reason_code, decision.is_degraded) == (DecideReason.GATE_FAILED, True)
    assert index().reason_code is DecideReason.NO_CANDIDATES
