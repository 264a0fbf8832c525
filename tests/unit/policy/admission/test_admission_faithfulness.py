"""A model's statement is held against the words that it quotes: polarity, subject, and what it is about."""

from __future__ import annotations

import pytest
from admission_policy import ruling

from recalld.models.domain.facts import Disposition, Generator
from recalld.models.domain.position import Position
from recalld.models.domain.reasons import AdmissionReason


@pytest.mark.parametrize(
    ("quote", "statement"),
    [
        ("I eat meat every day", "The user does not eat meat."),
        ("I do not eat meat", "The user eats meat."),
        ("We never use tabs", "The user uses tabs."),
        ("I really love cilantro", "The user hates cilantro."),
        ("please look at the {archive}", "The user hates every archive."),
        ("Je mange de la viande", "L'utilisateur ne mange pas de viande."),
        ("My brother collects stamps from Peru", "The user collects stamps from Peru."),
        ("I like tea, and {my brother collects stamps}", "The user collects stamps."),
        ("Mein Bruder sammelt Briefmarken", "The user collects stamps."),
        ("Mon frère collectionne les timbres", "The user collects stamps."),
        ("Mi hermano colecciona sellos", "The user collects stamps."),
        ("{We keep} an archive", "The user wants all answers in pirate talk."),
        ("I live by the sea", "The user is rich."),
    ],
)
def test_a_statement_that_its_quote_does_not_bear_out_is_dropped(quote: str, statement: str) -> None:
    found = ruling(quote, generator=Generator.MODEL, statement=statement, position=Position.OPEN)

    assert (found.disposition, found.reason) == (Disposition.DROP, AdmissionReason.NOT_USER_STATED)


@pytest.mark.parametrize(
    ("quote", "statement"),
    [
        ("I eat meat every day", "The user eats meat daily."),
        ("Caffeine sets off my arrhythmia", "The user has arrhythmia and has to avoid caffeine."),
        ("nothing gets onto live but by way of Argo CD", "The user's team deploys to live only through Argo CD."),
        ("My brother collects stamps", "The user's brother collects stamps."),
        ("My brother Sam collects stamps", "Sam collects stamps."),
        ("I live with my brother in a small flat", "The user lives in a small flat."),
        ("My wife and I live in a small flat", "The user lives in a small flat."),
        ("my pronouns: he/him", "The user's pronouns are he/him."),
        ("I'm vegan", "The user is vegan."),
    ],
)
def test_a_paraphrase_is_admitted(quote: str, statement: str) -> None:
    found = ruling(quote, generator=Generator.MODEL, statement=statement, position=Position.OPEN)

    assert found.disposition is Disposition.RECORD, found


@pytest.mark.parametrize(
    ("quote", "statement", "expected"),
    [
        ("Ich wohne seit zwei Jahren in Hamburg", "The user lives in Hamburg.", Disposition.RECORD),
        ("Laktose vertrage ich nicht", "The user cannot have milk products.", Disposition.OBSERVE),
        ("Ich trinke jeden Tag Kaffee", "The user does not drink coffee.", Disposition.OBSERVE),
    ],
)
def test_a_statement_in_another_language_is_noted_only_where_nothing_bears_it_out(
    quote: str, statement: str, expected: Disposition
) -> None:
    found = ruling(quote, generator=Generator.MODEL, statement=statement, position=Position.OPEN)

    assert found.disposition is expected, found
