"""Gini's channel of time: opened by a parsed phrase, and by nothing else."""

import msgspec
import pytest
from decide_requests import DAY_MS, KNOWLEDGE, NOW_MS, Fields, ask

from recalld.models.domain.decide import DecideCandidate
from recalld.models.domain.decision import DecideReason, GateDecision

MOMENT: Fields = {"now_ms": NOW_MS, "time_zone": "Europe/Berlin"}


@pytest.mark.parametrize("text", ["what did we decide yesterday?", "notes from March 3 to March 9", "since Monday"])
def test_a_phrase_of_time_opens_the_channel(text: str) -> None:
    decision = ask("gini_temporal", text, **MOMENT)
    assert (decision.decision, decision.reason_code) == (GateDecision.RUN, DecideReason.TIME_EXPRESSION)
    assert len(decision.params.intervals) == 1


@pytest.mark.parametrize("text", ["where is the deploy key?", "we march on", "on 31 February"])
def test_without_one_it_stays_closed(text: str) -> None:
    decision = ask("gini_temporal", text, **MOMENT)
    assert (decision.decision, decision.reason_code) == (GateDecision.SKIP, DecideReason.NO_TIME_EXPRESSION)
    assert decision.params.intervals == ()


def test_a_month_back_is_the_calendars_month_and_not_thirty_days() -> None:
    march_31_ms = 1_774_954_800_000  # 31 March 2026, 11:00 UTC
    (interval,) = ask("gini_temporal", "last month", now_ms=march_31_ms, time_zone="UTC").params.intervals
    assert interval.start_ms is not None
    assert interval.end_ms is not None
    assert (interval.end_ms - interval.start_ms) // DAY_MS == 28


def test_no_expression_and_nothing_stored_then_are_different_answers() -> None:
    empty = msgspec.structs.replace(KNOWLEDGE, in_interval=0)
    nothing_then = ask("gini_temporal", "what did we decide yesterday?", knowledge=empty, **MOMENT)
    assert (nothing_then.decision, nothing_then.reason_code) == (GateDecision.SKIP, DecideReason.NOTHING_IN_INTERVAL)
    assert len(nothing_then.params.intervals) == 1
    none_said = ask("gini_temporal", "what did we decide?", knowledge=empty, **MOMENT)
    assert none_said.reason_code is DecideReason.NO_TIME_EXPRESSION


def test_candidates_of_the_caller_are_counted_when_the_store_was_not_asked() -> None:
    old = DecideCandidate(id="a", at_ms=NOW_MS - 9 * DAY_MS)
    fresh = DecideCandidate(id="b", at_ms=NOW_MS - DAY_MS)
    text = "what did we decide yesterday?"
    assert ask("gini_temporal", text, candidates=(old,), **MOMENT).reason_code is DecideReason.NOTHING_IN_INTERVAL
    assert ask("gini_temporal", text, candidates=(old, fresh), **MOMENT).evidence.counts == {"in_interval": 1}


def test_without_a_moment_nothing_is_guessed() -> None:
    decision = ask("gini_temporal", "yesterday", now_ms=NOW_MS)
    assert (decision.decision, decision.reason_code) == (GateDecision.SKIP, DecideReason.MISSING_INPUT)
    assert decision.params.missing == ("time_zone",)
    assert "lacks `time_zone`," in decision.reason


def test_words_of_the_host_open_nothing() -> None:
    decision = ask("gini_temporal", "<system-reminder>yesterday</system-reminder>", **MOMENT)
    assert decision.reason_code is DecideReason.NO_USER_TEXT
