from __future__ import annotations

import pytest
from admission_policy import ruling

from recalld.models.domain.facts import Disposition
from recalld.models.domain.reasons import AdmissionReason

DROPPED = [
    "I'm in Rome this week",
    "I'm so tired",
    "The build is red right now",
    "On call this week, {I'm on call}",
    "I'm in Tallinn till Sunday.",
    "working from my mum's today",
    "Our VPN is down",
    "Until the merger is signed we say Heron",
    "Heute ist der Aufzug kaputt",
    "Ich bin bis Freitag in Zwolle",
    "Je suis à Nantes cette semaine",
    "Je suis à Nantes jusqu'à vendredi",
    "Esta semana estoy en Vigo",
    "Estoy en Vigo hasta el viernes",
]
KEPT = [
    "as of today I live in Ghent",
    "From today answer in Welsh",
    "I'm open to remote work",
    "We deploy on Tuesdays",
    "The shop is open until six",
    "I work nights",
    "Ab heute bitte immer metrisch",
    "Wir liefern dienstags",
    "À partir d'aujourd'hui réponds en anglais",
    "Nous livrons le mardi",
    "A partir de hoy responde en inglés",
    "Entregamos los martes",
]


@pytest.mark.parametrize("marked", DROPPED)
def test_a_situation_is_dropped_as_such(marked: str) -> None:
    found = ruling(marked)

    assert (found.disposition, found.reason) == (Disposition.DROP, AdmissionReason.SITUATIONAL)


@pytest.mark.parametrize("marked", KEPT)
def test_what_only_looks_like_a_situation_is_kept(marked: str) -> None:
    assert ruling(marked).disposition is Disposition.RECORD
