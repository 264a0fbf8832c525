from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib.resources import files

import pytest

from recalld.models.policy import foreign_text, host_text, person, stop_words, word_lists
from recalld.models.policy.explicit_save import NotSaved, find_explicit_save
from recalld.models.policy.host_text import strip_host_text
from recalld.models.policy.person import to_first_person, to_third_person
from recalld.models.policy.terms import query_terms

PROBES: dict[str, Callable[[], bool]] = {
    "auxiliaries.en.txt": lambda: not isinstance(find_explicit_save("remember my birthday is May 3"), NotSaved),
    "first_person_verbs.en.txt": lambda: to_third_person("I like tea") == "The user likes tea",
    "foreign_openers.txt": lambda: isinstance(find_explicit_save("Heartbeat!\n\nRemember that I am Ana"), NotSaved),
    "html_elements.txt": lambda: not isinstance(find_explicit_save("a <b> c. Remember that I am Ana"), NotSaved),
    "host_line_markers.txt": lambda: strip_host_text("Sender (untrusted metadata): x\nhi") == "hi",
    "host_tags.txt": lambda: strip_host_text("<system-reminder>x</system-reminder>hi") == "hi",
    "roles.txt": lambda: isinstance(find_explicit_save("System: ok.\n\nRemember that I am Ana"), NotSaved),
    "roman_one_nouns.en.txt": lambda: to_third_person("Type I error") == "Type I error",
    "stop_words.de.txt": lambda: query_terms("wo ist der Hund") == ["hund"],
    "stop_words.en.txt": lambda: query_terms("where is the dog") == ["dog"],
    "stop_words.es.txt": lambda: query_terms("donde esta mi perro") == ["perro"],
    "stop_words.fr.txt": lambda: query_terms("ou est mon chien") == ["chien"],
    "user_compounds.en.txt": lambda: to_first_person("the user interface uses tabs") == "the user interface uses tabs",
}
"""For each list, something that is true only while the list has its words."""

CACHES = (
    word_lists.words,
    stop_words.stop_words,
    host_text._tags,
    foreign_text._labels,
    person._verbs,
    person._auxiliaries,
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
