"""Names inside longer names: whether a text that has a name's words means what bears that name.

Guards: that "the Apollo 11 poster" has nothing to do with Apollo, the invoice service, nor "Monty Python" with Python.
Cost: one search for the name in a text. Fails: towards another name. A capital beside a name makes it a longer one,
unless the word is an ordinary one ("The Apollo API").
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Final

from recalld.models.policy import word_lists
from recalld.models.policy.stop_words import stop_words
from recalld.models.policy.term_text import fold_word

_JOINED_BEFORE: Final = re.compile(r"\w[-_.@+&]\Z")
_JOINED_AFTER: Final = re.compile(r"[-_.@+&#]\w")
_WORD_BEFORE: Final = re.compile(r"(?P<word>[^\W_][\w'\u2019-]*)[ \t]+\Z")
_WORD_AFTER: Final = re.compile(r"[ \t]+(?P<word>[^\W_][\w'\u2019-]*)")
_BEFORE_CHARS: Final = 48


def stands_alone(text: str, words: Sequence[str], *, spelled: str = "") -> bool:
    """Whether a text has a name somewhere that is not a part of a longer name.

    It is a part of one beside a word with a capital, or a number, or where a hyphen, dot or the like ties it to a word.
    A number behind a name that is not spelled in one certain way is its version ("Python 3"), and a name without a
    capital is no part of one with capitals ("Restart holdq").

    Args:
        text: What is looked at.
        words: The name's words, folded.
        spelled: How it must be written, letter by letter; empty: in any case, and then a text in which it does not
            stand word by word (another inflection, another spelling) is taken to mean it.
    """
    found = [*_pattern(spelled, tuple(words)).finditer(text)]
    if not found:
        return not spelled
    return any(not _is_part(text, each, has_versions=not spelled) for each in found)


@lru_cache(maxsize=512)
def _pattern(spelled: str, words: tuple[str, ...]) -> re.Pattern[str]:
    if spelled:
        return re.compile(rf"(?<!\w){re.escape(spelled)}(?!\w)")
    joined = r"[\W_]+".join(map(re.escape, words))
    return re.compile(rf"(?<!\w){joined}(?!\w)", re.IGNORECASE)


def _is_part(text: str, found: re.Match[str], *, has_versions: bool) -> bool:
    before, after = text[max(0, found.start() - _BEFORE_CHARS) : found.start()], text[found.end() :]
    if _JOINED_BEFORE.search(before) is not None or _JOINED_AFTER.match(after) is not None:
        return True
    left, right = _WORD_BEFORE.search(before), _WORD_AFTER.match(after)
    if right is not None and right["word"][0].isdigit() and not has_versions:
        return True
    if left is not None and left["word"][0].isdigit() and not has_versions:
        return True
    is_capital = found.group()[:1].isupper()
    return is_capital and any(each is not None and _extends(each["word"]) for each in (left, right))


def _extends(word: str) -> bool:
    """Whether a word beside a name belongs to it: one with a capital, and no ordinary one."""
    folded = fold_word(word)
    common = stop_words()["en"] | word_lists.words("technical_words.en.txt") | word_lists.words("name_openers.en.txt")
    return word[:1].isupper() and folded not in common
