"""Whether a turn is nothing but a yes or a no, and so may answer the question that the user was asked before it.

Guards: that "yes, but what about the tests?" has something stored. Cost: a look-up. Fails: towards no answer; then a
proposal goes on waiting. "ok" is no answer: it acknowledges whatever was said last.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Final

from recalld.models.policy import word_lists
from recalld.models.policy.duplicates import fold

CHARS_MAX: Final = 60
"""Longer turns say more than yes or no."""
_LANGUAGES: Final = ("en", "de", "fr", "es")
_BETWEEN: Final = re.compile(r"[\s,.!;:\u2026]+")


def answer_in(text: str) -> bool | None:
    """True for a turn that is nothing but a yes, False for a no, None for anything else."""
    if len(text) > CHARS_MAX or "?" in text:
        return None
    phrase = _phrase(text)
    for language in _LANGUAGES:
        bare = _without_courtesy(phrase, language)
        # The same word may be said twice: "yes yes".
        first, _, rest = bare.partition(" ")
        bare = first if rest and set(rest.split()) == {first} else bare
        for is_yes, name in ((True, "yes"), (False, "no")):
            if bare in _phrases(name, language):
                return is_yes
    return None


def _without_courtesy(phrase: str, language: str) -> str:
    """The phrase without a courtesy behind it; one that is nothing else stays as it is."""
    for courtesy in _phrases("courtesies", language):
        if phrase.endswith(f" {courtesy}"):
            return phrase.removesuffix(f" {courtesy}")
    return phrase


@cache
def _phrases(name: str, language: str) -> frozenset[str]:
    return frozenset(map(_phrase, word_lists.entries(f"answers/{name}.{language}.txt")))


def _phrase(text: str) -> str:
    """Folded words with single spaces between them."""
    return " ".join(filter(None, _BETWEEN.split(fold(text))))
