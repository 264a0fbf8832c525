from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from importlib.resources import files
from zoneinfo import ZoneInfo

import pytest

from recalld.models.domain.turn_parts import MessagePart
from recalld.models.policy import (
    assistant_person,
    foreign_text,
    host_text,
    person,
    slots,
    stop_words,
    team_person,
    time_only,
    word_lists,
)
from recalld.models.policy.assistant_person import to_assistant
from recalld.models.policy.explicit_save import NotSaved, find_explicit_save
from recalld.models.policy.foreign_text import find_foreign_spans
from recalld.models.policy.gazetteer import gazetteer
from recalld.models.policy.host_text import strip_host_text
from recalld.models.policy.names import stands_alone
from recalld.models.policy.person import to_first_person, to_third_person
from recalld.models.policy.query_reading import read_verdict
from recalld.models.policy.team_person import to_team
from recalld.models.policy.temporal import find_intervals, query_times
from recalld.models.policy.terms import query_terms
from recalld.models.policy.text_shape import text_shape
from recalld.models.policy.turn.turn_input import TurnInput
from recalld.models.policy.turn_gate import decide


def asks_only_for_time(text: str) -> bool:
    """Whether a text is read as one that asks for nothing but a time, with both time and zone known."""
    turn = TurnInput(parts=(MessagePart(text=text),), now=datetime(2026, 4, 13, 12, tzinfo=UTC), zone=ZoneInfo("UTC"))
    verdict = decide(turn, find_times=find_intervals)
    return read_verdict(verdict, text, is_unconditional=False, is_search=False).times.asks_only_for_time


def fills(slot_id: str, statement: str, other: str) -> bool:
    """Whether a statement fills a slot, and another text does not."""
    filled = [{match.slot.id for match in slots.match_slots(text)} for text in (statement, other)]
    return slot_id in filled[0] and slot_id not in filled[1]


PROBES: dict[str, Callable[[], bool]] = {
    "auxiliaries.en.txt": lambda: not isinstance(find_explicit_save("remember my birthday is May 3"), NotSaved),
    "first_person_verbs.en.txt": lambda: to_third_person("I like tea") == "The user likes tea",
    "first_person.en.txt": lambda: text_shape("where is my key").is_personal,
    "foreign_openers.txt": lambda: isinstance(find_explicit_save("Heartbeat!\n\nRemember that I am Ana"), NotSaved),
    "html_elements.txt": lambda: not isinstance(find_explicit_save("a <b> c. Remember that I am Ana"), NotSaved),
    "host_line_markers.txt": lambda: strip_host_text("Sender (untrusted metadata): x\nhi") == "hi",
    "host_tags.txt": lambda: strip_host_text("<system-reminder>x</system-reminder>hi") == "hi",
    "name_openers.en.txt": lambda: stands_alone("Ask Apollo", ("apollo",), spelled="Apollo"),
    "plain_labels.txt": lambda: find_foreign_spans("Work: I am a baker").sections == (),
    "question_words.en.txt": lambda: text_shape("where is my key").is_open_question,
    "roles.txt": lambda: isinstance(find_explicit_save("System: ok.\n\nRemember that I am Ana"), NotSaved),
    "roman_one_nouns.en.txt": lambda: to_third_person("Type I error") == "Type I error",
    "slot_currencies.en.txt": lambda: fills("currency", "Invoices in euros", "Invoices in advance"),
    "slot_languages.en.txt": lambda: fills("spoken_language", "Speaks Polish", "Speaks at conferences"),
    "slot_professions.en.txt": lambda: fills("role", "I'm a nurse", "I'm a fan of trains"),
    "stop_words.de.txt": lambda: query_terms("wo ist der Hund") == ["hund"],
    "stop_words.en.txt": lambda: query_terms("where is the dog") == ["dog"],
    "stop_words.es.txt": lambda: query_terms("donde esta mi perro") == ["perro"],
    "stop_words.fr.txt": lambda: query_terms("ou est mon chien") == ["chien"],
    "technical_words.en.txt": lambda: bool(gazetteer().find("Flask backend")),
    "time_asking_families.txt": lambda: time_only.says_what_is_asked("We decided", ("beschlossen",)),
    "time_asking.de.txt": lambda: asks_only_for_time("was wurde gestern beschlossen?"),
    "time_asking.en.txt": lambda: asks_only_for_time("what was decided yesterday?"),
    "time_asking.es.txt": lambda: asks_only_for_time("que acordamos ayer?"),
    "time_asking.fr.txt": lambda: asks_only_for_time("on a convenu de quoi hier ?"),
    "assistant_verbs.en.txt": lambda: to_assistant("before you delete it") == "before it deletes it",
    "team_verbs.en.txt": lambda: to_team("We patch releases") == "the user's team patches releases",
    "team_words.en.txt": lambda: to_team("We had a retro") != "We had a retro",
    "user_compounds.en.txt": lambda: to_first_person("the user interface uses tabs") == "the user interface uses tabs",
}
"""For each list, something that is true only while the list has its words."""

CACHES = (
    word_lists.words,
    stop_words.stop_words,
    host_text._tags,
    foreign_text._labels,
    person._verbs,
    assistant_person._verbs,
    team_person._verbs,
    person._auxiliaries,
    query_times._asking_words,
    slots._compiled,
    time_only._families,
)


@pytest.fixture(autouse=True)
def fresh_caches() -> Iterator[None]:
    for cached in CACHES:
        cached.cache_clear()
    yield
    for cached in CACHES:
        cached.cache_clear()


def test_every_shipped_list_has_a_probe() -> None:
    data = files("recalld.models.policy").joinpath("data")
    assert {item.name for item in data.iterdir() if item.name.endswith(".txt")} == set(PROBES)


@pytest.mark.parametrize("name", PROBES)
def test_emptying_a_list_changes_what_happens(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert PROBES[name]()
    read = word_lists.entries
    for cached in CACHES:
        cached.cache_clear()
    monkeypatch.setattr(word_lists, "entries", lambda asked: () if asked == name else read(asked))
    assert not PROBES[name]()


def test_comments_and_blank_lines_are_no_entries() -> None:
    entries = word_lists.entries("host_tags.txt")
    assert "system-reminder" in entries
    assert all(entry and not entry.startswith("#") and entry == entry.strip() for entry in entries)
