from __future__ import annotations

import pytest
from admission_policy import ruling

from recalld.models.domain.facts import Disposition, Generator
from recalld.models.domain.reasons import AdmissionReason


@pytest.mark.parametrize(
    "text",
    [
        "you can't process audio",
        "You cannot open PDFs",
        "you have no access to the internet",
        "Du kannst keine Bilder sehen",
        "Tu ne peux pas lire les images",
        "No puedes abrir archivos",
    ],
)
def test_what_the_assistant_can_do_is_no_fact_of_the_user(text: str) -> None:
    found = ruling(text)

    assert (found.disposition, found.reason) == (Disposition.DROP, AdmissionReason.CAPABILITY_CLAIM)


def test_a_models_statement_about_the_assistant_is_one_too() -> None:
    found = ruling("{my file had audio}", generator=Generator.MODEL, statement="The assistant cannot process audio.")

    assert found.reason is AdmissionReason.CAPABILITY_CLAIM


@pytest.mark.parametrize(
    "text",
    [
        "I can't eat nuts",
        "We can't deploy on Fridays",
        "My phone cannot open PDFs",
        "Ich kann keine Milch trinken",
        "Je ne peux pas manger de noix",
        "No puedo comer nueces",
    ],
)
def test_what_the_user_cannot_do_is_a_fact(text: str) -> None:
    assert ruling(text).disposition is Disposition.RECORD
