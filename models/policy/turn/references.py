"""References: messages that lean on what was said just before, and those that ask only for that."""

from __future__ import annotations

import enum
from collections.abc import Iterable, Sequence

from recalld.models.policy.terms import index_terms
from recalld.models.policy.turn.inflections import credited_terms
from recalld.models.policy.turn.lists import ListKind, phrases
from recalld.models.policy.turn.words import TurnWords
from recalld.models.policy.turn_cut import cut_before

SHORT_WORDS_MAX = 4
"""A message of so few words rarely says by itself what it is about."""
RECENT_TURNS_MAX = 6
RECENT_CHARS_MAX = 2_000
"""Characters looked at in each recent turn: the end of a longer one."""


class Reference(enum.StrEnum):
    """Why a message leans on the turns before it."""

    CONJUNCTION = "conjunction"
    PRONOUN = "pronoun"
    SHORT = "short"


def find_reference(message: TurnWords, languages: Iterable[str]) -> Reference | None:
    """Why a message leans on earlier turns: its first words, or that it is short; None if it stands alone.

    Only a message with turns before it can lean on them; the caller checks that there are any.
    """
    if not message.words:
        return Reference.SHORT
    tried = tuple(languages)
    for kind, reference in (
        (ListKind.CONJUNCTIONS, Reference.CONJUNCTION),
        (ListKind.PRONOUNS, Reference.PRONOUN),
    ):
        if any(phrases(kind, language).longest_at(message, 0) is not None for language in tried):
            return reference
    return Reference.SHORT if message.length <= SHORT_WORDS_MAX else None


def find_local_references(message: TurnWords, languages: Iterable[str]) -> tuple[str, ...]:
    """Phrases that point at this conversation's last turns ("you just said", "the list above"), as listed."""
    return tuple(
        match.phrase.text
        for language in languages
        for match in phrases(ListKind.LOCAL_REFERENCES, language).find(message)
    )


def terms_outside(terms: Iterable[str], recent: Sequence[str]) -> tuple[str, ...]:
    """The salient terms of a message that none of the recent turns has, on whole units or inflections.

    Args:
        terms: As `probe_terms` gives them.
        recent: Texts of the turns before, oldest first; the ends of the last `RECENT_TURNS_MAX` are looked at.
    """
    said = {term for text in recent[-RECENT_TURNS_MAX:] for term in index_terms(cut_before(text, RECENT_CHARS_MAX))}
    asked = tuple(terms)
    inside = credited_terms(asked, said)
    return tuple(term for term in asked if term not in inside)
