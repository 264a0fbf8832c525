"""Waku's echo guard: a fact that only restates what the turn read is dropped, a change is kept."""

from __future__ import annotations

import pytest
from decide_requests import ask, judged

from recalld.models.domain.decide import CandidatePresence, DecideCandidate
from recalld.models.domain.decision import CandidateReason, DecideReason, GateDecision

SHOWN = DecideCandidate(
    id="m1", text="The user's deadline is October 15th and the budget is 2,400 euros.", is_injected=True
)


def fact(text: str, name: str = "f1") -> DecideCandidate:
    return DecideCandidate(id=name, text=text)


@pytest.mark.parametrize(
    "text",
    [
        SHOWN.text,
        "the user's deadline is october 15th and the budget is 2,400 euros",
        "The deadline is October 15th and the budget is 2,400 euros.",
    ],
)
def test_a_fact_that_only_restates_what_the_turn_read_is_dropped(text: str) -> None:
    decision = ask("waku_echo", candidates=(SHOWN, fact(text)))
    assert (decision.decision, decision.reason_code) == (GateDecision.SKIP, DecideReason.NOTHING_NEW)
    assert judged(decision)["f1"].reason is CandidateReason.ECHO


@pytest.mark.parametrize(
    "text",
    [
        "The user's deadline is October 16th and the budget is 2,400 euros.",
        "The user's deadline is November 15th and the budget is 2,400 euros.",
        "The user's deadline is October 15th and the budget is 2,450 euros.",
        "The user's deadline is not October 15th and the budget is 2,400 euros.",
        "Noor's deadline is October 15th and the budget is 2,400 euros.",
    ],
)
def test_a_changed_number_name_date_or_negation_keeps_it(text: str) -> None:
    decision = ask("waku_echo", candidates=(SHOWN, fact(text)))
    assert (decision.decision, decision.params.items) == (GateDecision.RUN, ("f1",))


def test_facts_are_judged_one_by_one_in_the_callers_order() -> None:
    facts = (fact("We use BigQuery.", "a"), fact(SHOWN.text, "b"), fact("We ship on Fridays.", "c"))
    decision = ask("waku_echo", candidates=(*facts[:1], SHOWN, *facts[1:]))
    assert decision.params.items == ("a", "c")


def test_what_is_stored_already_counts_as_shown_and_nothing_proposed_is_nothing_to_do() -> None:
    stored = DecideCandidate(id="m2", text="We use BigQuery.", presence=CandidatePresence.STORED)
    assert ask("waku_echo", candidates=(stored, fact("We use BigQuery"))).reason_code is DecideReason.NOTHING_NEW
    assert ask("waku_echo", candidates=(stored, SHOWN)).reason_code is DecideReason.NO_CANDIDATES
