"""The plain no: turns that ask for nothing, told by their shape and words alone."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache

from recalld.models.policy.term_text import clean_text
from recalld.models.policy.turn.lists import SHIPPED, ListKind, list_entries, phrases
from recalld.models.policy.turn.verdict import TurnRule
from recalld.models.policy.turn.words import TurnWords, read_words
from recalld.models.policy.visible import has_searchable, has_visible

SHORT_CHARS_MAX = 200
"""Longer messages are neither acknowledgements nor arithmetic."""
ACKNOWLEDGEMENT_WORDS_MAX = 8
TOO_SHORT_WORDS_MAX = 3

_SLASH_COMMAND = re.compile(r"/[A-Za-z][\w:.-]*(?=\s|\Z)")
_DIGIT = re.compile(r"\d")
_SUM_CHARACTERS = r"\d.,()+*/^%=\u00d7\u00f7\u2212\-"
_ARITHMETIC = re.compile(rf"(?P<lead>[^{_SUM_CHARACTERS}?]*)(?P<sum>[\s{_SUM_CHARACTERS}]+)\??")
_OPERATOR = re.compile(r"[\d)%]\s*[+*^\u00d7\u00f7]\s*[\d(]|[\d)%]\s+[-/\u2212]\s+[\d(]|[\d)%]\s*[-/\u2212]\s*[\d(].*=")


def plain_no(text: str) -> TurnRule | None:
    """The rule by which a turn asks for nothing, without a look at anything but its text; None if none does.

    Args:
        text: The user's own words, trimmed.
    """
    if not has_searchable(text):
        return TurnRule.NO_SEARCHABLE_TERMS if has_visible(text) else TurnRule.NO_USER_TEXT
    if _SLASH_COMMAND.match(text) is not None:
        return TurnRule.SLASH_COMMAND
    if len(text) > SHORT_CHARS_MAX:
        return None
    cleaned = clean_text(text)
    if len(cleaned) > SHORT_CHARS_MAX:
        return None  # a ligature may stand for many letters
    if _is_arithmetic(cleaned):
        return TurnRule.ARITHMETIC
    return TurnRule.ACKNOWLEDGEMENT if _is_acknowledgement(text, cleaned) else None


def is_too_short(message: TurnWords, languages: Iterable[str], *, has_terms: bool) -> bool:
    """Whether a message has nothing to look for and nobody it could be about ("why?").

    "Who am I?" has no searchable word either, but a memory may well answer it: a word for the user, the assistant or
    the two of them keeps a message from being too short.

    Args:
        message: The words of a message with no turns before it.
        languages: Whose lists to use, each on its own.
        has_terms: Whether it has any salient term.
    """
    if has_terms or message.length > TOO_SHORT_WORDS_MAX:
        return False
    return all(_person_words(language).isdisjoint(message.words) for language in languages)


@cache
def _person_words(language: str) -> frozenset[str]:
    entries = list_entries(ListKind.PERSON_WORDS, language)
    return frozenset(word for entry in entries for word in read_words(entry).words)


def _is_arithmetic(text: str) -> bool:
    """Whether there are only numbers and operators, maybe asked for.

    A date, a telephone number or 24/7 is not a sum: - and / need spaces or an =.
    """
    match = _ARITHMETIC.fullmatch(text)
    if match is None or _OPERATOR.search(match["sum"]) is None:
        return False
    lead = read_words(match["lead"])
    return not match["lead"].strip() or any(
        _is_whole(lead, language) for language in SHIPPED[ListKind.ARITHMETIC_LEADS]
    )


def _is_whole(lead: TurnWords, language: str) -> bool:
    if not lead.words:
        return False
    match = phrases(ListKind.ARITHMETIC_LEADS, language).longest_at(lead, 0)
    return match is not None and match.end == len(lead.words)


def _is_acknowledgement(text: str, cleaned: str) -> bool:
    """Whether the words are phrases of one language's list one after another, or there are only pictures."""
    if "?" in cleaned or _DIGIT.search(cleaned) is not None:
        return False
    message = read_words(text)
    if not message.words:
        return not text.isascii() and all(not character.isalnum() for character in text)
    if message.length > ACKNOWLEDGEMENT_WORDS_MAX:
        return False
    return any(_is_made_of(message, language) for language in SHIPPED[ListKind.ACKNOWLEDGEMENTS])


def _is_made_of(message: TurnWords, language: str) -> bool:
    listed = phrases(ListKind.ACKNOWLEDGEMENTS, language)
    reachable = {0}
    for start in range(len(message.words)):
        if start in reachable:
            reachable.update(match.end for match in listed.all_at(message, start))
    return len(message.words) in reachable
