"""Stop words, one list per language, and a small vote that picks the list.

Lists are never merged: "die" is an article in German and a verb in English, "on" a pronoun in French and a preposition
in English. A word is a stop word only in the language that the query as a whole seems to be written in.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from types import MappingProxyType

from recalld.models.policy import word_lists

DEFAULT_LANGUAGE = "en"
LANGUAGES = ("en", "de", "fr", "es")
VOTES_MIN = 2
"""Distinct stop words another language must show before it may take the place of English: one word ("die") is no
evidence."""


@cache
def stop_words() -> Mapping[str, frozenset[str]]:
    """The shipped lists by language code; entries are folded as terms are (lower case, no accents, no apostrophes)."""
    return MappingProxyType({language: word_lists.words(f"stop_words.{language}.txt") for language in LANGUAGES})


def vote_language(words: Iterable[str]) -> str:
    """Pick the language whose stop words occur most among `words` (folded); English unless another one clearly wins.

    Another language wins with at least `VOTES_MIN` distinct stop words and more of them than English has.
    """
    seen = set(words)
    votes = {language: len(seen & listed) for language, listed in stop_words().items()}
    best = max(LANGUAGES, key=lambda language: votes[language])
    return best if votes[best] >= VOTES_MIN else DEFAULT_LANGUAGE
