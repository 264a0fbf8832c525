"""When a memory expires: one documented rule for every way of saying it.

* An RFC 3339 date-time with an offset (`2026-11-01T18:00:00+14:00`, `…Z`) is that instant.
* A date alone (`2026-11-01`) is the end of that day in the user's zone, whatever its length: on a day with a clock
  change it is still the midnight that ends it.
* A date-time without an offset is pinned to the user's zone. In the hour that a clock change repeats, the later instant
  counts; in the hour that it skips, the value is refused.
* An integer is Unix epoch milliseconds. One that looks like seconds is refused rather than taken for 1970.
* Whatever is not in the future is refused, and so is a zone-less value when no zone is known.
"""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta
from typing import NoReturn
from zoneinfo import ZoneInfo

from recalld.models.domain.errors import ErrorCode, RecalldError

EPOCH_MS_MIN = 100_000_000_000
"""Integers below are refused: as milliseconds they mean 1973 or earlier, as seconds they mean the present."""
EPOCH_MS_MAX = 253_402_300_799_999
"""The end of the year 9999, where calendars stop."""
SAID_MS_MIN = 631_152_000_000
"""The start of 1990: nobody spoke to an assistant before."""
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)
_DATE_TIME = re.compile(
    r"\d{4}-\d{2}-\d{2}[Tt ]\d{2}:\d{2}(?::\d{2}(?:\.\d{1,6})?)?(?P<offset>[Zz]|[+-]\d{2}:\d{2})?", re.ASCII
)
_FORMS = "use RFC 3339 such as 2026-11-01T18:00:00+01:00, a date such as 2026-11-01, or epoch milliseconds"


def parse_expiry(value: str | int, *, now_ms: int, zone: ZoneInfo | None) -> int:
    """The instant, in epoch milliseconds, from which the memory is no longer recalled.

    Args:
        value: A date-time, a date or epoch milliseconds; see the module for the rule.
        now_ms: Unix epoch milliseconds.
        zone: The user's zone; None if unknown.

    Raises:
        RecalldError: `BAD_REQUEST`, naming the field and the remedy.
    """
    if isinstance(value, bool):  # bool is an int to Python; `true` is no instant to anybody
        _refuse(f"a truth value is no instant; {_FORMS}")
    expires_at_ms = _check_epoch(value) if isinstance(value, int) else _parse_text(value.strip(), zone)
    if expires_at_ms <= now_ms:
        _refuse(f"{value!r} is not in the future; give a later time, or use forget to remove the memory")
    return expires_at_ms


def parse_ttl(ttl_s: float, *, now_ms: int) -> int:
    """The instant, in epoch milliseconds, `ttl_s` seconds from now.

    Raises:
        RecalldError: `BAD_REQUEST` when the time to live is not above 0 or reaches beyond the year 9999.
    """
    latest_s = (EPOCH_MS_MAX - now_ms) / 1000
    if not 0 < ttl_s <= latest_s:
        message = (
            f"ttl: {ttl_s} is not a number of seconds above 0 that ends before the year 10000; leave it out to keep"
        )
        raise RecalldError(ErrorCode.BAD_REQUEST, message)
    return now_ms + max(1, round(ttl_s * 1000))


def _check_epoch(value: int) -> int:
    if abs(value) < EPOCH_MS_MIN:
        _refuse(f"{value} looks like seconds; integers are epoch milliseconds, so multiply by 1000")
    if not 0 < value <= EPOCH_MS_MAX:
        _refuse(f"{value} lies outside the calendar; integers are epoch milliseconds up to the year 9999")
    return value


def _parse_text(text: str, zone: ZoneInfo | None) -> int:
    try:
        if _DATE.fullmatch(text) is not None:
            return _end_of_day(date.fromisoformat(text), _known(zone, text))
        match = _DATE_TIME.fullmatch(text)
        if match is None:
            _refuse(f"{text[:40]!r} is not understood; {_FORMS}")
        moment = datetime.fromisoformat(text.upper())
        if match["offset"] is None:
            moment = _pin(moment, _known(zone, text))
        return _to_ms(moment)
    except (ValueError, OverflowError) as error:
        message = f"expires_at: {text[:40]!r} is not a possible date and time ({error}); {_FORMS}"
        raise RecalldError(ErrorCode.BAD_REQUEST, message) from error


def _known(zone: ZoneInfo | None, text: str) -> ZoneInfo:
    if zone is None:
        _refuse(f"{text!r} has no offset and no time zone is known; add an offset such as +01:00, or set one")
    return zone


def _end_of_day(day: date, zone: ZoneInfo) -> int:
    following = day + timedelta(days=1)
    return _to_ms(datetime(following.year, following.month, following.day, tzinfo=zone))


def _pin(naive: datetime, zone: ZoneInfo) -> datetime:
    """Attach the zone: the later instant of a repeated hour; a skipped hour is refused."""
    pinned = naive.replace(tzinfo=zone, fold=1)
    if pinned.astimezone(UTC).astimezone(zone).replace(tzinfo=None) != naive:
        _refuse(f"{naive.isoformat()} does not exist in {zone.key} (clocks go forward); give an offset")
    return pinned


def _to_ms(moment: datetime) -> int:
    return (moment - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(milliseconds=1)


def _refuse(what: str) -> NoReturn:
    message = f"expires_at: {what}"
    raise RecalldError(ErrorCode.BAD_REQUEST, message)
