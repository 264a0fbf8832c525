from __future__ import annotations

import pytest
from admission_policy import ruling

from recalld.models.domain.facts import Disposition
from recalld.models.domain.reasons import AdmissionReason

DROPPED = [
    "we probably use Kafka",
    "I think we use Kafka",
    "maybe it's on GKE",
    "{we use Kafka}, not sure though",
    "not sure but {we use bash}",
    "I guess we're on Postgres",
    "The runner is presumably bash",
    "{our lead is Farouk}, I assume we changed",
    "Wir nutzen wahrscheinlich Kafka",
    "{Wir nutzen Kafka}, glaube ich",
    "On utilise sans doute Kafka",
    "Je crois que nous utilisons Kafka",
    "Creo que usamos Kafka",
    "Probablemente usamos Kafka",
    "I live in Bath, I think.",
    "Ich wohne in Bonn, denke ich",
    "J'habite à Colmar, je pense",
    "Vivo en Vigo, creo",
]
KEPT = [
    "I think in Celsius",
    "I like tea, I think in Celsius",
    "when you are not sure, say so",
    "We use Kafka",
    "I believe in tests before code",
    "I am sure we use Kafka",
    "Ich bin sicher, wir nutzen Kafka",
    "Je suis sûre, on utilise Kafka",
    "Estoy segura, usamos Kafka",
]


@pytest.mark.parametrize("marked", DROPPED)
def test_a_guess_is_dropped_as_such(marked: str) -> None:
    found = ruling(marked)

    assert (found.disposition, found.reason) == (Disposition.DROP, AdmissionReason.GUESS)


@pytest.mark.parametrize("marked", KEPT)
def test_what_only_looks_like_a_guess_is_kept(marked: str) -> None:
    assert ruling(marked).disposition is Disposition.RECORD
