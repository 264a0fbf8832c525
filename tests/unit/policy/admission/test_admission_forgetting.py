from __future__ import annotations

import pytest
from admission_policy import ruling

from recalld.models.domain.facts import Disposition
from recalld.models.domain.reasons import AdmissionReason
from recalld.models.policy.turn_facts import FORGET_RULE, read_turn

ASKED = [
    "forget what I said about the on-call rota",
    "forget everything about me",
    "Forget that I live in Bath.",
    "Ok, please forget my old address.",
    "Can you forget about my allergy?",
    "I work at Initech. Forget that I live in Bath.",
    "I'd like you to forget where I live",
    "Vergiss bitte alles, was ich über Bonn gesagt habe",
    "Oublie que j'habite à Colmar",
    "Olvida todo lo que sabes de mí",
]
NOT_ASKED = [
    "Don't forget that I live in Bath.",
    "Never forget that we use tabs",
    "I always forget my keys",
    "I forget what the port was",
    "Delete everything in the build folder",
    "Vergiss nicht, dass ich in Bonn wohne",
]


@pytest.mark.parametrize("text", ASKED)
def test_a_request_to_forget_is_told_whatever_else_the_turn_states(text: str) -> None:
    told = [(each.reason, each.rule) for each in read_turn(text).dropped]

    assert (AdmissionReason.FORGET_REQUEST, FORGET_RULE) in told


@pytest.mark.parametrize("text", NOT_ASKED)
def test_what_only_speaks_of_forgetting_is_no_request(text: str) -> None:
    facts = read_turn(text)

    assert AdmissionReason.FORGET_REQUEST not in {facts.reason, *(each.reason for each in facts.dropped)}


@pytest.mark.parametrize("marked", ["Forget that {I live in Bath}.", "Please forget my address {at Elm Street}"])
def test_what_is_to_be_forgotten_is_not_kept(marked: str) -> None:
    found = ruling(marked)

    assert (found.disposition, found.reason) == (Disposition.DROP, AdmissionReason.FORGET_REQUEST)


def test_what_holds_instead_is_kept() -> None:
    assert ruling("Forget that I live in Bath, {I live in Leeds now}.").disposition is Disposition.RECORD
