"""What is taken back, told in confidence, or belongs to a tale or to words to be reworked, is not stored."""

from __future__ import annotations

import pytest
from admission_policy import ruling

from recalld.models.domain.facts import Disposition, Generator
from recalld.models.domain.reasons import AdmissionReason
from recalld.models.policy.explicit_save import find_explicit_save, find_explicit_saves

JOKES = [
    "{I work at NASA}. Just kidding.",
    "{I live in Rome}. Kidding!",
    "{I work at NASA}, just kidding.",
    "{Ich arbeite bei der NASA}. Kleiner Scherz.",
    "{Je travaille à la NASA}. Je plaisante !",
    "{Trabajo en la NASA}. Es broma.",
]
EARNEST = [
    "{I work at Acme}. I am not kidding.",
    "Kidding aside, {I work at Acme}.",
    "I live on the moon. Just kidding, {I live in Oslo}.",
    "J'habite sur la lune. Je blague, {j'habite à Lyon}.",
    "{Trabajo en Acme}. No es broma.",
]
CONFIDENTIAL = [
    "This is confidential: {I work at Acme}.",
    "Das ist streng vertraulich: {Ich arbeite bei Acme}.",
    "C'est confidentiel : {je travaille chez Acme}.",
    "Esto es confidencial: {trabajo en Acme}.",
    "No recuerdes que {vivo en Roma}.",
]
TALES = [
    "Schreibe eine Geschichte: {Ich wohne in Berlin}.",
    "Schreib eine Geschichte. {Ich wohne in Berlin}.",
    "Écris une histoire. {J'habite à Lyon}.",
    "Escribe un cuento. {Vivo en Madrid}.",
    "Continue the story. I live in Vienna. {I hate rain}.",
    "Chapter 3. {I live in Vienna}.",
    "Picture this. {I live in Vienna}.",
]
REWORKED = [
    "Écris une lettre. {J'habite à Lyon}.",
    "Write a short email. {I live in Lyon}.",
    "1. {I live in Rome}\n2. I live in Oslo\nwhich is grammatical",
    "Which one is right\n- {I live in Rome}\n- I lives in Rome",
    "Turn this into passive voice. {We use BigQuery}.",
    "Make this more polite: {Call me Bob}.",
    "Correct my Spanish: {Vivo en Madrid}",
    "Make this more formal: I am Bob. {I live in Rome}.",
    "Mach das etwas höflicher: Hallo. {Ich wohne in Berlin}.",
    "Corrige mon français. {J'habite à Lyon}.",
    "Corrige mi español. {Vivo en Madrid}.",
]
OWN = [
    "Write a letter to my landlord about the heating. {I live in Graz}.",
    "1. {I live in Rome}\n2. I work at Acme",
    "- {I live in Rome}\n- I work at Acme\n\nWhich bank would you take?",
    "I'm writing a story. {My name is Dana}.",
    "{I live in Rome}. Correct my Spanish: Hola amigo",
    "Fix this bug. {We use Python 3.8}.",
    "I write the story of our town. {I live in Graz}.",
]


@pytest.mark.parametrize("generator", [Generator.RULE, Generator.EXPLICIT])
@pytest.mark.parametrize("marked", JOKES)
def test_a_joke_is_not_stored_even_on_command(marked: str, generator: Generator) -> None:
    found = ruling(marked, generator=generator)

    assert (found.disposition, found.reason) == (Disposition.DROP, AdmissionReason.FICTION)


@pytest.mark.parametrize("marked", [*EARNEST, *OWN])
def test_what_only_stands_near_one_is_stored(marked: str) -> None:
    assert ruling(marked).disposition is Disposition.RECORD


@pytest.mark.parametrize("marked", CONFIDENTIAL)
def test_what_is_told_in_confidence_is_refused(marked: str) -> None:
    assert ruling(marked).reason is AdmissionReason.REFUSED_IN_COMMAND


@pytest.mark.parametrize("marked", TALES)
def test_a_tale_goes_on_behind_the_stop(marked: str) -> None:
    assert ruling(marked).reason is AdmissionReason.FICTION


@pytest.mark.parametrize("marked", REWORKED)
def test_words_to_be_reworked_go_on_behind_the_stop(marked: str) -> None:
    assert ruling(marked).reason is AdmissionReason.REQUEST


@pytest.mark.parametrize(
    "turn",
    [
        "Remember that my name is Dana. Actually don't save that.",
        "Remember that I live in Rome, no wait, don't.",
        "Remember that I live in Rome. Wait, no, do not.",
        "Merk dir, dass ich in Rom wohne. Ach nein, doch nicht speichern.",
        "Retiens que j'habite à Rome. En fait non, ne l'enregistre pas.",
        "Recuerda que vivo en Roma. Espera, mejor no lo guardes.",
    ],
)
def test_a_command_that_is_taken_back_saves_nothing(turn: str) -> None:
    assert getattr(find_explicit_save(turn), "reason", None) is AdmissionReason.REFUSED_IN_COMMAND


@pytest.mark.parametrize(
    "turn",
    [
        "Remember that I live in Rome.",
        "Remember that we don't share confidential data with vendors.",
        "Remember: no, I don't eat meat.",
        "Merk dir, dass ich in Rom wohne, nicht in Mailand.",
    ],
)
def test_a_command_with_a_denial_in_it_saves(turn: str) -> None:
    assert isinstance(find_explicit_saves(turn), tuple)
