"""Slots: the places of a phrase that a class of words may fill, and how one language fills them."""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeVar

from recalld.models.policy.temporal.tokens import Token
from recalld.models.policy.temporal.words import DayPart, TemporalWords, Unit
from recalld.models.policy.term_text import fold_word

COUNT_DIGITS_MAX = 4
DAY_DIGITS_MAX = 2
YEAR_FIRST, YEAR_LAST = 1900, 2199
"""Four digits outside are a quantity, not a year."""
UNITS = tuple(Unit)
PARTS = tuple(DayPart)
"""Slot values are integers; units and parts are their places in these."""


class Slot(enum.StrEnum):
    """What a phrase may ask for."""

    MONTH = "month"
    """A month name; homographs before a modal follower and abbreviations in lower case are none."""
    ANY_MONTH = "any_month"
    """As `MONTH`, in any case and before anything: for phrases that leave no doubt."""
    CLEAR_MONTH = "clear_month"
    """A month name in full that is no other word."""
    PROPER_MONTH = "proper_month"
    """A month name with a capital inside a sentence."""
    WEEKDAY = "weekday"
    CLEAR_WEEKDAY = "clear_weekday"
    """A weekday in full."""
    DAY = "day"
    LAST_DAY = "last_day"
    ORDINAL_DAY = "ordinal_day"
    """A day with its suffix: 3rd."""
    WORD_DAY = "word_day"
    """A day in words."""
    MONTH_NUMBER = "month_number"
    YEAR = "year"
    UNIT = "unit"
    PERIOD = "period"
    PART = "part"
    COUNT = "count"
    """A number of at least one, without articles."""
    SOME = "some"
    """As `COUNT`, or an article."""
    ISO = "iso"
    """An ISO date or date-time; its value is the place of the token."""
    DATE_END = "date_end"
    """Nothing: the next token must show that a date has ended before it."""
    POINT = "point"
    """A phrase of its own, or one that is only read as one inside another."""
    NAMED_POINT = "named_point"
    """A phrase that would count alone."""


STORED_AS = {slot: slot for slot in Slot} | {
    Slot.ANY_MONTH: Slot.MONTH,
    Slot.CLEAR_MONTH: Slot.MONTH,
    Slot.PROPER_MONTH: Slot.MONTH,
    Slot.MONTH_NUMBER: Slot.MONTH,
    Slot.CLEAR_WEEKDAY: Slot.WEEKDAY,
    Slot.ORDINAL_DAY: Slot.DAY,
    Slot.WORD_DAY: Slot.DAY,
    Slot.SOME: Slot.COUNT,
    Slot.PERIOD: Slot.UNIT,
}
"""Under which slot a value is kept, where several fill the same one."""

_Key = TypeVar("_Key")
Reader = Callable[[Sequence[Token], int], int | None]


class SlotReader:
    """Reads slot values from tokens, by the word tables of one language."""

    def __init__(self, words: TemporalWords) -> None:
        self._full_months = _places(words.months)
        self._months = self._full_months | _places(words.short_months)
        self._homographs = _folded(words.homographs)
        self._modals = _folded(words.modals)
        self._modal_followers = _folded(words.modal_followers)
        self._weekdays = _places(words.weekdays)
        self._short_weekdays = _places(words.short_weekdays)
        self._units = _indexed(UNITS, words.units)
        self._periods = _indexed(UNITS, words.periods)
        self._parts = _indexed(PARTS, words.parts)
        self._counts = {fold_word(word): value for word, value in words.counts.items()}
        self._some = self._counts | dict.fromkeys(_folded(words.articles), 1)
        self._day_words = {fold_word(word): value for word, value in words.day_words.items()}
        self._day_suffixes = tuple(fold_word(suffix) for suffix in words.day_suffixes)
        self._after_dates = _folded(words.after_dates)
        self._known = frozenset().union(
            self._months,
            self._weekdays,
            self._short_weekdays,
            self._units,
            self._periods,
            self._parts,
            self._some,
            self._day_words,
        )
        self._readers: Mapping[Slot, Reader] = {
            Slot.MONTH: self._month,
            Slot.ANY_MONTH: lambda tokens, at: _month_number(self._months.get(tokens[at].text)),
            Slot.CLEAR_MONTH: self._clear_month,
            Slot.PROPER_MONTH: lambda tokens, at: self._month(tokens, at) if tokens[at].is_proper else None,
            Slot.WEEKDAY: self._weekday,
            Slot.CLEAR_WEEKDAY: lambda tokens, at: self._weekdays.get(tokens[at].text),
            Slot.DAY: self._day,
            Slot.LAST_DAY: self._day,
            Slot.ORDINAL_DAY: lambda tokens, at: self._ordinal_day(tokens[at].text),
            Slot.WORD_DAY: lambda tokens, at: self._day_words.get(tokens[at].text),
            Slot.MONTH_NUMBER: lambda tokens, at: _digits(tokens[at].text, DAY_DIGITS_MAX),
            Slot.YEAR: lambda tokens, at: _year(tokens[at].text),
            Slot.UNIT: lambda tokens, at: self._units.get(tokens[at].text),
            Slot.PERIOD: lambda tokens, at: self._periods.get(tokens[at].text),
            Slot.PART: lambda tokens, at: self._parts.get(tokens[at].text),
            Slot.COUNT: lambda tokens, at: _count(tokens[at].text, self._counts),
            Slot.SOME: lambda tokens, at: _count(tokens[at].text, self._some),
            Slot.ISO: lambda tokens, at: at if tokens[at].is_iso else None,
        }

    def fills_any(self, token: Token) -> bool:
        """Whether the token fills a slot at all: a quick check that spares most words of a text the slow ones."""
        return token.text in self._known or token.text[:1].isdigit()

    def read(self, slot: Slot, tokens: Sequence[Token], at: int) -> int | None:
        """The value that `tokens[at]` gives the slot; None when it does not fill it."""
        return self._readers[slot](tokens, at)

    def ends_date(self, tokens: Sequence[Token], at: int) -> bool:
        """Whether a date may end before `tokens[at]`: at the end, at punctuation, before a small word such as "was"."""
        if at >= len(tokens) or not tokens[at].is_joined or not tokens[at].is_word:
            return True
        return tokens[at].text in self._after_dates

    def _month(self, tokens: Sequence[Token], at: int) -> int | None:
        token = tokens[at]
        if token.text not in self._full_months and not token.is_proper:
            return None
        if token.text in self._modals and at + 1 < len(tokens) and tokens[at + 1].text in self._modal_followers:
            return None
        return _month_number(self._months.get(token.text))

    def _clear_month(self, tokens: Sequence[Token], at: int) -> int | None:
        word = tokens[at].text
        return None if word in self._homographs else _month_number(self._full_months.get(word))

    def _weekday(self, tokens: Sequence[Token], at: int) -> int | None:
        token = tokens[at]
        if token.text in self._weekdays:
            return self._weekdays[token.text]
        return self._short_weekdays.get(token.text) if token.is_proper else None

    def _day(self, tokens: Sequence[Token], at: int) -> int | None:
        """Any one or two digits: a day that no month has must be seen to be refused."""
        word = tokens[at].text
        plain = _digits(word, DAY_DIGITS_MAX)
        return plain if plain is not None else self._ordinal_day(word)

    def _ordinal_day(self, word: str) -> int | None:
        for suffix in self._day_suffixes:
            if word.endswith(suffix):
                return _digits(word.removesuffix(suffix), DAY_DIGITS_MAX)
        return None


def _digits(word: str, digits_max: int) -> int | None:
    """A number of ASCII digits: other digits are no dates in the four languages."""
    return int(word) if word.isascii() and word.isdigit() and len(word) <= digits_max else None


def _count(word: str, counts: Mapping[str, int]) -> int | None:
    count = counts[word] if word in counts else _digits(word, COUNT_DIGITS_MAX)
    return count or None


def _year(word: str) -> int | None:
    year = _digits(word, 4)
    return year if year is not None and YEAR_FIRST <= year <= YEAR_LAST else None


def _month_number(place: int | None) -> int | None:
    return None if place is None else place + 1


def _folded(words: Iterable[str]) -> frozenset[str]:
    return frozenset(fold_word(word) for word in words)


def _places(names: Iterable[Iterable[str]]) -> dict[str, int]:
    return {fold_word(name): place for place, synonyms in enumerate(names) for name in synonyms}


def _indexed(order: Sequence[_Key], words: Mapping[_Key, Iterable[str]]) -> dict[str, int]:
    return {fold_word(word): order.index(key) for key, synonyms in words.items() for word in synonyms}
