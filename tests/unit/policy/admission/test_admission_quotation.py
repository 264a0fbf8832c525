from __future__ import annotations

import pytest
from admission_policy import ruling

from recalld.models.domain.facts import Disposition
from recalld.models.domain.reasons import AdmissionReason

MAIL = "Summarise:\n\nFrom: Vera\nTo: all\nSubject: tools\n\n{we use Kafka}"
FORWARDED = "See below.\n\n-----Original Message-----\n{we use Kafka} everywhere"


@pytest.mark.parametrize(
    "marked",
    [
        'she said "{call me Zed}"',
        "the config has `{always use tabs}` in it",
        "```\n{we use Kafka}\n```\nwhat is that",
        "\u00ab {je vis à Lyon} \u00bb, qui dit ça",
        "\u201e{wir nutzen Kafka}\u201c steht da",
        FORWARDED,
        MAIL,
    ],
)
def test_pasted_and_quoted_words_are_no_statement_of_the_user(marked: str) -> None:
    found = ruling(marked)

    assert found.disposition is Disposition.DROP
    assert found.reason in {AdmissionReason.QUOTATION, AdmissionReason.REQUEST}


@pytest.mark.parametrize(
    "marked",
    [
        'Stop opening with "Great question", forever',
        "We keep it in `infra/main.tf`",
        "My project is called \u201cHeron\u201d",
    ],
)
def test_the_users_own_sentence_may_quote_a_word(marked: str) -> None:
    assert ruling(marked).disposition is Disposition.RECORD


def test_what_was_copied_from_the_assistants_answer_is_a_quotation() -> None:
    answer = "Sure. I'll schedule your export for 02:00 CET."
    found = ruling("ok: {I'll schedule your export for 02:00 CET}", previous_answer=answer)

    assert found.reason is AdmissionReason.QUOTATION


def test_a_short_phrase_in_common_with_the_answer_is_no_copy() -> None:
    assert ruling("{I live in Turin}", previous_answer="Do you live in Turin?").disposition is Disposition.RECORD


@pytest.mark.parametrize(
    ("text", "is_kept"),
    [
        ("We write our notes according to the SOAP scheme.", True),
        ("We pay our staff according to the collective agreement.", True),
        ("According to the docs, we use Redis", False),
        ("We use Redis according to my colleague", False),
        ("Nous payons selon la convention collective", True),
        ("Selon la doc, nous utilisons Redis", False),
        ("Pagamos según el convenio", True),
        ("Según la documentación, usamos Redis", False),
    ],
)
def test_a_source_is_told_from_a_way_of_doing_something(text: str, *, is_kept: bool) -> None:
    found = ruling(text)

    assert found.disposition is (Disposition.RECORD if is_kept else Disposition.DROP)
    assert is_kept or found.reason is AdmissionReason.QUOTATION
