"""What a clause with "that" says is stated only where the words before it do not deny it or ask about it."""

from __future__ import annotations

import pytest
from admission_policy import ruling

from recalld.models.domain.facts import Disposition
from recalld.models.domain.reasons import AdmissionReason

DENIED = [
    "It isn't true that {we use BigQuery}.",
    "It isn\u2019t true that we use BigQuery.",
    "It's false that {I live in Rome}.",
    "I deny that {I work at Acme}.",
    "It's a myth that {we use BigQuery}.",
    "Nobody believes that {we use BigQuery}.",
    "It's not the case that {we use BigQuery}.",
    "I doubt that {we use BigQuery}.",
    "I never said that {I live in Rome}.",
    "Es stimmt nicht, dass {wir BigQuery nutzen}.",
    "Es ist ein Mythos, dass {wir BigQuery nutzen}.",
    "Ich bestreite, dass {ich bei Acme arbeite}.",
    "Il est faux que {j'habite à Rome}.",
    "Ce n'est pas vrai que {j'habite à Rome}.",
    "Je nie que {je travaille chez Acme}.",
    "No es verdad que {vivo en Roma}.",
    "Es mentira que {trabajo en Acme}.",
    "Nadie cree que {vivo en Roma}.",
]
ASKED = [
    "do you remember that {I live in Rome}",
    "is it correct that {we use BigQuery}",
    "please verify that {we use BigQuery}",
    "could you check that {we use BigQuery}",
    "stimmt es, dass {ich in Rom wohne}",
    "weißt du noch, dass {ich in Rom wohne}",
    "prüfe bitte, dass {wir BigQuery nutzen}",
    "est-il vrai que {j'habite à Rome}",
    "tu te souviens que {j'habite à Rome}",
    "vérifie que {nous utilisons BigQuery}",
    "comprueba que {usamos BigQuery}",
    "recuerdas que {vivo en Roma}",
]
STATED = [
    "It's true that {we use BigQuery}.",
    "I can confirm that {we use BigQuery}.",
    "I told you that {I live in Rome}.",
    "It's false that I live in Rome, {I live in Oslo}.",
    "It isn't true that we use Redshift: {we use BigQuery}.",
    "Always verify that the links resolve.",
    "Es stimmt, dass {wir BigQuery nutzen}.",
    "C'est vrai que {j'habite à Rome}.",
    "Es verdad que {vivo en Roma}.",
]


@pytest.mark.parametrize("marked", DENIED)
def test_what_is_denied_is_dropped_as_such(marked: str) -> None:
    found = ruling(marked)

    assert (found.disposition, found.reason) == (Disposition.DROP, AdmissionReason.NEGATED)


@pytest.mark.parametrize("marked", ASKED)
def test_what_is_asked_about_is_dropped_as_a_question(marked: str) -> None:
    found = ruling(marked)

    assert found.disposition is Disposition.DROP
    assert found.reason in {AdmissionReason.QUESTION, AdmissionReason.REQUEST}


@pytest.mark.parametrize("marked", STATED)
def test_what_is_affirmed_is_stated(marked: str) -> None:
    assert ruling(marked).disposition is Disposition.RECORD
