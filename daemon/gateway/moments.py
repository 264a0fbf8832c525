"""Moments and time zones in requests: one rule for every field that holds one.

* An RFC 3339 date-time with an offset (`2026-07-01T12:00:00+02:00`, `…Z`) is that instant.
* One without an offset is read in the request's `time_zone`, and refused when that is not given.
* That local time is the earlier instant of an hour that the clocks repeat, and is refused in one that they skip.
* A turn was said neither before 1990 nor more than five years from now: such a moment is a mistake of the sender's.
* An integer is Unix epoch milliseconds. One that looks like seconds is refused rather than taken for 1970.

`expires_at` has further rules of its own, in `models.policy.expiry`.
"""

from __future__ import annotations

import datetime as dt
import re
import zoneinfo
from typing import NoReturn

from recalld.models.domain.errors import ErrorCode, RecalldError
from recalld.models.policy.expiry import EPOCH_MS_MAX, EPOCH_MS_MIN, SAID_MS_MIN

_DATE_TIME = re.compile(
    r"\d{4}-\d{2}-\d{2}[Tt ]\d{2}:\d{2}(?::\d{2}(?:\.\d{1,6})?)?(?:[Zz]|[+-]\d{2}:\d{2})?", re.ASCII
)
AHEAD_MS_MAX = 5 * 366 * 86_400_000
"""How far ahead of the daemon's clock a turn may be: five years. A clock that lost its battery is behind by that much,
and made-up conversations play next year; more is a slip, such as microseconds for milliseconds."""
_NO_ZONES = frozenset({"localtime", "posixrules", "Factory"})
"""Files beside the zones, under names of no zone: the first is the server's own, and the others are anybody's."""
_NO_REGIONS = frozenset({"posix", "right"})
"""Folders that hold all zones once more, the second one counting leap seconds, which the clock of a server does not."""
_FORMS = "use RFC 3339 such as 2026-07-01T12:00:00+02:00, or epoch milliseconds"


def checked_zone(name: str) -> zoneinfo.ZoneInfo | None:
    """The time zone of a request; None when it gives none.

    Raises:
        RecalldError: `bad_request` for a name that is no IANA time zone, whether or not a moment needs it.
    """
    if not name:
        return None
    message = f"time_zone: {name!r} is no IANA time zone; give one such as Europe/Berlin, or leave it out"
    if name in _NO_ZONES or name.partition("/")[0] in _NO_REGIONS:
        raise RecalldError(ErrorCode.BAD_REQUEST, message)
    try:
        return zoneinfo.ZoneInfo(name)
    except (ValueError, OSError, zoneinfo.ZoneInfoNotFoundError) as error:  # also paths, and names of directories
        raise RecalldError(ErrorCode.BAD_REQUEST, message) from error


def moment_ms(field: str, value: str | int | None, zone: zoneinfo.ZoneInfo | None, *, now_ms: int) -> int:
    """The instant a field names, in Unix epoch milliseconds; the present when it names none.

    Args:
        field: Its name, for messages.
        value: What the request says.
        zone: The zone of the request.
        now_ms: The present.

    Raises:
        RecalldError: `bad_request`, naming the field and the remedy.
    """
    if value is None:
        return now_ms
    if isinstance(value, int):
        return _checked_epoch(field, value)
    try:
        if _DATE_TIME.fullmatch(value) is None:
            _refuse(field, f"{value!r} is not understood; {_FORMS}")
        moment = dt.datetime.fromisoformat(value.upper())
        if moment.tzinfo is None:
            moment = _pinned(field, moment, _known(field, value, zone))
        return (moment - dt.datetime.fromtimestamp(0, tz=dt.UTC)) // dt.timedelta(milliseconds=1)
    except (ValueError, OverflowError) as error:
        message = f"{field}: {value!r} is not a possible date and time ({error}); {_FORMS}"
        raise RecalldError(ErrorCode.BAD_REQUEST, message) from error


def said_ms(field: str, value: str | int | None, zone: zoneinfo.ZoneInfo | None, *, now_ms: int) -> int:
    """The instant at which something was said, in Unix epoch milliseconds; the present when the field names none.

    Args:
        field: Its name, for messages.
        value: What the request says.
        zone: The zone of the request.
        now_ms: The present.

    Raises:
        RecalldError: `bad_request`, naming the field and the remedy: as `moment_ms`, and before 1990 or too far ahead.
    """
    at_ms = moment_ms(field, value, zone, now_ms=now_ms)
    if at_ms < SAID_MS_MIN:
        _refuse(field, f"{value!r} lies before 1990; {_FORMS}")
    if at_ms > now_ms + AHEAD_MS_MAX:
        _refuse(field, f"{value!r} is more than five years ahead; send the time at which the turn was said")
    return at_ms


def _pinned(field: str, naive: dt.datetime, zone: zoneinfo.ZoneInfo) -> dt.datetime:
    """A local time with its zone: the earlier one of two in the hour that the clocks repeat."""
    pinned = naive.replace(tzinfo=zone, fold=0)
    if pinned.astimezone(dt.UTC).astimezone(zone).replace(tzinfo=None) != naive:
        _refuse(field, f"{naive.isoformat()} does not exist in {zone.key} (clocks go forward); give an offset")
    return pinned


def _checked_epoch(field: str, value: int) -> int:
    if value < EPOCH_MS_MIN:
        _refuse(field, f"{value} looks like seconds; integers are epoch milliseconds, so multiply by 1000")
    if value > EPOCH_MS_MAX:
        _refuse(field, f"{value} lies outside the calendar; integers are epoch milliseconds up to the year 9999")
    return value


def _known(field: str, value: str, zone: zoneinfo.ZoneInfo | None) -> zoneinfo.ZoneInfo:
    if zone is None:
        _refuse(field, f"{value!r} has no offset; add one such as +02:00, or give `time_zone`")
    return zone


def _refuse(field: str, what: str) -> NoReturn:
    message = f"{field}: {what}"
    raise RecalldError(ErrorCode.BAD_REQUEST, message)
