"""A slot that a model names holds only where the words state a value of it."""

from __future__ import annotations

import pytest

from recalld.models.domain.admission import OfferedFact
from recalld.models.domain.records import MemoryKind
from recalld.models.policy.offered_slot import fitting_slot
from recalld.models.policy.turn_facts import read_turn


def offered(quote: str, statement: str, slot: str) -> OfferedFact:
    return OfferedFact(quote=quote, statement=statement, slot=slot, kind=MemoryKind.FACT)


@pytest.mark.parametrize(
    ("quote", "statement", "slot"),
    [
        ("I like the Graz opera a lot", "The user likes the Graz opera.", "employer"),
        ("We use BigQuery", "The user's team uses BigQuery.", "employer"),
        ("I work at Acme", "The user works at Acme.", "location"),
        ("I have a canary", "The user has a canary.", "no_such_slot"),
        ("I have a canary", "The user has a canary.", ""),
    ],
)
def test_a_label_that_the_words_do_not_bear_out_is_none(quote: str, statement: str, slot: str) -> None:
    assert fitting_slot(offered(quote, statement, slot)) == ""


@pytest.mark.parametrize(
    ("quote", "statement", "slot"),
    [
        ("I work at Acme", "The user works at Acme.", "employer"),
        ("I'm at Acme now", "The user works at Acme.", "employer"),
        ("Ich wohne in Hamburg", "Hamburg, seit Mai.", "location"),
    ],
)
def test_a_label_that_fits_the_statement_or_the_quote_stays(quote: str, statement: str, slot: str) -> None:
    assert fitting_slot(offered(quote, statement, slot)) == slot


def test_a_candidate_of_a_turn_loses_a_label_that_does_not_fit() -> None:
    quote = "I like the Graz opera a lot"
    facts = read_turn(f"{quote}.", (offered(quote, "The user likes the Graz opera.", "employer"),), has_rules=False)

    assert [each.slot for each in facts.candidates] == [""]
