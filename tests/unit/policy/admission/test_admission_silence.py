from __future__ import annotations

import pytest

from recalld.models.domain.reasons import AdmissionReason
from recalld.models.policy.admission.silence import CHARS_MAX
from recalld.models.policy.turn_facts import read_turn

SILENT = [
    ("my password is hunter2secret", AdmissionReason.SECRET),
    ("sk-abcdefghijklmnopqrstuvwxyz123456", AdmissionReason.SECRET),
    ("> sk-abcdefghijklmnopqrstuvwxyz123456", AdmissionReason.SECRET),
    ("<private>I live in Bath</private>", AdmissionReason.PRIVATE),
    ("> I live in Glasgow", AdmissionReason.QUOTATION),
    ("I live in Bath, I think.", AdmissionReason.GUESS),
    ("If I lived in Bath", AdmissionReason.HYPOTHETICAL),
    ("I used to live in Bath.", AdmissionReason.PAST),
    ("Do I live in Bath?", AdmissionReason.QUESTION),
    ("My friend lives in Bath.", AdmissionReason.THIRD_PERSON),
    ("I'm working from Berlin this week", AdmissionReason.SITUATIONAL),
    ("In this chat, always answer in Latin.", AdmissionReason.REQUEST),
    ("Thanks! Please fix the build.", AdmissionReason.REQUEST),
    ("In my novel the hero lives in Bath.", AdmissionReason.FICTION),
    ("What a nice day.", AdmissionReason.NOTHING_STATED),
    ("  \n ", AdmissionReason.NO_USER_TEXT),
    ("<system-reminder>I live in Bath</system-reminder>", AdmissionReason.NO_USER_TEXT),
]


@pytest.mark.parametrize(("text", "reason"), SILENT)
def test_a_turn_in_which_nothing_was_found_says_what_was_read_in_it(text: str, reason: AdmissionReason) -> None:
    facts = read_turn(text)

    assert (facts.candidates, facts.dropped, facts.reason) == ((), (), reason)


def test_a_sentence_about_the_user_decides_before_those_about_the_rest() -> None:
    assert read_turn("Fix the build. I used to live in Bath.").reason is AdmissionReason.PAST


def test_a_long_turn_is_not_read_for_a_reason() -> None:
    text = "Do I live in Bath? "
    assert read_turn(text * (CHARS_MAX // len(text))).reason is AdmissionReason.QUESTION
    assert read_turn(text * (CHARS_MAX // len(text) + 2)).reason is AdmissionReason.NOTHING_STATED
