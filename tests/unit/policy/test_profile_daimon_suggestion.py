"""Daimon's suggestion: shown unasked, so whatever speaks against it is heard, and every silence has its reason."""

import msgspec
import pytest
from decide_requests import DAY_MS, KNOWLEDGE, NOW_MS, ask, judged
from hypothesis import given
from hypothesis import strategies as st

from recalld.models.domain.decide import DecideCandidate, DecideScope
from recalld.models.domain.decision import CandidateReason, DecideReason, Decision, GateDecision
from recalld.models.policy.profiles.knowledge import SessionKnowledge
from recalld.models.policy.profiles.reading import content_key

PROJECT = DecideScope(project="recalld")
MESSAGE = "Why does the checkpoint of the journal stall under load?"
FITTING = DecideCandidate(
    id="a", text="The journal checkpoint stalls while a reader is open.", session="old", at_ms=NOW_MS
)


def suggest(*candidates: DecideCandidate, text: str = MESSAGE, session: SessionKnowledge | None = None) -> Decision:
    knowledge = msgspec.structs.replace(KNOWLEDGE, session=session or SessionKnowledge())
    return ask("daimon_suggestion", text, scope=PROJECT, now_ms=NOW_MS, candidates=candidates, knowledge=knowledge)


def changed(**fields: object) -> DecideCandidate:
    return msgspec.structs.replace(FITTING, **fields)


def test_a_fitting_record_is_shown() -> None:
    decision = suggest(FITTING)
    assert (decision.decision, decision.params.items) == (GateDecision.RUN, ("a",))


def test_a_message_of_host_text_alone_is_silence() -> None:
    decision = suggest(FITTING, text=f"<system-reminder>{MESSAGE}</system-reminder>")
    assert (decision.decision, decision.reason_code) == (GateDecision.SKIP, DecideReason.NO_USER_TEXT)


def test_a_candidate_of_host_text_alone_is_not_shown() -> None:
    decision = suggest(changed(text=f"<system-reminder>{FITTING.text}</system-reminder>"))
    assert judged(decision)["a"].reason is CandidateReason.HOST_TEXT


def test_an_unknown_project_is_silence() -> None:
    decision = ask("daimon_suggestion", MESSAGE, candidates=(FITTING,))
    assert (decision.decision, decision.reason_code) == (GateDecision.SKIP, DecideReason.PROJECT_UNKNOWN)


def test_fewer_than_two_salient_terms_are_silence() -> None:
    assert suggest(FITTING, text="What about the checkpoint?").reason_code is DecideReason.FEW_TERMS
    assert suggest(FITTING, text="the journal checkpoint").decision is GateDecision.RUN


def test_a_session_needs_two_distinct_overlapping_terms() -> None:
    one = changed(text="The checkpoint is made at night; a checkpoint is cheap.")
    assert judged(suggest(one))["a"].reason is CandidateReason.FEW_TERMS


def test_the_terms_of_a_session_are_those_of_its_candidates_together() -> None:
    first = changed(id="a", text="The checkpoint is made at night.")
    second = changed(id="b", text="The journal is on another disk.")
    assert suggest(first, second).params.items == ("a", "b")
    apart = suggest(first, msgspec.structs.replace(second, session="another"))
    assert apart.params.items == ()


def test_a_record_that_says_the_same_is_shown_once() -> None:
    decision = suggest(FITTING, changed(id="b", text="the journal checkpoint stalls while a reader is open"))
    assert decision.params.items == ("a",)
    assert judged(decision)["b"].reason is CandidateReason.SAME_CONTENT


@pytest.mark.parametrize(("text", "is_shown"), [(FITTING.text, True), ("The journal checkpoint is slow.", False)])
def test_a_record_over_seven_days_old_needs_three_hits_itself(text: str, *, is_shown: bool) -> None:
    decision = suggest(changed(text=text, at_ms=NOW_MS - 7 * DAY_MS - 1))
    assert (decision.decision is GateDecision.RUN) is is_shown
    assert is_shown or judged(decision)["a"].reason is CandidateReason.TOO_OLD
    assert suggest(changed(text=text, at_ms=NOW_MS - 7 * DAY_MS)).decision is GateDecision.RUN


def test_hits_that_the_caller_counted_are_believed() -> None:
    old = changed(text="The journal checkpoint is slow.", at_ms=None, age_ms=8 * DAY_MS)
    assert suggest(msgspec.structs.replace(old, hits=3)).decision is GateDecision.RUN
    assert suggest(msgspec.structs.replace(old, hits=2)).decision is GateDecision.SKIP


def test_an_unknown_age_speaks_against_nothing() -> None:
    assert suggest(changed(at_ms=None)).decision is GateDecision.RUN


def test_at_most_two_are_shown() -> None:
    decision = suggest(*(changed(id=name, text=f"{FITTING.text} Case {name}.") for name in ("a", "b", "c")))
    assert decision.params.items == ("a", "b")
    assert judged(decision)["c"].reason is CandidateReason.OVER_LIMIT


def test_every_silence_has_a_reason_for_each_candidate() -> None:
    decision = suggest(changed(text="nothing in common"), changed(id="b", is_injected=True), changed(id="c"))
    assert decision.decision is GateDecision.SKIP
    assert {name: each.reason for name, each in judged(decision).items()} == {
        "a": CandidateReason.FEW_TERMS,
        "b": CandidateReason.OWN_BLOCK,
        "c": CandidateReason.OVER_LIMIT,
    }
    assert suggest().reason_code is DecideReason.NO_CANDIDATES


def test_what_was_declined_or_shown_in_the_session_is_not_shown_again_whatever_it_is_called() -> None:
    key = frozenset({content_key(FITTING)})
    copy = changed(id="copy")
    declined = suggest(copy, session=SessionKnowledge(declined=key))
    assert judged(declined)["copy"].reason is CandidateReason.DECLINED_BEFORE
    shown = suggest(copy, session=SessionKnowledge(shown=key))
    assert judged(shown)["copy"].reason is CandidateReason.SHOWN_BEFORE


def test_what_the_user_waves_away_in_this_very_request_is_not_shown() -> None:
    decision = ask("daimon_suggestion", MESSAGE, scope=PROJECT, candidates=(FITTING,), declined=("a",))
    assert judged(decision)["a"].reason is CandidateReason.DECLINED_BEFORE


CANDIDATES = st.lists(
    st.builds(
        DecideCandidate,
        id=st.uuids().map(str),
        text=st.sampled_from(
            [
                FITTING.text,
                "The journal checkpoint is slow.",
                "tea",
                "",
                "<system-reminder>journal checkpoint</system-reminder>",
            ]
        ),
        session=st.sampled_from(["", "x", "y"]),
        at_ms=st.sampled_from([None, NOW_MS, 0]),
        is_injected=st.booleans(),
    ),
    max_size=8,
    unique_by=lambda candidate: candidate.id,
)


@given(CANDIDATES)
def test_the_output_is_a_subsequence_of_the_ungated_output(candidates: list[DecideCandidate]) -> None:
    ungated = iter([candidate.id for candidate in candidates[:2]])
    assert all(any(item == each for each in ungated) for item in suggest(*candidates).params.items)
