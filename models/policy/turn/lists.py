"""The turn gate's word lists: one file for each kind and language, never merged.

A phrase is looked for in one language's list at a time: "si" agrees in Spanish and asks in French.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping
from functools import cache
from types import MappingProxyType

from recalld.models.policy import word_lists
from recalld.models.policy.stop_words import LANGUAGES, stop_words
from recalld.models.policy.turn.phrases import PhraseTable, phrase_table
from recalld.models.policy.turn.words import TurnWords

SPACED_LANGUAGES = LANGUAGES
UNSPACED_LANGUAGES = ("zh", "ja")
ALL_LANGUAGES = (*SPACED_LANGUAGES, *UNSPACED_LANGUAGES)
VOTES_MIN = 2
"""Distinct stop words that show a language, if no other language has as many."""
KANA_FIRST, KANA_LAST = "\u3040", "\u30ff"


class ListKind(enum.StrEnum):
    """What a list is of; the value is the first part of its file name."""

    ACKNOWLEDGEMENTS = "acknowledgements"
    ARITHMETIC_LEADS = "arithmetic_leads"
    CONJUNCTIONS = "conjunctions"
    HISTORY_CUES = "history_cues"
    LOCAL_REFERENCES = "local_references"
    PERSON_WORDS = "person_words"
    PRONOUNS = "pronouns"


SHIPPED: Mapping[ListKind, tuple[str, ...]] = MappingProxyType(
    {
        ListKind.ACKNOWLEDGEMENTS: ALL_LANGUAGES,
        ListKind.ARITHMETIC_LEADS: SPACED_LANGUAGES,
        ListKind.CONJUNCTIONS: ALL_LANGUAGES,
        ListKind.HISTORY_CUES: ALL_LANGUAGES,
        ListKind.LOCAL_REFERENCES: ALL_LANGUAGES,
        ListKind.PERSON_WORDS: SPACED_LANGUAGES,
        ListKind.PRONOUNS: ALL_LANGUAGES,
    }
)
"""Languages of each kind. Every unspaced run is searchable, so the lists that find unsearchable messages need none."""


def file_name(kind: ListKind, language: str) -> str:
    """The list's file below the data folder."""
    return f"turn/{kind.value}.{language}.txt"


def list_entries(kind: ListKind, language: str) -> tuple[str, ...]:
    """The entries of one list; none if the kind has no list for the language."""
    return word_lists.entries(file_name(kind, language)) if language in SHIPPED[kind] else ()


@cache
def phrases(kind: ListKind, language: str) -> PhraseTable:
    """One list as phrases; empty if the kind has no list for the language."""
    return phrase_table(list_entries(kind, language))


def likely_languages(message: TurnWords) -> tuple[str, ...]:
    """Languages whose lists apply to a message, each to be used on its own.

    One spaced language if its stop words clearly win, otherwise all of them, because a short message ("letztes
    Mal") shows none. Unspaced scripts add Japanese if there is any kana, Chinese otherwise.
    """
    seen = frozenset(message.words)
    votes = {language: len(seen & listed) for language, listed in stop_words().items()}
    best = max(votes.values())
    winners = tuple(language for language in SPACED_LANGUAGES if votes[language] == best)
    spaced = winners if best >= VOTES_MIN and len(winners) == 1 else SPACED_LANGUAGES
    if message.unspaced == 0:
        return spaced
    has_kana = any(KANA_FIRST <= word[:1] <= KANA_LAST for word in message.words)
    return (*spaced, "ja" if has_kana else "zh")
