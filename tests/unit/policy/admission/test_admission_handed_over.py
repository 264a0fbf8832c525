"""Words handed over to be worked on, lines of other speakers, and orders for the piece of work at hand."""

from __future__ import annotations

import pytest
from admission_policy import ruling

from recalld.models.domain.facts import Disposition
from recalld.models.domain.reasons import AdmissionReason
from recalld.models.policy.save_turn import prepare_turn
from recalld.models.policy.statements.find import find_stated

HANDED_OVER = [
    "Corrige mon anglais. {I live in Lyon}.",
    "Corrige mi inglés. {I live in Madrid}.",
    "Korrigiere mein Englisch. {I live in Lyon}.",
    "Traduis ceci : {I live in Paris}",
    "Can you correct my English? {I live in Lyon}.",
    "Fix the grammar. {I live in Paris}.",
    "Is this correct English? {I live in Lyon since two years}.",
    "Proofread: {we use Redis}",
]
OWN = [
    "Proofread my mail later. {I live in Lyon}.",
    "Corrige mon anglais plus tard. {J'habite à Lyon}.",
    "Correct my English whenever I write something wrong. {I live in Lyon}.",
    "Translate this: I live in Paris\n\nBy the way, {I work at Acme}.",
    'Translate this: "Je suis malade". {I work at Acme}.',
    "Translate the readme to French, please. {I work at Acme}.",
]
SPEAKERS = [
    "[2026-04-01 10:04] Dana: {I work at Acme}",
    "Dana: {I work at Acme}",
    "@dana: {I work at Acme}",
    "dana> {I work at Acme}",
    "Dana Smith [10:04]\n{I work at Acme}",
    "Dana  10:04 AM\n{I work at Acme}",
    "Dana, 10:04\n{I work at Acme}",
    "dana: hi\nlee: hello\ndana: {I work at Acme}",
    "Me: we use Redis\nDana: {I work at Acme}",
]
OWN_LINES = [
    "Me: {I work at Acme}",
    "I: {I work at Acme}",
    "[10:04] Me: {I work at Acme}",
    "Dana: we use Redis\nMe: {I work at Acme}",
    "Work: {I work at Acme}\nHome: I live in Lyon",
    "Übrigens: {ich wohne in Graz}",
    "Sanity check: {the cluster runs 1.29}",
    "Dana: {the new colleague in my team}",
]
AT_HAND = [
    "From now on use tabs in this file.",
    "À partir de maintenant, réponds en anglais dans cet exercice.",
    "A partir de ahora, responde en inglés en este ejercicio.",
    "Ab jetzt antworte in diesem Text immer auf Deutsch.",
    "Always put the verb at the end in this exercise.",
    "During this game, always answer as a pirate.",
    "For the purposes of this exercise, always use metric.",
    "In diesem Spiel antworte immer auf Englisch.",
    "Call him Sir in this chat.",
]
LASTING = [
    "Always use tabs in this repo.",
    "In this project always use tabs.",
    "In diesem Repo immer Tabs verwenden.",
    "Dans ce projet, utilise toujours des tabs.",
    "En este repo usa siempre tabs.",
]
NAMED = [
    "My dentist is Dr. Öz.",
    "Dr. Öz is my dentist.",
    "My landlord's name is Ivo.",
    "Mein Vermieter ist Herr Öztürk.",
    "Ma dentiste est la Dre Élise Roy.",
    "Mi dentista es la Dra. Íñiguez.",
]
OTHERS = ["My dentist uses Windows.", "My barber is closed on Mondays.", "My friend likes Vim."]


@pytest.mark.parametrize("marked", HANDED_OVER)
def test_words_to_be_worked_on_are_not_the_users_statement_in_whatever_language_that_is_asked(marked: str) -> None:
    assert ruling(marked).disposition is Disposition.DROP


@pytest.mark.parametrize("marked", [*OWN, *OWN_LINES])
def test_what_stands_outside_of_such_words_or_in_an_own_line_is_the_users(marked: str) -> None:
    assert ruling(marked).disposition is Disposition.RECORD


@pytest.mark.parametrize("marked", SPEAKERS)
def test_a_line_of_another_speaker_is_a_quotation(marked: str) -> None:
    assert ruling(marked).reason in {AdmissionReason.QUOTATION, AdmissionReason.NOT_USER_STATED}


@pytest.mark.parametrize("text", AT_HAND)
def test_an_order_for_the_work_at_hand_is_no_standing_one(text: str) -> None:
    assert ruling(text).reason is AdmissionReason.REQUEST


@pytest.mark.parametrize("text", LASTING)
def test_an_order_for_a_repository_or_project_lasts(text: str) -> None:
    assert ruling(text).disposition is Disposition.RECORD


@pytest.mark.parametrize("text", NAMED)
def test_who_somebody_is_to_the_user_is_the_users_to_say(text: str) -> None:
    assert ruling(text).disposition is Disposition.RECORD


@pytest.mark.parametrize("text", OTHERS)
def test_what_such_people_do_is_of_third_persons(text: str) -> None:
    assert ruling(text).reason is AdmissionReason.THIRD_PERSON


@pytest.mark.parametrize(
    "text", ["You can push to main.", "You can always push to main.", "Du kannst auf main pushen.", "Tu peux pousser."]
)
def test_what_the_assistant_is_allowed_needs_a_yes_with_or_without_a_time(text: str) -> None:
    found = ruling(text)
    assert (found.disposition, found.reason) == (Disposition.PROPOSE, AdmissionReason.NEEDS_CONFIRMATION)


@pytest.mark.parametrize("text", ["You can find the docs in docs/.", "You can see that we use Redis."])
def test_what_the_assistant_can_look_up_is_no_permission(text: str) -> None:
    assert ruling(text).disposition is Disposition.RECORD


@pytest.mark.parametrize("text", ["I'm Groot", "I am Groot.", "I live in Excel these days", "Ich lebe quasi in Excel."])
def test_a_figure_of_speech_gives_neither_name_nor_place(text: str) -> None:
    assert find_stated(prepare_turn(text)) == ()


@pytest.mark.parametrize("text", ["Hi, I'm Dana", "I'm Dana, a nurse", "I live in Lyon", "I live in Winnipeg now"])
def test_an_introduction_gives_the_name_and_a_town_the_place(text: str) -> None:
    assert len(find_stated(prepare_turn(text))) == 1
