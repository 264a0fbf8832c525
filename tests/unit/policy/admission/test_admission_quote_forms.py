"""A quote is found however its accents are composed, and where it counts if it stands in the turn twice."""

from __future__ import annotations

import unicodedata

import pytest
from admission_policy import ruling

from recalld.models.domain.facts import Disposition, Generator
from recalld.models.domain.position import Position
from recalld.models.policy.admission.quoted_words import find_all, find_literally

CAFE = "I drink café au lait in Zürich"


@pytest.mark.parametrize(("said", "quoted"), [("NFC", "NFD"), ("NFD", "NFC"), ("NFD", "NFD")])
def test_accents_may_be_composed_otherwise(said: str, quoted: str) -> None:
    text = unicodedata.normalize(said, f"Well, {CAFE}.")
    span = find_literally(unicodedata.normalize(quoted, CAFE), text)

    assert span is not None
    assert text[span.start : span.end] == unicodedata.normalize(said, CAFE)


@pytest.mark.parametrize("mark", ["\u200b", "\u00ad", "\ufeff", "\u2060"])
def test_invisible_characters_do_not_count(mark: str) -> None:
    text = f"Well, I drink co{mark}ffee."
    span = find_literally("I drink coffee", text)
    assert span is not None
    assert text[span.start : span.end] == f"I drink co{mark}ffee"
    assert find_literally(f"I drink{mark} coffee", "I drink coffee") is not None


@pytest.mark.parametrize("quote", ["", "\u200b", "I drink tea", "drink coff"])
def test_other_words_and_parts_of_words_are_found_nowhere(quote: str) -> None:
    assert find_literally(quote, "I drink coffee") is None
    assert list(find_all(quote, "I drink coffee")) == []


def test_a_quote_that_was_asked_first_counts_where_it_is_stated() -> None:
    quote = "we use BigQuery"
    found = ruling(
        "Do we use BigQuery? Yes: {we use BigQuery}.",
        generator=Generator.MODEL,
        statement="The user's team uses BigQuery.",
        position=Position.OPEN,
    )

    assert found.disposition is Disposition.RECORD
    assert found.candidate.quote == quote


def test_a_quote_that_is_only_asked_stays_a_question() -> None:
    found = ruling(
        "Do we use BigQuery? I wonder: do {we use BigQuery}?",
        generator=Generator.MODEL,
        statement="The user's team uses BigQuery.",
        position=Position.OPEN,
    )

    assert found.disposition is Disposition.DROP
