"""JSON objects and lists in what a language model wrote: bare, fenced, or amid prose and thinking text."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Final

BROKEN_MAX: Final = 256
"""Broken objects after which a reply counts as noise; each costs a look at all lines before it."""
_OBJECT_START: Final = re.compile(r"\{(?=\s*[\"}])")
_LIST_START: Final = re.compile(r"\[(?=\s*[{\]])")
_DECODER: Final = json.JSONDecoder()


def complete_objects(text: str) -> list[str]:
    """The outermost complete objects, as they were written, in text order. Linear in the text.

    After a broken object the search goes on where reading it failed, so that what it holds is not taken for an answer
    and no character is read over and over. What is found is JSON to a lenient reader: NaN and half surrogate pairs may
    be in it.

    Raises:
        RecursionError: An object is nested too deeply.
        ValueError: A number has more digits than the interpreter converts, or over `BROKEN_MAX` objects are broken.
    """
    return _complete(text, _OBJECT_START).found


def complete_lists(text: str) -> list[str]:
    """The outermost complete lists of objects, and empty lists, as they were written, in text order.

    Otherwise as `complete_objects`. Where a list or an object of one is broken, an empty list inside of it must not be
    taken for the answer that there is nothing: then empty lists are left out.
    """
    complete = _complete(text, _LIST_START)
    return [each for each in complete.found if not (complete.broken and each.strip("[] \t\r\n") == "")]


@dataclass(frozen=True, slots=True)
class _Complete:
    """What was found, and how often something else began that was broken."""

    found: list[str]
    broken: int


def _complete(text: str, pattern: re.Pattern[str]) -> _Complete:
    found: list[str] = []
    broken_left = BROKEN_MAX
    position = 0
    while (start := pattern.search(text, position)) is not None:
        try:
            _, position = _DECODER.raw_decode(text, start.start())
        except json.JSONDecodeError as broken:
            if broken_left == 0:
                raise
            broken_left -= 1
            position = max(start.end(), broken.pos)
            continue
        found.append(text[start.start() : position])
    return _Complete(found, BROKEN_MAX - broken_left)
