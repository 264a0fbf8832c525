from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recalld.models.policy import word_lists
from recalld.models.policy.clauses import CHARS_MAX, CLAUSE_LANGUAGES, CLAUSES_MAX, asks_for_work, split_clauses

COMPOUND = (
    "Set up the new repo: CI pipeline, the linter config, and also draft the message to the "
    "team, and by the way where "
    "should I deploy it"
)


def test_a_compound_request_is_cut_into_its_requests() -> None:
    assert split_clauses(COMPOUND) == (
        "Set up the new repo: CI pipeline",
        "Set up the new repo: the linter config",
        "draft the message to the team",
        "where should I deploy it",
    )


@pytest.mark.parametrize(
    ("text", "clauses"),
    [
        (
            (
                "Kannst du bitte das neue Repository einrichten und die CI konfigurieren, und außerdem "
                "eine Nachricht an "
                "das Team schreiben, und übrigens, wohin soll ich das eigentlich deployen am Ende?"
            ),
            3,
        ),
        (
            (
                "Peux-tu préparer le nouveau dépôt avec la configuration du linter comme d'habitude, et "
                "aussi rédiger un "
                "message pour l'équipe, et au passage où dois-je le déployer à la fin ?"
            ),
            3,
        ),
        (
            (
                "¿Puedes preparar el nuevo repositorio con la configuración del linter como siempre, y "
                "también escribir "
                "un mensaje para el equipo, y por cierto, ¿dónde debo desplegarlo al final?"
            ),
            3,
        ),
    ],
)
def test_other_languages_are_cut_at_their_own_words(text: str, clauses: int) -> None:
    assert len(split_clauses(text)) == clauses


@pytest.mark.parametrize(
    "text",
    [
        "Fix the tests and also deploy it",
        "where do I deploy?",
        (
            "I had a long day at work and the train was late again, so I only got home at nine and "
            "then cooked something "
            "small. Anyway, where do I deploy the payments service these days?"
        ),
        (
            "It rained all day and the dog was wet and then the cat came in as well and also the "
            "neighbour, who stayed "
            "for tea and talked about the war."
        ),
    ],
)
def test_a_short_message_and_one_that_asks_for_one_thing_stay_whole(text: str) -> None:
    assert split_clauses(text) == (text,)


def test_a_list_of_lines_is_cut_into_its_lines() -> None:
    text = (
        "Hi, three things for today before I leave for the long weekend at last:\n- draft the "
        "release notes for Tidewell"
        "\n- where do the crash reports go now?\n- book a table for four people on Friday evening"
    )
    assert split_clauses(text) == (
        "draft the release notes for Tidewell",
        "where do the crash reports go now?",
        "book a table for four people on Friday evening",
    )


def test_a_paste_is_not_cut() -> None:
    text = "Draft a mail. Where do I deploy? " * (CHARS_MAX // 30)
    assert split_clauses(text) == (text.strip(),)


@pytest.mark.parametrize("text", ["should I write a Jenkinsfile?", "Draft it", "Hm. Set up CI", "soll ich das tun?"])
def test_a_request_for_work_or_advice_is_told(text: str) -> None:
    assert asks_for_work(text)


@pytest.mark.parametrize("text", ["what licence is Woodpecker under?", "k8s?", "Is it true that grebes swim?", ""])
def test_from_a_question_for_a_fact(text: str) -> None:
    assert not asks_for_work(text)


@pytest.mark.parametrize("language", CLAUSE_LANGUAGES)
@pytest.mark.parametrize("kind", ["connectors", "questions", "tasks"])
def test_every_list_has_entries_in_lower_case_and_each_once(kind: str, language: str) -> None:
    entries = word_lists.entries(f"clauses/{kind}.{language}.txt")
    assert entries
    assert len(set(entries)) == len(entries)
    assert all(entry == entry.lower() for entry in entries)


@given(st.text(max_size=400))
def test_any_text_gives_one_to_four_clauses_none_blank_unless_it_is(text: str) -> None:
    clauses = split_clauses(text)
    assert 1 <= len(clauses) <= CLAUSES_MAX
    assert all(clauses) or not text.strip()
