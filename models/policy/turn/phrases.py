"""Phrases from the word lists, and where they occur in a message.

A list's entry is written as people write it. Two signs are special: `*` stands for up to `GAP_WORDS_MAX` words of the
same sentence, a final `$` says that the clause must end there ("like before $" is not "like before committing").
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

import msgspec

from recalld.models.policy.turn.words import TurnWords, read_words

GAP = "*"
END = "$"
GAP_WORDS_MAX = 4


class Phrase(msgspec.Struct, frozen=True, kw_only=True):
    """One entry: `text` as it is written, `parts` its folded words and signs."""

    text: str
    parts: tuple[str, ...]


class PhraseMatch(msgspec.Struct, frozen=True, kw_only=True):
    """A phrase at the words from `start` up to `end`, which is not included."""

    phrase: Phrase
    start: int
    end: int


class PhraseTable(msgspec.Struct, frozen=True, kw_only=True):
    """Phrases by their first word."""

    by_first: Mapping[str, tuple[Phrase, ...]]

    def all_at(self, message: TurnWords, place: int) -> Iterator[PhraseMatch]:
        """Yield every phrase that starts at one word."""
        for phrase in self.by_first.get(message.words[place], ()):
            end = _end_of(phrase, message, place)
            if end is not None:
                yield PhraseMatch(phrase=phrase, start=place, end=end)

    def longest_at(self, message: TurnWords, place: int) -> PhraseMatch | None:
        """The longest phrase that starts at one word."""
        return max(self.all_at(message, place), key=lambda match: match.end, default=None)

    def find(self, message: TurnWords) -> Iterator[PhraseMatch]:
        """Yield the phrases of a message in its order, longest first where several start; they never overlap."""
        place = 0
        while place < len(message.words):
            match = self.longest_at(message, place)
            if match is None:
                place += 1
            else:
                yield match
                place = match.end


def read_phrase(text: str) -> Phrase:
    """Read one entry of a list.

    Raises:
        ValueError: The entry does not start with a word.
    """
    parts: list[str] = []
    for piece in text.split():
        parts.extend((piece,) if piece in {GAP, END} else read_words(piece).words)
    if not parts or parts[0] in {GAP, END}:
        message = f"a phrase must start with a word, got {text!r}; see the head of the list for its signs"
        raise ValueError(message)
    return Phrase(text=text, parts=tuple(parts))


def phrase_table(entries: Iterable[str]) -> PhraseTable:
    """The phrases of a list.

    Raises:
        ValueError: An entry does not start with a word.
    """
    by_first: dict[str, list[Phrase]] = {}
    for entry in entries:
        phrase = read_phrase(entry)
        by_first.setdefault(phrase.parts[0], []).append(phrase)
    return PhraseTable(by_first={first: tuple(phrases) for first, phrases in by_first.items()})


def _end_of(phrase: Phrase, message: TurnWords, place: int) -> int | None:
    """Where the phrase ends if it starts at `place`; a set of places, so that gaps need no backtracking."""
    places = {place}
    for part in phrase.parts:
        if part == GAP:
            places = {after for each in places for after in _within_gap(message, each)}
        elif part == END:
            places &= message.clause_starts
        else:
            places = {each + 1 for each in places if _is_word_at(message, each, part, is_first=each == place)}
    return max(places, default=None)


def _is_word_at(message: TurnWords, place: int, word: str, *, is_first: bool) -> bool:
    if place >= len(message.words) or message.words[place] != word:
        return False
    return is_first or place not in message.sentence_starts


def _within_gap(message: TurnWords, place: int) -> Iterator[int]:
    for after in range(place, place + GAP_WORDS_MAX + 1):
        yield after
        if after in message.sentence_starts:
            return
