"""Calendar arithmetic in the asker's zone.

Days run from local midnight to local midnight, whatever their length: on a day with a clock change that is 23 or 25
hours. A local time that a change skips moves forward by the length of the gap; of one that occurs twice, an interval
starts at the first and ends after the second, so that it never misses what it may mean. A day that a zone left out
altogether (Samoa, 30 December 2011) is empty.
"""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

import msgspec

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_DAYS_OF_WEEK = 7
_MONTHS_OF_YEAR = 12
_MONTHS_OF_QUARTER = 3


class Window(msgspec.Struct, frozen=True):
    """A half-open interval, Unix epoch milliseconds; None: unbounded."""

    start_ms: int | None
    end_ms: int | None

    @property
    def is_empty(self) -> bool:
        """Whether no instant lies in it."""
        return self.start_ms is not None and self.end_ms is not None and self.start_ms >= self.end_ms


class LocalCalendar:
    """The present in one zone, and the way from local dates and times to instants.

    Attributes:
        now: The present as an aware datetime in the zone.
        today: Its date.
        now_ms: The present, Unix epoch milliseconds.
    """

    def __init__(self, now: datetime, zone: ZoneInfo) -> None:
        """Take an aware datetime in any zone.

        Raises:
            ValueError: `now` has no offset.
        """
        if now.utcoffset() is None:
            message = "now: has no UTC offset; pass an aware datetime, such as datetime.now(UTC)"
            raise ValueError(message)
        self.now = now.astimezone(zone)
        self.today = self.now.date()
        self.now_ms = to_ms(now)
        self._zone = zone

    def at_ms(self, local: datetime, *, is_last: bool = False) -> int:
        """The instant of a naive local time: the first or the last, where it occurs twice."""
        return to_ms(local.replace(tzinfo=self._zone, fold=int(is_last and not self._is_skipped(local))))

    def days(self, first: date, days: int = 1) -> Window:
        """Whole local days from `first` on."""
        return self.between(first, first + timedelta(days=days))

    def between(self, first: date, past_last: date) -> Window:
        """The local days from `first` up to but without `past_last`."""
        return Window(self.midnight_ms(first), self.midnight_ms(past_last))

    def midnight_ms(self, day: date) -> int:
        """The instant at which the local day starts."""
        return self.at_ms(datetime.combine(day, time()))

    def date_at(self, at_ms: int) -> date:
        """The local date at an instant."""
        return (_EPOCH + timedelta(milliseconds=at_ms)).astimezone(self._zone).date()

    def _is_skipped(self, local: datetime) -> bool:
        pinned = local.replace(tzinfo=self._zone)
        return pinned.astimezone(UTC).astimezone(self._zone).replace(tzinfo=None) != local


def to_ms(moment: datetime) -> int:
    """Unix epoch milliseconds of an aware datetime, rounded down."""
    return (moment - _EPOCH) // timedelta(milliseconds=1)


def add_months(day: date, months: int) -> date:
    """The same day of another month, clamped to its last: 31 March and one month back is 28 or 29 February.

    Raises:
        ValueError: The result lies outside the years 1 to 9999.
    """
    year, month0 = divmod(day.year * _MONTHS_OF_YEAR + day.month - 1 + months, _MONTHS_OF_YEAR)
    return date(year, month0 + 1, min(day.day, days_of_month(year, month0 + 1)))


def days_of_month(year: int, month: int) -> int:
    """How many days a month has.

    Raises:
        ValueError: There is no such month.
    """
    next_first = date(year + month // _MONTHS_OF_YEAR, month % _MONTHS_OF_YEAR + 1, 1)
    return (next_first - date(year, month, 1)).days


def week_start(day: date) -> date:
    """The Monday of the ISO week."""
    return day - timedelta(days=day.weekday())


def month_start(day: date) -> date:
    """The first of the month."""
    return day.replace(day=1)


def quarter_start(day: date) -> date:
    """The first of the quarter."""
    return date(day.year, day.month - (day.month - 1) % _MONTHS_OF_QUARTER, 1)
