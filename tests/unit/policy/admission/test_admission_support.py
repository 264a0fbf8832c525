from __future__ import annotations

import pytest
from admission_policy import ruling

from recalld.models.domain.facts import Disposition, Generator
from recalld.models.domain.reasons import AdmissionReason


@pytest.mark.parametrize(
    ("quote", "statement"),
    [
        ("I hate cilantro in my food", "The user prefers cilantro in their food"),
        ("I do not like dark mode", "The user likes dark mode"),
        ("I can not stand pop-ups", "The user enjoys pop-ups"),
        ("I detest tabs", "The user prefers tabs"),
    ],
)
@pytest.mark.parametrize("generator", [Generator.RULE, Generator.MODEL])
def test_a_dislike_is_never_stored_as_a_liking(quote: str, statement: str, generator: Generator) -> None:  # A07
    found = ruling(quote, generator=generator, statement=statement)

    assert (found.disposition, found.reason) == (Disposition.DROP, AdmissionReason.NOT_USER_STATED)


@pytest.mark.parametrize(
    ("quote", "statement"),
    [
        ("I hate cilantro in my food", "The user dislikes cilantro in their food"),
        ("I do not like dark mode", "The user does not like dark mode"),
        ("I detest tabs", "The user detests tabs"),
        ("I prefer tabs", "The user prefers tabs"),
        ("I'd prefer that answers do not exceed half a page", "The user prefers answers of half a page"),
        ("I no longer like tea", "The user stopped liking tea"),
    ],
)
def test_a_statement_that_keeps_the_polarity_is_admitted(quote: str, statement: str) -> None:
    assert ruling(quote, statement=statement).disposition is Disposition.RECORD


@pytest.mark.parametrize(
    "statement",
    ["The user lives in Milan", "The user has lived in Turin for 12 years", "The user uses Kubernetes in Turin"],
)
def test_a_model_may_not_bring_names_and_numbers_that_nobody_said(statement: str) -> None:
    found = ruling("{I live in Turin}", generator=Generator.MODEL, statement=statement)

    assert found.reason is AdmissionReason.NOT_USER_STATED


def test_a_model_may_use_names_and_numbers_of_the_whole_turn() -> None:
    found = ruling(
        "My sister Ada is 12. {She lives in Turin}.",
        generator=Generator.MODEL,
        statement="The user's sister Ada, 12, lives in Turin",
    )

    assert found.disposition is Disposition.RECORD
