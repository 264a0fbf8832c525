"""A tag makes a question of a statement without a question mark as well, and only behind a comma and at the end."""

from __future__ import annotations

import pytest
from admission_policy import ruling

from recalld.models.domain.facts import Disposition
from recalld.models.domain.reasons import AdmissionReason

ASKED = [
    "{we're on Snowflake}, aren't we",
    "{we\u2019re on Snowflake}, aren\u2019t we.",
    "{I work at Acme}, don't I",
    "{I work at Acme}, am I not",
    "{we don't use Redshift}, do we",
    "{we use BigQuery}, innit",
    "{we use BigQuery}, right",
    "{Ich wohne in Berlin}, nicht wahr",
    "{Wir nutzen Snowflake}, gell",
    "{Wir nutzen Snowflake}, oder",
    "{J'habite à Rome}, n'est-ce pas",
    "{J'habite à Rome}, non",
    "{Vivo en Roma}, verdad",
    "{Vivo en Roma}, no es así",
]
STATED = [
    "No, {I live in Rome}.",
    "{We use BigQuery}, or rather we moved to it.",
    "{Ich wohne in Berlin}, nicht in Hamburg.",
    "{J'habite à Rome}, non à Milan.",
    "{Vivo en Roma}, no en Milán.",
    "Right, {we use BigQuery}.",
]


@pytest.mark.parametrize("marked", ASKED)
def test_a_tag_without_a_question_mark_asks(marked: str) -> None:
    found = ruling(marked)

    assert (found.disposition, found.reason) == (Disposition.DROP, AdmissionReason.QUESTION)


@pytest.mark.parametrize("marked", STATED)
def test_a_tags_words_elsewhere_ask_nothing(marked: str) -> None:
    assert ruling(marked).disposition is Disposition.RECORD
