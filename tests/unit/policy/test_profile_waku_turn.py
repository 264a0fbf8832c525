"""The Waku turn gate: what must be as there, and what must be better."""

import msgspec
import pytest
from decide_requests import KNOWLEDGE, NOW_MS, ask

from recalld.models.domain.decide import ModelFailure, ModelReport
from recalld.models.domain.decision import DecideReason, GateDecision
from recalld.models.domain.turn_parts import MessagePart, PartKind
from recalld.models.policy.profiles.registry import shipped_profiles
from recalld.models.policy.profiles.spec import TurnProfile
from recalld.models.policy.turn.probe import ProbeResult, TermPostings
from recalld.models.policy.turn_gate import LOOKED_AT_CHARS_MAX

OPEN_TURN = "Could you say a little more on caching strategies for browsers?"


def answered(text: str) -> ModelReport:
    return ModelReport(text=text)


def test_one_answer_of_a_model_carries_yes_query_and_reason() -> None:
    reply = answered('{"run": true, "query": "browser caching choice", "reason": "asks for a decision"}')
    decision = ask("waku_turn", OPEN_TURN, model=reply)
    assert (decision.decision, decision.reason_code) == (GateDecision.RUN, DecideReason.MODEL_SAYS_YES)
    assert (decision.params.query, decision.params.query_fallback) == ("browser caching choice", False)
    assert decision.decided_by == "model"


def test_one_answer_of_a_model_carries_no() -> None:
    decision = ask("waku_turn", OPEN_TURN, model=answered('{"run": false, "reason": "general knowledge"}'))
    assert (decision.decision, decision.reason_code) == (GateDecision.SKIP, DecideReason.MODEL_SAYS_NO)


@pytest.mark.parametrize(
    "reply",
    [
        'Sure! Here it is: {"run": false}',
        '```json\n{"run": false}\n```',
        '<think>Maybe {"run": true}? No.</think>\n{"run": false}',
    ],
)
def test_prose_fences_and_thinking_around_the_answer_are_put_up_with(reply: str) -> None:
    assert ask("waku_turn", OPEN_TURN, model=answered(reply)).decision is GateDecision.SKIP


@pytest.mark.parametrize("failure", ModelFailure)
def test_every_failure_of_the_model_runs_and_says_that_it_is_degraded(failure: ModelFailure) -> None:
    decision = ask("waku_turn", OPEN_TURN, model=ModelReport(failure=failure))
    assert (decision.decision, decision.decided_by, decision.is_degraded) == (GateDecision.RUN, "error_path", True)
    assert decision.params.query == OPEN_TURN


@pytest.mark.parametrize("reply", ["{}", '{"run": null}', '{"run": "perhaps"}', "no", '{"query": "x"}'])
def test_an_answer_without_a_decision_is_an_error_and_not_a_no(reply: str) -> None:
    decision = ask("waku_turn", OPEN_TURN, model=answered(reply))
    assert (decision.decision, decision.reason_code) == (GateDecision.RUN, DecideReason.GATE_FAILED)


def test_an_answer_that_was_cut_is_an_error() -> None:
    cut = ModelReport(text='{"run": false}', was_truncated=True)
    assert ask("waku_turn", OPEN_TURN, model=cut).reason_code is DecideReason.GATE_FAILED


@pytest.mark.parametrize("query", ["null", '""', '"  "', '"None"'])
def test_a_null_or_blank_query_falls_back_to_the_message(query: str) -> None:
    decision = ask("waku_turn", OPEN_TURN, model=answered(f'{{"run": true, "query": {query}}}'))
    assert (decision.params.query, decision.params.query_fallback) == (OPEN_TURN, True)


def test_the_model_has_a_deadline_of_its_own_and_missing_it_is_told_apart() -> None:
    profile = shipped_profiles()["waku_turn"]
    assert isinstance(profile, TurnProfile)
    assert ask("waku_turn", OPEN_TURN).params.limits.time_ms == profile.model_ms
    late = ask("waku_turn", OPEN_TURN, model=ModelReport(failure=ModelFailure.TIMEOUT))
    assert late.reason_code is DecideReason.TIMED_OUT


def test_a_follow_up_whose_answer_is_in_the_turns_is_told_from_one_whose_answer_is_not() -> None:
    turns = ("Which port does it use?", "The staging server listens on port 8443.")
    nothing_stored = msgspec.structs.replace(KNOWLEDGE, probe=ProbeResult())
    known = ask("waku_turn", "Which port did you just say?", recent=turns, knowledge=nothing_stored)
    assert (known.decision, known.reason_code) == (GateDecision.SKIP, DecideReason.ANSWERED_IN_HISTORY)
    stored = ProbeResult(terms=(TermPostings(term="port", postings=1),))
    knowing = msgspec.structs.replace(KNOWLEDGE, probe=stored)
    unknown = ask("waku_turn", "Which port did you just say?", recent=("Hi", "Hello"), knowledge=knowing)
    assert unknown.decision is GateDecision.RUN


def test_turns_not_supplied_are_not_the_same_as_no_turns() -> None:
    assert ask("waku_turn", "why?", recent=()).reason_code is DecideReason.TOO_SHORT
    unknown = ask("waku_turn", "why?", recent=None)
    assert (unknown.decision, unknown.reason_code) == (GateDecision.RUN, DecideReason.MISSING_INPUT)
    assert unknown.params.missing == ("turns",)
    assert "lacks `turns`," in unknown.reason


def test_the_store_and_the_calendar_are_evidence() -> None:
    probe = ProbeResult(terms=(TermPostings(term="caching", postings=2),))
    stored = ask("waku_turn", OPEN_TURN, knowledge=msgspec.structs.replace(KNOWLEDGE, probe=probe))
    assert (stored.reason_code, stored.evidence.posted) == (DecideReason.TERMS_STORED, ("caching",))
    timed = ask("waku_turn", "What did I eat yesterday?", now_ms=NOW_MS, time_zone="Europe/Berlin")
    assert (timed.reason_code, timed.evidence.times) == (DecideReason.TIME_EXPRESSION, ("yesterday",))
    (interval,) = timed.params.intervals
    assert interval.end_ms is not None
    assert interval.start_ms is not None
    assert interval.end_ms - interval.start_ms == 86_400_000


def test_only_the_parts_of_the_user_are_read() -> None:
    host = MessagePart(kind=PartKind.HOST, text="As we discussed, remember the vault.")
    decision = ask("waku_turn", parts=(host, MessagePart(text="thanks")))
    assert decision.reason_code is DecideReason.ACKNOWLEDGEMENT
    assert ask("waku_turn", parts=(host,)).reason_code is DecideReason.NO_USER_TEXT


def test_a_long_message_costs_no_more_than_its_ends() -> None:
    decision = ask("waku_turn", "x" * (4 * LOOKED_AT_CHARS_MAX))
    assert decision.decision is GateDecision.RUN
    assert len(decision.evidence.terms) <= 12
