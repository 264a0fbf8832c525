"""Speaker labels: lines of a pasted conversation that name who says them, with or without a time.

Guards: the store against "Dana: I work at Acme", pasted from a chat, becoming the user's employer. Cost: a look at the
head of each line. Fails: closed; a heading that is no name ("Work: I …") stays the user's own where
`data/plain_labels.txt` lists it, or where what follows is not in the first person, and so does a line of the user's
own ("Me: I …").
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from typing import Final

from recalld.models.policy import word_lists

SPEAKERS_MIN: Final = 2
"""Labels in lower case that make a conversation, where one of them returns."""
OWN_LABELS: Final = frozenset({"me", "i", "myself", "ich", "moi", "je", "yo"})
"""Labels of the user."""
_LABEL: Final = re.compile(
    r"[ \t]*(?P<at>@?)(?P<name>[^\W\d_][\w.'\u2019-]{0,30}(?: [^\W\d_][\w.'\u2019-]{0,30}){0,2})[ \t]*"
    r"(?P<mark>:|(?<! )>)[ \t]+(?=\S)"
)
_FIRST_PERSON: Final = re.compile(
    r"(?:i|i'm|i've|i'd|im|my|we|we're|our|ich|mein|meine|wir|unser|unsere|je|mon|ma|mes|nous|notre|yo|mi|mis|vivo|"
    r"trabajo|uso|tengo|prefiero|usamos|nosotros)(?![\w'])|j'",
    re.IGNORECASE,
)
_Span = tuple[int, int]


def speaker_starts(text: str, lines: Iterable[_Span]) -> dict[int, bool]:
    """The starts of labelled lines, each with whether the user is the one named.

    Args:
        text: The user's message.
        lines: Where its lines start and end.
    """
    found = [(start, match) for start, end in lines if (match := _LABEL.match(text, start, end)) is not None]
    if not found:
        return {}
    counts = Counter(match["name"].casefold() for _, match in found if not _is_plain(match["name"]))
    is_talk = len(counts) >= SPEAKERS_MIN and max(counts.values()) > 1
    starts: dict[int, bool] = {}
    for start, match in found:
        name = match["name"]
        if name.casefold() in OWN_LABELS:
            starts[start] = True
        elif not _is_plain(name) and (is_talk or _is_spoken(text, match)):
            starts[start] = False
    return starts


def _is_plain(name: str) -> bool:
    """Whether a label is made of words that name things."""
    return not word_lists.words("plain_labels.txt").isdisjoint(name.casefold().split())


def _is_spoken(text: str, match: re.Match[str]) -> bool:
    """Whether one labelled line alone is somebody's, by a chat's mark or by a name that speaks of itself."""
    if match["mark"] == ">" or match["at"]:
        return True
    if not all(word[0].isupper() for word in match["name"].split()):
        return False
    return _FIRST_PERSON.match(text[match.end() : match.end() + 20].replace("\u2019", "'")) is not None
