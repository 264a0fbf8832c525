"""History cues: words that point at something said or done before, in families that can be switched off one by one."""

from __future__ import annotations

import enum
from collections.abc import Iterable, Mapping
from functools import cache
from types import MappingProxyType

import msgspec

from recalld.models.policy.turn.lists import ListKind, list_entries
from recalld.models.policy.turn.phrases import PhraseTable, phrase_table
from recalld.models.policy.turn.words import TurnWords

CUES_MAX = 8
"""Cues reported at most; one is enough to decide."""
_EXCEPTION = "not"


class CueFamily(enum.StrEnum):
    """What a cue points at; the value is the word before the colon in the lists."""

    SAME = "same"
    """As it was: "same as before", "the usual"."""
    DISCUSSED = "discussed"
    """A talk or a decision: "as we discussed"."""
    LAST_TIME = "last_time"
    """An earlier occasion: "last time", "the other day"."""
    REMEMBER = "remember"
    """Memory itself: "do you remember", "remind me what"."""
    TOLD = "told"
    """What one told the other: "as I said", "you recommended"."""
    AGAIN = "again"
    """A repetition: "again", "once more"."""


class CueMatch(msgspec.Struct, frozen=True, kw_only=True):
    """A cue found in a message: its family, the list's entry and the list's language."""

    family: CueFamily
    phrase: str
    language: str


class _CueList(msgspec.Struct, frozen=True, kw_only=True):
    table: PhraseTable
    families: Mapping[str, CueFamily | None]
    """Family by entry; None for a phrase that looks like a cue and is none."""


def find_cues(
    message: TurnWords, languages: Iterable[str], *, off: frozenset[CueFamily] = frozenset()
) -> tuple[CueMatch, ...]:
    """The history cues of a message, at most `CUES_MAX`.

    The longest phrase at a place is the one that counts, also if it is an exception ("try again") or its family is
    off: "same as last time" does not turn into "last time" when the family `same` is switched off.

    Args:
        message: The words of the message.
        languages: Whose lists to use, each on its own.
        off: Families that are switched off.
    """
    found: list[CueMatch] = []
    for language in languages:
        cues = _cue_list(language)
        for match in cues.table.find(message):
            family = cues.families[match.phrase.text]
            if family is not None and family not in off:
                found.append(CueMatch(family=family, phrase=match.phrase.text, language=language))
    return tuple(found[:CUES_MAX])


@cache
def _cue_list(language: str) -> _CueList:
    """Read one list, whose entries are `family: phrase`, or `not: phrase` for an exception."""
    families: dict[str, CueFamily | None] = {}
    for entry in list_entries(ListKind.HISTORY_CUES, language):
        family, _, phrase = entry.partition(":")
        families[phrase.strip()] = None if family == _EXCEPTION else CueFamily(family)
    return _CueList(table=phrase_table(families), families=MappingProxyType(families))
