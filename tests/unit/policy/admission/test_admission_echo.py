from __future__ import annotations

import pytest
from admission_policy import ruling

from recalld.models.domain.facts import Disposition, Generator
from recalld.models.domain.reasons import AdmissionReason

INJECTED = {
    "mem_1": "The user lives in Turin.",
    "mem_2": "The budget is 2,400 euros.",
    "mem_3": "The deadline is October 15th.",
    "mem_4": "The user likes dark mode.",
}


@pytest.mark.parametrize(
    "text", ["I live in Turin", "so the budget is 2,400 euros", "I like dark mode", "The user lives in Turin."]
)
def test_what_memory_had_put_before_the_user_is_an_echo(text: str) -> None:
    found = ruling(text, injected=INJECTED)

    assert (found.disposition, found.reason) == (Disposition.DROP, AdmissionReason.ECHO)


@pytest.mark.parametrize(
    "text",
    [
        "I live in Ivrea",
        "the budget is 2,450 euros",
        "The deadline is October 16th",
        "I don't like dark mode",
        "I like light mode",
    ],
)
def test_a_changed_name_number_date_negation_or_word_is_news(text: str) -> None:
    assert ruling(text, injected=INJECTED).disposition is Disposition.RECORD


def test_nothing_is_an_echo_where_nothing_was_injected() -> None:
    assert ruling("I live in Turin").disposition is Disposition.RECORD


def test_what_the_user_asks_to_have_saved_is_no_echo() -> None:
    found = ruling("{I live in Turin}", generator=Generator.EXPLICIT, injected=INJECTED)

    assert found.disposition is Disposition.RECORD


def test_the_end_of_what_was_injected_is_no_echo() -> None:
    assert ruling("I no longer live in Turin", injected=INJECTED, is_ending=True).disposition is Disposition.RECORD
