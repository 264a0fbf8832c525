from __future__ import annotations

import pytest
from admission_policy import ruling

from recalld.models.domain.facts import Disposition, Generator
from recalld.models.domain.reasons import AdmissionReason
from recalld.models.policy import word_lists
from recalld.models.policy.stop_words import stop_words

UNREAD = [
    "non usiamo Snowflake, {siamo su BigQuery}",
    "não usamos {Snowflake} mas temos BigQuery",
    "wij gebruiken geen {Snowflake}",
    "nie używamy {Snowflake} ale mamy BigQuery",
    "我们不用 {Snowflake}",
    "мы не используем {Snowflake}",
    "私たちは {Snowflake} を使っていません",
]


@pytest.mark.parametrize("marked", UNREAD)
@pytest.mark.parametrize("generator", [Generator.RULE, Generator.JUDGE])
def test_a_name_in_a_clause_that_nobody_here_can_read_is_not_admitted(marked: str, generator: Generator) -> None:
    found = ruling(marked, generator=generator)

    assert (found.disposition, found.reason) == (Disposition.DROP, AdmissionReason.UNREAD_LANGUAGE)


def test_a_language_model_reads_more_languages() -> None:
    found = ruling("{siamo su BigQuery, non su Redshift}", generator=Generator.MODEL)

    assert found.reason is not AdmissionReason.UNREAD_LANGUAGE


@pytest.mark.parametrize(
    "text",
    ["uv only in this repo", "Wir nutzen BigQuery", "Nous utilisons BigQuery", "Usamos BigQuery", "I live in Łódź"],
)
def test_languages_with_lists_are_read(text: str) -> None:
    assert ruling(text).disposition is Disposition.RECORD


def test_no_word_of_an_unread_language_is_a_stop_word_of_a_read_one() -> None:
    unread = word_lists.words("admission/unread_words.txt")

    assert {word for listed in stop_words().values() for word in listed & unread} == set()


@pytest.mark.parametrize(
    "marked",
    [
        "wir sind nicht auf {Redshift}",
        "nous n'utilisons pas {Databricks}",
        "no usamos {Databricks}",
        "Ich lebe. {nous n'utilisons pas Databricks}",
    ],
)
def test_a_denial_is_read_in_each_languages_own_words(marked: str) -> None:
    assert ruling(marked).reason is AdmissionReason.NEGATED
