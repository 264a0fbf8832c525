from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recalld.models.policy.gazetteer import GazetteerError, gazetteer, parse_gazetteer

NAMES_MIN = 1_000
SOME_WORDS = ("uses", "Kubernetes", "k8s", "Go", "go", "React", "Native", "C++", "python3", "4", "the", "Chef.", "psql")


def names(text: str) -> list[str]:
    return [sighting.entry.name for sighting in gazetteer().find(text)]


def test_the_shipped_gazetteer_is_large_and_every_spelling_leads_to_its_entry() -> None:
    assert len(gazetteer().entries) >= NAMES_MIN
    for entry in gazetteer().entries:
        assert entry.category
        for spelling in entry.spellings:
            assert gazetteer().entry_of(spelling) == entry


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Deploys services to a kubernetes cluster", ["Kubernetes"]),
        ("k8s, psql and nvim", ["Kubernetes", "PostgreSQL", "Neovim"]),
        ("C++ or C#, not .NET", ["C++", "C#", ".NET"]),
        ("React Native, not React itself", ["React Native", "React"]),
        ("CI on GitHub Actions.", ["GitHub Actions"]),
        ("python3 scripts", ["Python"]),
        ("Node.js and node_modules", ["Node.js"]),
    ],
)
def test_names_are_found_in_any_spelling_and_the_longest_wins(text: str, found: list[str]) -> None:
    assert names(text) == found


@pytest.mark.parametrize(
    "text",
    [
        "Go home and make dinner",
        "Make sure the tests pass",
        "Chef is coming to dinner",
        "Spring cleaning on Monday",
        "a flask of tea",
        "Julia likes Ruby",
        "there is rust on the car",
        "pg-elm-02 is the host",
        "see example.net",
        "transport and portable",
    ],
)
def test_everyday_words_are_no_names(text: str) -> None:
    assert names(text) == []


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("The backend is written in Go", "Go"),
        ("We use Go 1.22", "Go"),
        ("R 4.3 is installed", "R"),
        ("We serve it with Flask", "Flask"),
        ("Flask backend", "Flask"),
        ("Migrated the servers from Chef to Ansible", "Chef"),
    ],
)
def test_everyday_words_are_names_where_their_surroundings_say_so(text: str, name: str) -> None:
    assert name in names(text)


def test_a_name_does_not_reach_over_the_end_of_a_sentence() -> None:
    assert names("We left GitHub. Actions follow") == ["GitHub"]


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ("PostgreSQL", "must be name, category"),
        ("PostgreSQL\t", "must be name, category"),
        ("a b c d e f\ttool", "1 to 5 words"),
        ("MySQL\tdatabase\tmysql", "already"),
        ("MySQL\tdatabase\nMariaDB\tdatabase\tmysql", "line 2"),
    ],
)
def test_a_faulty_line_is_refused_with_its_number(line: str, complaint: str) -> None:
    with pytest.raises(GazetteerError, match=complaint):
        parse_gazetteer(line)


@given(st.text(max_size=200))
def test_any_text_gives_sightings_in_order_that_do_not_overlap(text: str) -> None:
    end = 0
    for sighting in gazetteer().find(text):
        assert end <= sighting.start < sighting.end
        assert sighting.surface == text[sighting.start : sighting.end]
        end = sighting.end


@given(st.lists(st.sampled_from([*SOME_WORDS]), max_size=6).map(" ".join))
def test_a_text_of_ascii_is_read_like_any_other(text: str) -> None:
    sightings = gazetteer().find(text)
    assert sightings == gazetteer().find(f"{text} é")
    assert all(text[each.start : each.end] == each.surface for each in sightings)
