from __future__ import annotations

import pytest
from admission_policy import ruling

from recalld.models.domain.facts import Disposition
from recalld.models.domain.reasons import AdmissionReason

DROPPED = [
    "in my novel the hero says {call me Zephyr}",
    "In my novel, we use runes.",
    "You're a pirate; {I'm Captain Bly}.",
    "Act as a pirate: {my name is Bly}",
    "I want you to act as a lawyer. {I live in Rome}",
    "You should act as my agent. {I'm Captain Bly}",
    "Let's pretend: {I live on Mars}",
    "Once upon a time {I was called Mo}",
    "Role-play time. You are the nurse. {I prefer to be called Trudi}.",
    "My hero's name is Torvald.",
    "Rollenspiel: {ich bin Ritter Kuno}",
    "In meinem Roman {wohnen wir auf dem Mond}",
    "Jeu de rôle : {je suis une espionne}",
    "Dans mon roman, {je vis à Tanger}",
    "Juego de rol: {soy una espía}",
    "En mi novela {vivo en Marte}",
]
KEPT = [
    "I'm writing a novel",
    "my name is Ada Quill, and I act as company secretary",
    "I act as treasurer of the club",
    "I review novels for a living",
    "I play chess on Sundays",
    "Ich schreibe einen Roman",
    "J'écris un roman",
    "Escribo una novela",
    "In my novel we use runes.\n\n{I live in Turin}",
]


@pytest.mark.parametrize("marked", DROPPED)
def test_fiction_is_dropped_as_such(marked: str) -> None:
    found = ruling(marked)

    assert (found.disposition, found.reason) == (Disposition.DROP, AdmissionReason.FICTION)


@pytest.mark.parametrize("marked", KEPT)
def test_what_only_looks_like_fiction_is_kept(marked: str) -> None:
    assert ruling(marked).disposition is Disposition.RECORD
