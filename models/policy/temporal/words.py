"""The word tables of the temporal grammar, one file per language, with the same rules in all of them."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from types import MappingProxyType

import msgspec

from recalld.models.policy.stop_words import LANGUAGES
from recalld.models.policy.temporal.time_span import TemporalRule


class Unit(enum.StrEnum):
    """Units of time; a weekend is counted in weeks."""

    SECOND = "second"
    MINUTE = "minute"
    HOUR = "hour"
    DAY = "day"
    WEEKEND = "weekend"
    WEEK = "week"
    MONTH = "month"
    QUARTER = "quarter"
    YEAR = "year"


class DayPart(enum.StrEnum):
    """Parts of a day, see `resolve` for their hours."""

    MORNING = "morning"
    AFTERNOON = "afternoon"
    EVENING = "evening"
    NIGHT = "night"


class PhraseEntry(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Phrases that mean the same.

    Attributes:
        rule: What they mean.
        phrases: Plain words and slots; see `phrases` for the notation.
        offset: How many days, periods and so on from the present, where the rule counts any.
        part: The part of the day, where the phrase names it without a slot.
        unit: The unit of time, where the phrase names it without a slot.
        is_inner: Whether they count only inside another phrase: "2024" after "since", but not alone.
    """

    rule: TemporalRule
    phrases: tuple[str, ...]
    offset: int = 0
    part: DayPart | None = None
    unit: Unit | None = None
    is_inner: bool = False


class TemporalWords(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The tables of one language; every word is folded when it is read.

    Attributes:
        months: The names of each month in full.
        short_months: Abbreviations of each; in running text they count only with a capital.
        homographs: Month names that are other words too: march, may. Alone they say nothing.
        modals: Homographs that are verbs before one of `modal_followers`: may be.
        modal_followers: See `modals`.
        weekdays: The names of each weekday, Monday first.
        short_weekdays: Abbreviations of each; they count only with a capital.
        units: The words of each unit that may be counted.
        periods: The words of each unit that this, last and next may stand before.
        parts: The words of each part of the day.
        counts: Number words from one up, with what else counts: a couple.
        articles: Words that mean one before a unit: an hour ago.
        day_suffixes: What may follow the digits of a day: 3rd.
        day_words: Days of the month in words.
        after_dates: Words that may follow a date such as "march 3" and show that it is one.
        phrases: The phrases of each rule.
        blockers: Phrases that look temporal and are not, or not about one time: every Monday.
    """

    months: tuple[tuple[str, ...], ...]
    short_months: tuple[tuple[str, ...], ...] = ()
    homographs: tuple[str, ...] = ()
    modals: tuple[str, ...] = ()
    modal_followers: tuple[str, ...] = ()
    weekdays: tuple[tuple[str, ...], ...]
    short_weekdays: tuple[tuple[str, ...], ...] = ()
    units: dict[Unit, tuple[str, ...]]
    periods: dict[Unit, tuple[str, ...]]
    parts: dict[DayPart, tuple[str, ...]]
    counts: dict[str, int]
    articles: tuple[str, ...]
    day_suffixes: tuple[str, ...] = ()
    day_words: dict[str, int]
    after_dates: tuple[str, ...]
    phrases: tuple[PhraseEntry, ...]
    blockers: tuple[str, ...]


@cache
def shipped_words() -> Mapping[str, TemporalWords]:
    """The shipped tables by language code."""
    data = files("recalld.models.policy.temporal").joinpath("data")
    return MappingProxyType(
        {
            language: msgspec.json.decode(data.joinpath(f"{language}.json").read_bytes(), type=TemporalWords)
            for language in LANGUAGES
        }
    )
