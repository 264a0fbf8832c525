"""Turns that ask for a time alone, in several languages, and what a time leaves of a turn that asks for more."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import msgspec
import pytest

from recalld.models.domain.recall import Candidate
from recalld.models.policy.temporal import find_intervals
from recalld.models.policy.temporal.query_times import QueryTimes, query_times, without_times
from recalld.models.policy.time_only import split_by_time

NOON = datetime(2026, 4, 13, 12, tzinfo=UTC)
NOON_MS = round(NOON.timestamp() * 1000)


def times_of(text: str, language: str = "en") -> QueryTimes:
    found = find_intervals(text, now=NOON, zone=ZoneInfo("Europe/Berlin"), language=language)
    return query_times(text, found, is_zone_known=True, languages=(language,))


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("what did we decide yesterday?", "en"),
        ("was haben wir gestern beschlossen?", "de"),
        ("qu'avons-nous d\u00e9cid\u00e9 hier ?", "fr"),
        ("qu\u2019avons-nous d\u00e9cid\u00e9 hier ?", "fr"),
        ("qu'a-t-on d\u00e9cid\u00e9 hier ?", "fr"),
        ("que s'est-il pass\u00e9 hier ?", "fr"),
    ],
)
def test_a_turn_that_asks_for_a_time_alone_is_told_in_each_language(text: str, language: str) -> None:
    assert times_of(text, language).asks_only_for_time


@pytest.mark.parametrize(
    "text", ["qu'avons-nous d\u00e9cid\u00e9 hier pour Nordfisk ?", "o\u00f9 est l'imprimante hier ?"]
)
def test_a_french_turn_with_a_subject_does_not(text: str) -> None:
    assert not times_of(text, "fr").asks_only_for_time


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("what did we decide today about the event bus?", "what did we decide about the event bus?"),
        ("where are my tyres?", "where are my tyres?"),
        ("what did we decide yesterday?", "what did we decide yesterday?"),
    ],
)
def test_a_time_beside_a_subject_is_left_out_of_what_is_scored(text: str, expected: str) -> None:
    assert without_times(text, times_of(text)) == expected


def test_a_clause_that_speaks_of_no_time_stays_as_it_is() -> None:
    times = times_of("renew the permit today and tell me what we decided about the event bus")
    assert without_times("tell me what we decided about the event bus", times) == (
        "tell me what we decided about the event bus"
    )


@pytest.mark.parametrize(
    ("question", "language"),
    [
        ("what did we decide today?", "en"),
        ("was haben wir heute entschieden?", "de"),
        ("qu'avons-nous d\u00e9cid\u00e9 aujourd'hui ?", "fr"),
    ],
)
@pytest.mark.parametrize(
    "said",
    ["We decided to drop RabbitMQ", "Decision: NATS", "Wir haben NATS beschlossen", "On a d\u00e9cid\u00e9: NATS"],
)
def test_what_says_what_the_verb_asks_for_comes_before_what_is_newer(
    make_candidate: Callable[..., Candidate], question: str, language: str, said: str
) -> None:
    older, newer = _at(make_candidate("mem_1", said), NOON_MS - 60_000), _at(make_candidate("mem_2", "x"), NOON_MS)
    split = split_by_time([newer, older], times_of(question, language))
    assert [each.memory.id for each in split.passed] == ["mem_1", "mem_2"]


def test_where_the_verb_asks_for_nothing_in_particular_the_newest_comes_first(
    make_candidate: Callable[..., Candidate],
) -> None:
    older, newer = _at(make_candidate("mem_1", "It happened"), NOON_MS - 60_000), _at(make_candidate("mem_2"), NOON_MS)
    split = split_by_time([older, newer], times_of("what happened today?"))
    assert [each.memory.id for each in split.passed] == ["mem_2", "mem_1"]


def _at(candidate: Candidate, at_ms: int) -> Candidate:
    memory = msgspec.structs.replace(candidate.memory, created_at_ms=at_ms, updated_at_ms=at_ms)
    return msgspec.structs.replace(candidate, memory=memory)
