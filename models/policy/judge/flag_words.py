"""The judge's word lists, one file per language, and one pass over a text that finds all of them.

Lists are never merged over languages: "die" is an article in German and a verb in English.
"""

from __future__ import annotations

import enum
import re
import tomllib
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from types import MappingProxyType

from recalld.models.policy.stop_words import LANGUAGES

_WORD = re.compile(r"[^\W_]+(?:['-][^\W_]+)*")


class WordFlag(enum.StrEnum):
    """A list of words and phrases; every language has one of each name."""

    FIRST_PERSON = "first_person"
    POSSESSIVE = "possessive"
    FIRST_PLURAL = "first_plural"
    SECOND_PERSON = "second_person"
    THIRD_PERSON = "third_person"
    MODAL = "modal"
    NEGATION = "negation"
    PAST = "past"
    FUTURE = "future"
    HYPOTHETICAL = "hypothetical"
    GUESS = "guess"
    STANDING = "standing"
    TIME_BOUND = "time_bound"
    ONE_OFF = "one_off"
    CHANGE = "change"
    PREFERENCE = "preference"
    IDENTITY = "identity"
    KIN = "kin"
    """People and things of the user's own circle."""
    OUTSIDER = "outsider"
    """People outside it."""
    REPORT = "report"
    GENERAL = "general"
    FICTION = "fiction"
    TASK = "task"
    REFUSAL = "refusal"
    SECRET = "secret"  # noqa: S105 - the name of a word list
    CHAT = "chat"
    CONDITIONAL = "conditional"
    REMINDER = "reminder"
    """What announces a fact ("by the way", "since I'm")."""
    OPENER_QUESTION = "opener_question"
    """Counts at the start of a segment only."""
    OPENER_IMPERATIVE = "opener_imperative"
    """Counts at the start of a segment only."""


OPENERS = frozenset({WordFlag.OPENER_QUESTION, WordFlag.OPENER_IMPERATIVE})
_Phrases = Mapping[str, tuple[tuple[tuple[str, ...], WordFlag], ...]]


class FlagWordsError(ValueError):
    """A word list cannot be used; the message names the file and the list."""


def words_of(text: str) -> list[str]:
    """The words of a text as the lists write them. `text` has straight apostrophes."""
    return _WORD.findall(text.lower())


def word_flags(words: Sequence[str], language: str) -> dict[WordFlag, int]:
    """How often each list occurs among the words; those that do not are left out."""
    phrases = _phrases(language)
    found: dict[WordFlag, int] = {}
    for place, word in enumerate(words):
        for phrase, flag in phrases.get(word, ()):
            if flag in OPENERS and place:
                continue
            if len(phrase) == 1 or tuple(words[place : place + len(phrase)]) == phrase:
                found[flag] = found.get(flag, 0) + 1
    return found


def parse_lists(content: str, name: str) -> dict[WordFlag, tuple[str, ...]]:
    """Read one language's file.

    Raises:
        FlagWordsError: A list is missing, empty or unknown, or an entry is not in lower case or occurs twice.
    """
    lists = tomllib.loads(content)
    if set(lists) != set(WordFlag):
        odd = ", ".join(sorted(set(lists) ^ set(WordFlag)))
        message = f"{name}: exactly the lists of WordFlag are needed; missing or unknown: {odd}"
        raise FlagWordsError(message)
    for flag, entries in lists.items():
        if not entries or len(set(entries)) != len(entries) or any(each != each.lower().strip() for each in entries):
            message = f"{name}: {flag} must hold entries in lower case, each once, and at least one"
            raise FlagWordsError(message)
    return {WordFlag(flag): tuple(entries) for flag, entries in lists.items()}


@cache
def lists_of(language: str) -> Mapping[WordFlag, tuple[str, ...]]:
    """The lists of one of `LANGUAGES`."""
    if language not in LANGUAGES:
        message = f"no word lists for language {language!r}; there are {', '.join(LANGUAGES)}"
        raise FlagWordsError(message)
    path = files("recalld.models.policy").joinpath("data", "judge", f"{language}.toml")
    return MappingProxyType(parse_lists(path.read_text(encoding="utf-8"), path.name))


@cache
def _phrases(language: str) -> _Phrases:
    """The phrases of every list by their first word."""
    by_first: dict[str, list[tuple[tuple[str, ...], WordFlag]]] = {}
    for flag, entries in lists_of(language).items():
        for entry in entries:
            phrase = tuple(words_of(entry))
            by_first.setdefault(phrase[0], []).append((phrase, flag))
    return MappingProxyType({first: tuple(each) for first, each in by_first.items()})
