"""What each rule means: from a phrase to an interval.

The decisions that ordinary speech leaves open:

* A bare weekday is the most recent one strictly before today, and so is "last Saturday": said on a Saturday, both are a
  week ago. "Next Saturday" is the first strictly after today; "this Saturday" lies in the current ISO week.
* A month without a year is the latest that has begun; a day without a year is its latest occurrence up to today, so
  29 February reaches back to a leap year. "Last March" is the latest before the current month.
* "N units ago" is the calendar day, ISO week, month, quarter or year that contains that point; for hours, minutes and
  seconds it is one unit around the point. "Past N units" rolls: from the same wall-clock time N units back (exact
  durations below a day) up to now.
* Months are added with clamping. Dates that do not exist have no interval, nor does anything outside the years 1 to
  9999.
* The end of a range that leaves its day or year open is the first after its start; a start that leaves its year open is
  the last before an end that tells it. Months and days named in reverse order are read across the end of a year up to
  half a year ("between December and February"); beyond that ("between 5 March and 2 March") they mean nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import date, datetime, timedelta
from types import MappingProxyType

import msgspec

from recalld.models.policy.temporal.local_calendar import (
    LocalCalendar,
    Window,
    add_months,
    days_of_month,
    month_start,
    quarter_start,
    to_ms,
    week_start,
)
from recalld.models.policy.temporal.phrases import Match
from recalld.models.policy.temporal.slots import PARTS, UNITS, Slot
from recalld.models.policy.temporal.time_span import TemporalRule
from recalld.models.policy.temporal.tokens import Token
from recalld.models.policy.temporal.words import DayPart, PhraseEntry, Unit

PART_HOURS = MappingProxyType(
    {
        DayPart.MORNING: (5, 12),
        DayPart.AFTERNOON: (12, 18),
        DayPart.EVENING: (18, 24),
        DayPart.NIGHT: (18, 30),
    }
)
"""First and past-last local hour; the night is the one that follows the day, up to six in the morning."""
RECENT_DAYS = 14
LEAP_YEARS_APART_MAX = 8
"""29 February occurs at least once in this many years: 1896 and 1904 are neighbours."""
BARE_YEARS_AHEAD_MAX = 10
"""A bare number further in the future is a quantity ("in 2048"), not a year."""
ACROSS_YEARS_DAYS_MAX = 184
"""The longest half of a year. Two dates that need the end of a year between them to stand in order are closer together
the other way round when they are farther apart than this: somebody swapped them."""
_WEEK_DAYS = 7
_SATURDAY = 5
_DURATIONS_MS = MappingProxyType({Unit.SECOND: 1000, Unit.MINUTE: 60_000, Unit.HOUR: 3_600_000})
_UNIT_MONTHS = MappingProxyType({Unit.MONTH: 1, Unit.QUARTER: 3, Unit.YEAR: 12})
_ISO_DATE = re.compile(r"(?P<date>\d{4}-\d{2}-\d{2})(?:[T ](?P<time>.+))?", re.ASCII)
_ISO_WEEK = re.compile(r"(?P<year>\d{4})-W(?P<week>\d{2})(?:-(?P<day>\d))?", re.ASCII)
_SECONDS = re.compile(r"\d{2}:\d{2}:\d{2}", re.ASCII)


class Frame(msgspec.Struct, frozen=True, kw_only=True):
    """Where a phrase that leaves its day or year open is counted from."""

    calendar: LocalCalendar
    tokens: tuple[Token, ...]
    day: date
    """Today, or the other end of a range."""
    is_forward: bool = False
    """Look for the first occurrence from `day` on, instead of the last before it."""


def resolve(match: Match, calendar: LocalCalendar, tokens: tuple[Token, ...]) -> Window | None:
    """The interval that a phrase means; None when there is none (an impossible date, an empty range)."""
    return _resolve(match, Frame(calendar=calendar, tokens=tokens, day=calendar.today))


def _resolve(match: Match, frame: Frame) -> Window | None:
    if match.entry is None:
        return None
    try:
        window = _RULES[match.entry.rule](match, match.entry, frame)
    except (ValueError, OverflowError):  # datetime's own answer to dates that do not exist or lie outside the calendar
        return None
    return None if window is None or window.is_empty else window


def _day(_match: Match, entry: PhraseEntry, frame: Frame) -> Window:
    return frame.calendar.days(frame.calendar.today + timedelta(days=entry.offset))


def _day_part(match: Match, entry: PhraseEntry, frame: Frame) -> Window:
    part = entry.part if entry.part is not None else PARTS[match.values[Slot.PART]]
    day = frame.calendar.today + timedelta(days=entry.offset)
    midnight = datetime(day.year, day.month, day.day)  # noqa: DTZ001 - local, the calendar attaches the zone
    first, past_last = (midnight + timedelta(hours=hour) for hour in PART_HOURS[part])
    return Window(frame.calendar.at_ms(first), frame.calendar.at_ms(past_last))


def _period(match: Match, entry: PhraseEntry, frame: Frame) -> Window:
    return _calendar_unit(_unit(match, entry), entry.offset, frame.calendar)


def _units_ago(match: Match, _entry: PhraseEntry, frame: Frame) -> Window:
    unit, count = UNITS[match.values[Slot.UNIT]], match.values[Slot.COUNT]
    if unit in _DURATIONS_MS:
        length_ms = _DURATIONS_MS[unit]
        start_ms = frame.calendar.now_ms - count * length_ms - length_ms // 2
        return Window(start_ms, start_ms + length_ms)
    return _calendar_unit(unit, -count, frame.calendar)


def _calendar_unit(unit: Unit, offset: int, calendar: LocalCalendar) -> Window:
    """The day, week, weekend, month, quarter or year that contains the point `offset` units from now."""
    point = _shift(calendar.today, unit, offset)
    if unit is Unit.DAY:
        return calendar.days(point)
    if unit is Unit.WEEK:
        return calendar.days(week_start(point), _WEEK_DAYS)
    if unit is Unit.WEEKEND:
        return calendar.days(week_start(point) + timedelta(days=_SATURDAY), _WEEK_DAYS - _SATURDAY)
    starts = {Unit.MONTH: month_start(point), Unit.QUARTER: quarter_start(point)}
    first = starts.get(unit, date(point.year, 1, 1))
    return calendar.between(first, add_months(first, _UNIT_MONTHS[unit]))


def _shift(day: date, unit: Unit, count: int) -> date:
    if unit in _UNIT_MONTHS:
        return add_months(day, count * _UNIT_MONTHS[unit])
    return day + timedelta(days=count if unit is Unit.DAY else count * _WEEK_DAYS)


def _unit(match: Match, entry: PhraseEntry) -> Unit:
    return entry.unit if entry.unit is not None else UNITS[match.values[Slot.UNIT]]


def _past_units(match: Match, entry: PhraseEntry, frame: Frame) -> Window:
    """The last N units; one, where the phrase has no number."""
    return _rolling(_unit(match, entry), match.values.get(Slot.COUNT, 1), frame.calendar)


def _recently(_match: Match, _entry: PhraseEntry, frame: Frame) -> Window:
    return _rolling(Unit.DAY, RECENT_DAYS, frame.calendar)


def _rolling(unit: Unit, count: int, calendar: LocalCalendar) -> Window:
    if unit in _DURATIONS_MS:
        return Window(calendar.now_ms - count * _DURATIONS_MS[unit], calendar.now_ms)
    day = _shift(calendar.today, unit, -count)
    return Window(calendar.at_ms(datetime.combine(day, calendar.now.time())), calendar.now_ms)


def _weekday(match: Match, _entry: PhraseEntry, frame: Frame) -> Window:
    return frame.calendar.days(_near_weekday(match.values[Slot.WEEKDAY], frame))


def _relative_weekday(match: Match, entry: PhraseEntry, frame: Frame) -> Window:
    weekday, today = match.values[Slot.WEEKDAY], frame.calendar.today
    if entry.offset == 0:
        return frame.calendar.days(week_start(today) + timedelta(days=weekday))
    now = Frame(calendar=frame.calendar, tokens=frame.tokens, day=today, is_forward=entry.offset > 0)
    return frame.calendar.days(_near_weekday(weekday, now))


def _near_weekday(weekday: int, frame: Frame) -> date:
    """The nearest such weekday strictly before (or after) the day of the frame."""
    if frame.is_forward:
        return frame.day + timedelta(days=(weekday - frame.day.weekday()) % _WEEK_DAYS or _WEEK_DAYS)
    return frame.day - timedelta(days=(frame.day.weekday() - weekday) % _WEEK_DAYS or _WEEK_DAYS)


def _month(match: Match, _entry: PhraseEntry, frame: Frame) -> Window:
    month, year = match.values[Slot.MONTH], match.values.get(Slot.YEAR)
    if year is None and frame.is_forward:
        year = frame.day.year + (month < frame.day.month)
    elif year is None:
        year = frame.day.year - (month > frame.day.month)
    return _whole_month(year, month, frame.calendar)


def _relative_month(match: Match, entry: PhraseEntry, frame: Frame) -> Window:
    month, today = match.values[Slot.MONTH], frame.calendar.today
    year = today.year
    if entry.offset < 0:
        year -= month >= today.month
    elif entry.offset > 0:
        year += month <= today.month
    return _whole_month(year, month, frame.calendar)


def _whole_month(year: int, month: int, calendar: LocalCalendar) -> Window:
    first = date(year, month, 1)
    return calendar.between(first, add_months(first, 1))


def _month_day(match: Match, _entry: PhraseEntry, frame: Frame) -> Window | None:
    day = _near_day(match, frame)
    return None if day is None else frame.calendar.days(day)


def _month_days(match: Match, _entry: PhraseEntry, frame: Frame) -> Window | None:
    first = _near_day(match, frame)
    if first is None:
        return None
    last = first.replace(day=match.values[Slot.LAST_DAY])
    return frame.calendar.between(first, last + timedelta(days=1))


def _near_day(match: Match, frame: Frame) -> date | None:
    """The day of its year, or its nearest occurrence up to (or from) the day of the frame.

    Raises:
        ValueError: That year has no such day.
    """
    month, day, year = match.values[Slot.MONTH], match.values[Slot.DAY], match.values.get(Slot.YEAR)
    if year is not None:
        return date(year, month, day)
    step = 1 if frame.is_forward else -1
    for candidate in range(frame.day.year, frame.day.year + step * (LEAP_YEARS_APART_MAX + 1), step):
        if not 1 <= day <= days_of_month(candidate, month):
            continue
        occurrence = date(candidate, month, day)
        if (occurrence >= frame.day) if frame.is_forward else (occurrence <= frame.day):
            return occurrence
    return None


def _year(match: Match, _entry: PhraseEntry, frame: Frame) -> Window | None:
    year = match.values[Slot.YEAR]
    if year > frame.calendar.today.year + BARE_YEARS_AHEAD_MAX:
        return None
    return frame.calendar.between(date(year, 1, 1), date(year + 1, 1, 1))


def _numeric_date(match: Match, _entry: PhraseEntry, frame: Frame) -> Window:
    values = match.values
    return frame.calendar.days(date(values[Slot.YEAR], values[Slot.MONTH], values[Slot.DAY]))


def _iso(match: Match, _entry: PhraseEntry, frame: Frame) -> Window:
    written, calendar = frame.tokens[match.values[Slot.ISO]].text, frame.calendar
    week = _ISO_WEEK.fullmatch(written)
    if week is not None:
        first = date.fromisocalendar(int(week["year"]), int(week["week"]), int(week["day"] or 1))
        return calendar.days(first, _WEEK_DAYS if week["day"] is None else 1)
    parts = _ISO_DATE.fullmatch(written)
    if parts is None:
        year, month = written.split("-")
        return _whole_month(int(year), int(month), calendar)
    if parts["time"] is None:
        return calendar.days(date.fromisoformat(written))
    return _moment(written, parts["time"], calendar)


def _moment(written: str, clock_time: str, calendar: LocalCalendar) -> Window:
    """The minute or second of a date-time; without an offset it is local."""
    moment = datetime.fromisoformat(written)
    has_seconds = _SECONDS.match(clock_time) is not None
    moment = moment.replace(microsecond=0)
    length = timedelta(seconds=1) if has_seconds else timedelta(minutes=1)
    length_ms = length // timedelta(milliseconds=1)
    if moment.tzinfo is not None:
        return Window(to_ms(moment), to_ms(moment) + length_ms)
    return Window(calendar.at_ms(moment), calendar.at_ms(moment, is_last=True) + length_ms)


def _range(match: Match, _entry: PhraseEntry, frame: Frame) -> Window | None:
    first, last = match.points
    if _is_open(last):
        start = _resolve(first, frame)
        end = _end_after(last, start, frame)
    else:
        end = _resolve(last, frame)
        start = None if end is None else _start_before(first, last, end, frame)
    if start is None or end is None or _is_reversed(match, start, end, frame.calendar):
        return None
    return Window(start.start_ms, end.end_ms)


def _is_reversed(match: Match, start: Window, end: Window, calendar: LocalCalendar) -> bool:
    """Whether two months or days, of which one leaves its year open, are in order only by most of a year."""
    is_year_open = any(map(_is_open, match.points))
    if not is_year_open or not all(map(_is_of_a_year, match.points)) or start.start_ms is None or end.start_ms is None:
        return False
    first, last = calendar.date_at(start.start_ms), calendar.date_at(end.start_ms)
    return (
        first.year != last.year and (calendar.date_at(end.end_ms or end.start_ms) - first).days > ACROSS_YEARS_DAYS_MAX
    )


def _is_of_a_year(match: Match) -> bool:
    return match.entry is not None and match.entry.rule in {TemporalRule.MONTH, TemporalRule.MONTH_DAY}


def _end_after(last: Match, start: Window | None, frame: Frame) -> Window | None:
    if start is None or start.start_ms is None:
        return None
    day = frame.calendar.date_at(start.start_ms)
    return _resolve(last, msgspec.structs.replace(frame, day=day, is_forward=True))


def _start_before(first: Match, last: Match, end: Window, frame: Frame) -> Window | None:
    start = _resolve(first, frame)
    if not _is_open(first) or start is None or start.start_ms is None or end.end_ms is None:
        return start
    # "from March 3 to March 9, 2021" shares the year; "from Monday to yesterday" already fits.
    if start.start_ms < end.end_ms and Slot.YEAR not in last.values:
        return start
    return _resolve(first, msgspec.structs.replace(frame, day=frame.calendar.date_at(end.end_ms)))


def _is_open(match: Match) -> bool:
    """Whether the phrase leaves its week or year open."""
    rule = None if match.entry is None else match.entry.rule
    if rule is TemporalRule.WEEKDAY:
        return True
    return rule in {TemporalRule.MONTH, TemporalRule.MONTH_DAY} and Slot.YEAR not in match.values


def _since(match: Match, _entry: PhraseEntry, frame: Frame) -> Window | None:
    point = _resolve(match.points[0], frame)
    return None if point is None else Window(point.start_ms, None)


def _until(match: Match, _entry: PhraseEntry, frame: Frame) -> Window | None:
    """Up to and with the point: "until Friday" holds Friday."""
    point = _resolve(match.points[0], frame)
    return None if point is None else Window(None, point.end_ms)


def _before(match: Match, _entry: PhraseEntry, frame: Frame) -> Window | None:
    point = _resolve(match.points[0], frame)
    return None if point is None else Window(None, point.start_ms)


def _after(match: Match, _entry: PhraseEntry, frame: Frame) -> Window | None:
    point = _resolve(match.points[0], frame)
    return None if point is None else Window(point.end_ms, None)


_RULES: Mapping[TemporalRule, Callable[[Match, PhraseEntry, Frame], Window | None]] = {
    TemporalRule.DAY: _day,
    TemporalRule.DAY_PART: _day_part,
    TemporalRule.PERIOD: _period,
    TemporalRule.WEEKDAY: _weekday,
    TemporalRule.RELATIVE_WEEKDAY: _relative_weekday,
    TemporalRule.MONTH: _month,
    TemporalRule.RELATIVE_MONTH: _relative_month,
    TemporalRule.MONTH_DAY: _month_day,
    TemporalRule.MONTH_DAYS: _month_days,
    TemporalRule.YEAR: _year,
    TemporalRule.NUMERIC_DATE: _numeric_date,
    TemporalRule.ISO: _iso,
    TemporalRule.PAST_UNITS: _past_units,
    TemporalRule.UNITS_AGO: _units_ago,
    TemporalRule.RECENTLY: _recently,
    TemporalRule.RANGE: _range,
    TemporalRule.SINCE: _since,
    TemporalRule.UNTIL: _until,
    TemporalRule.BEFORE: _before,
    TemporalRule.AFTER: _after,
}
