"""What a query's expressions of time are worth, and when they are all it asks for."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recalld.models.domain.recall import Candidate, RecallQuery
from recalld.models.domain.records import Memory
from recalld.models.domain.store import LexicalHit
from recalld.models.domain.time_window import TimeWindow
from recalld.models.policy.floor import FloorValues
from recalld.models.policy.fusion import Legs, fuse
from recalld.models.policy.query_reading import QueryReading, read_verdict, turn_of
from recalld.models.policy.temporal import TemporalRule, TimeSpan, find_intervals
from recalld.models.policy.temporal.query_times import (
    NO_TIMES,
    SURE_CONFIDENCE_MIN,
    WINDOWS_MAX,
    QueryTimes,
    merged,
    query_times,
)
from recalld.models.policy.time_only import split_by_time
from recalld.models.policy.turn_gate import decide

NOON_MS = round(datetime(2026, 4, 13, 12, tzinfo=UTC).timestamp() * 1000)
FLOORS = FloorValues(record=0.5, cue=0.5, ask=0.5)


def span(start_ms: int | None, end_ms: int | None, confidence: float = 0.95) -> TimeSpan:
    return TimeSpan(
        start_ms=start_ms,
        end_ms=end_ms,
        text_start=0,
        text_end=1,
        text="x",
        confidence=confidence,
        rule=TemporalRule.DAY,
    )


def read(text: str, *, time_zone: str = "Europe/Berlin") -> QueryReading:
    query = RecallQuery(user="u", session="", text=text, time_zone=time_zone, deadline_s=1.0)
    verdict = decide(turn_of(query, now_ms=NOON_MS), find_times=find_intervals)
    return read_verdict(verdict, text, is_unconditional=False, is_search=False, is_zone_known=bool(time_zone))


@pytest.mark.parametrize(
    "text",
    [
        "what happened yesterday?",
        "What did we decide last week?",
        "show me my notes from 3 April",
        "summarise what we discussed between March 3 and March 9",
        "yesterday",
        "anything new since Monday?",
        "Was haben wir gestern entschieden?",
        "Was war letzte Woche los?",
        "on a convenu de quoi hier ?",
        "\u00bfqu\u00e9 decidimos ayer?",
    ],
)
def test_a_turn_may_ask_for_nothing_but_a_time(text: str) -> None:
    times = read(text).times
    assert times.asks_only_for_time
    assert times.spans


@pytest.mark.parametrize(
    "text",
    [
        "what did we decide about the logo yesterday?",
        "which port did Sara pick last week?",
        "is the vendor meeting tomorrow?",
        "what happened to the kitchen walls yesterday",
        "what happened?",
        "what did we decide?",
        "Was haben wir gestern zum Logo entschieden?",
        "what happened die yesterday",  # "die" is an article in German, and no word is one in all languages
    ],
)
def test_a_turn_that_names_anything_else_does_not(text: str) -> None:
    assert not read(text).times.asks_only_for_time


@pytest.mark.parametrize(
    ("text", "is_sure"),
    [
        ("what happened yesterday?", True),
        ("what happened on 2026-04-01?", True),
        ("what happened on Monday?", True),
        ("what happened recently?", False),
        ("what happened in 2024?", False),
        ("what happened in March?", False),
    ],
)
def test_only_a_sure_interval_answers_alone(text: str, *, is_sure: bool) -> None:
    times = read(text).times
    assert times.asks_only_for_time
    (found,) = times.spans
    inside_ms = found.start_ms if found.start_ms is not None else (found.end_ms or 0) - 1
    assert times.answers_alone(inside_ms) is is_sure
    assert times.holds(inside_ms)
    assert not times.answers_alone((found.end_ms or 0) + 1)


def test_without_a_zone_every_confidence_is_halved_and_none_is_sure() -> None:
    known, unknown = read("what happened yesterday?").times, read("what happened yesterday?", time_zone="").times
    assert [each.confidence for each in unknown.spans] == [each.confidence / 2 for each in known.spans]
    assert max(each.confidence for each in unknown.spans) < SURE_CONFIDENCE_MIN
    start_ms = unknown.spans[0].start_ms or 0
    assert not unknown.answers_alone(start_ms)
    assert 1.0 < unknown.boost(start_ms) < known.boost(known.spans[0].start_ms or 0)


def test_a_query_without_a_time_holds_nothing_and_raises_nothing() -> None:
    assert NO_TIMES.holds(5) is None
    assert NO_TIMES.boost(5) == 1.0
    assert NO_TIMES.windows == ()
    assert not NO_TIMES.answers_alone(5)


moments = st.integers(0, 30)
windows_lists = st.lists(st.builds(TimeWindow, start_ms=st.none() | moments, end_ms=st.none() | moments), max_size=6)


@given(windows_lists, moments)
def test_merging_windows_changes_neither_what_they_hold_nor_lets_them_overlap(
    windows: list[TimeWindow], at_ms: int
) -> None:
    sound = [each for each in windows if None in (each.start_ms, each.end_ms) or each.start_ms < each.end_ms]  # type: ignore[operator]
    joined = merged(sound)
    assert any(each.holds(at_ms) for each in joined) == any(each.holds(at_ms) for each in sound)
    assert sum(each.holds(at_ms) for each in joined) <= 1
    assert merged(joined) == joined


def test_of_many_expressions_the_surest_are_looked_for() -> None:
    spans = tuple(span(10 * n, 10 * n + 1, 0.3 if n < 3 else 0.9) for n in range(WINDOWS_MAX + 3))
    windows = QueryTimes(spans=spans).windows
    assert len(windows) == WINDOWS_MAX
    assert min(each.start_ms or 0 for each in windows) == 30


def test_a_record_of_the_time_is_raised_and_no_other_is_lowered(make_memory: Callable[..., Memory]) -> None:
    memories = {
        "mem_in": msgspec.structs.replace(make_memory("mem_in"), created_at_ms=5, updated_at_ms=50),
        "mem_out": msgspec.structs.replace(make_memory("mem_out"), created_at_ms=50, updated_at_ms=50),
    }
    legs = Legs(lexical=tuple(LexicalHit(memory_id=id_, score=2.0) for id_ in memories), time=("mem_in",))
    plain = {each.memory.id: each for each in fuse(legs, memories, floors=FLOORS, now_ms=60)}
    timed = {
        each.memory.id: each
        for each in fuse(legs, memories, floors=FLOORS, now_ms=60, times=QueryTimes(spans=(span(0, 10, 1.0),)))
    }
    assert timed["mem_in"].fused == pytest.approx(1.3 * plain["mem_in"].fused)
    assert timed["mem_out"].fused == plain["mem_out"].fused
    assert [timed[id_].evidence.is_in_interval for id_ in memories] == [True, False]
    assert [plain[id_].evidence.is_in_interval for id_ in memories] == [None, None]


def test_a_record_nominated_by_its_time_alone_is_a_candidate_without_other_evidence(
    make_memory: Callable[..., Memory],
) -> None:
    legs = Legs(time=("mem_1",))
    assert legs.memory_ids() == ("mem_1",)
    (candidate,) = fuse(legs, {"mem_1": make_memory("mem_1")}, floors=FLOORS, now_ms=0)
    assert (candidate.evidence.cosine, candidate.evidence.lexical) == (None, None)


def test_what_answers_alone_goes_first_and_newest_first_and_the_rest_keeps_its_order(
    make_candidate: Callable[..., Candidate],
) -> None:
    def at(memory_id: str, at_ms: int) -> Candidate:
        candidate = make_candidate(memory_id)
        memory = msgspec.structs.replace(candidate.memory, created_at_ms=at_ms, updated_at_ms=at_ms)
        return msgspec.structs.replace(candidate, memory=memory)

    candidates = (at("a", 99), at("b", 3), at("c", 77), at("d", 7))
    times = query_times("what happened x", (span(0, 10),), is_zone_known=True)
    bare = msgspec.structs.replace(times, asks_only_for_time=True)
    split = split_by_time(candidates, bare)
    assert [each.memory.id for each in split.passed] == ["d", "b"]
    assert [each.memory.id for each in split.others] == ["a", "c"]
    assert split_by_time(candidates, msgspec.structs.replace(bare, asks_only_for_time=False)).passed == ()


@pytest.mark.parametrize("year", [1, 9_999])
def test_at_the_ends_of_the_calendar_no_time_is_read(year: int) -> None:
    at_ms = (datetime(year, 7, 1, tzinfo=UTC) - datetime(1970, 1, 1, tzinfo=UTC)).days * 86_400_000
    query = RecallQuery(user="u", session="", text="yesterday", now_ms=at_ms, deadline_s=1.0)
    assert turn_of(query, now_ms=NOON_MS).now is None
    assert turn_of(msgspec.structs.replace(query, now_ms=None), now_ms=NOON_MS).zone == ZoneInfo("UTC")
