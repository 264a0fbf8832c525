"""Phrases with options and choices as one graph, walked word by word.

A phrase of a few options stands for dozens of plain ones, and the lists of a language for a hundred thousand: writing
them all out took seconds of every start, and tens of megabytes for words that nobody says. Here each word of a phrase
is there once, and a place in the tree of all phrases is made when a text first gets there.

Cost: building is linear in the words of the phrases. What is made while texts are read is bounded by the tree of all
phrases; of ordinary texts it is a few thousand places.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cache
from typing import Final, Generic, TypeVar

from recalld.models.policy.admission.tokens import words_of

ANCHOR: Final = "^"
ANY_WORD: Final = "*"
_PART: Final = re.compile(r"\[(?P<optional>[^\]]+)\]|\((?P<choice>[^)]+)\)|(?P<plain>[^\s\[\]()]+)")

Mark = TypeVar("Mark")
"""What a phrase is filed under."""

Choices = tuple[tuple[str, ...], ...]
"""What may stand at one place of a phrase, each as its words; without words where the place is optional."""


@cache
def phrase_parts(phrase: str) -> tuple[Choices, ...]:
    """The places of a phrase, in order, each with what may stand there."""
    return tuple(map(_choices, _PART.finditer(phrase)))


def _choices(part: re.Match[str]) -> Choices:
    if part["plain"] is not None:
        return (_words(part["plain"]),)
    choices = tuple(map(_words, (part["optional"] or part["choice"]).split("|")))
    return ((), *choices) if part["optional"] is not None else choices


@cache
def _words(plain: str) -> tuple[str, ...]:
    if plain in {ANCHOR, ANY_WORD}:
        return (plain,)
    return tuple(words_of(plain))


class _Step:
    """One word of a phrase, what may come behind it, and whether the phrase may end there."""

    __slots__ = ("following", "may_end", "word")

    def __init__(self, word: str, following: tuple[_Step, ...], *, may_end: bool) -> None:
        self.word = word
        self.following = following
        self.may_end = may_end


_Open = tuple[Mark, bool, _Step]
"""A phrase on its way: what it is filed under, whether it is anchored, and its next word."""


class PhraseNode(Generic[Mark]):
    """A place in the tree of phrases.

    Attributes:
        marks: What the phrases that end here are filed under, in the order in which they were given.
        anchored: The same of phrases that count only where a clause begins.
    """

    __slots__ = ("_open", "_words", "anchored", "marks")

    def __init__(self, reached: Iterable[_Open[Mark]]) -> None:
        """Make the place that phrases have come to with their latest words.

        Args:
            reached: These words, each with its phrase.
        """
        marks: dict[Mark, None] = {}
        anchored: dict[Mark, None] = {}
        still_open: dict[_Open[Mark], None] = {}
        for mark, is_anchored, step in reached:
            if step.may_end:
                (anchored if is_anchored else marks)[mark] = None
            for following in step.following:
                still_open[mark, is_anchored, following] = None
        self.marks = tuple(marks)
        self.anchored = tuple(anchored)
        self._open: tuple[_Open[Mark], ...] = tuple(still_open)
        self._words: dict[str, PhraseNode[Mark] | list[_Open[Mark]]] | None = None

    def at(self, word: str) -> PhraseNode[Mark] | None:
        """The place behind a word, made when somebody first comes there; None where no phrase goes on with it."""
        words = self._by_word()
        found = words.get(word)
        if isinstance(found, list):
            # Two threads may both make it: either is as good, and nobody compares places.
            found = words[word] = PhraseNode(found)
        return found

    def goes_on_with(self, words: Sequence[str], at: int) -> bool:
        """Whether a phrase ends here, or may go on with the word at a place: most that begin as one do not."""
        if self.marks or self.anchored:
            return True
        following = self._by_word()
        return at < len(words) and (words[at] in following or ANY_WORD in following)

    def begins(self, word: str) -> bool:
        """Whether some phrase goes on with this very word."""
        return word in self._by_word()

    def _by_word(self) -> dict[str, PhraseNode[Mark] | list[_Open[Mark]]]:
        if self._words is None:
            words: dict[str, list[_Open[Mark]]] = {}
            for each in self._open:
                words.setdefault(each[2].word, []).append(each)
            self._words = {**words}
            self._open = ()
        return self._words


def phrase_tree(phrases: Iterable[tuple[Mark, Sequence[Choices]]]) -> PhraseNode[Mark]:
    """The root of the tree of phrases.

    Args:
        phrases: Each with what it is filed under, and its places from `phrase_parts`. An anchor opens a phrase or
            stands nowhere in it.

    Raises:
        ValueError: A phrase may be without any word.
    """
    return PhraseNode(_opening(mark, parts) for mark, parts in phrases)


def _opening(mark: Mark, parts: Sequence[Choices]) -> _Open[Mark]:
    """A phrase before its first word, as if it stood behind one."""
    is_anchored = bool(parts) and parts[0] == ((ANCHOR,),)
    following, may_end = _steps(parts[1:] if is_anchored else parts)
    if may_end:
        message = f"a phrase of {mark} may be without any word; leave one place without brackets"
        raise ValueError(message)
    return mark, is_anchored, _Step("", following, may_end=False)


def _steps(parts: Sequence[Choices]) -> tuple[tuple[_Step, ...], bool]:
    """The first steps of some places in a row, and whether they may all be left out."""
    following: tuple[_Step, ...] = ()
    may_end = True
    for choices in reversed(parts):
        firsts: list[_Step] = []
        is_optional = False
        for words in choices:
            if words:
                firsts.append(_chain(words, following, may_end=may_end))
            else:
                is_optional = True
        following, may_end = (*firsts, *(following if is_optional else ())), may_end and is_optional
    return following, may_end


def _chain(words: Sequence[str], following: tuple[_Step, ...], *, may_end: bool) -> _Step:
    """The first of several steps one behind the other."""
    step = _Step(words[-1], following, may_end=may_end)
    for word in reversed(words[:-1]):
        step = _Step(word, (step,), may_end=False)
    return step
