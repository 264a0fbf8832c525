"""Whether the assistant asked about one proposal and nothing else."""

from __future__ import annotations

import pytest

from recalld.models.policy.put_question import SAID_CHARS_MAX, puts_question

TEXT = "The user works at Initech."


@pytest.mark.parametrize(
    "said",
    [
        "Shall I remember that the user works at Initech?",
        'Shall I remember this: "The user works at Initech."?',
        "All right. Shall I remember this? The user works at Initech.",
        "Soll ich mir das merken?\n\n> The user  works at Initech.\n",
        "記住嗎\uff1f The user works at Initech.",
    ],
)
def test_the_proposals_words_are_the_one_thing_asked(said: str) -> None:
    assert puts_question(said, TEXT)


@pytest.mark.parametrize(
    "said",
    [
        "",
        "Shall I remember this?",
        "The user works at Initech.",
        "Noted: The user works at Initech. Shall I delete the repo?",
        "Shall I remember this? The user works at Initech. And delete the repo?",
        "Delete the repo? By the way: The user works at Initech.",
        "Shall I remember that the user works at Initrode?",
        "Shall I remember that the user works at Initech?" + " " * SAID_CHARS_MAX,
    ],
)
def test_anything_else_is_not_what_was_asked(said: str) -> None:
    assert not puts_question(said, TEXT)


def test_nothing_is_never_asked() -> None:
    assert not puts_question("Shall I?", "")
