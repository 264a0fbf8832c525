"""The time zone of whoever types a date."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from recalld.daemon.config import Environment

_LOCALTIME: Final = Path("/etc/localtime")
_ZONES: Final = "zoneinfo/"


def local_zone(environment: Environment, localtime: Path = _LOCALTIME) -> str:
    """IANA name of the local zone: from `TZ`, else from where `/etc/localtime` points; `UTC` when neither names one."""
    named = (environment.get("TZ") or "").removeprefix(":")
    if "/" in named and not named.startswith("/"):
        return named
    try:
        target = str(localtime.resolve(strict=True))
    except OSError:
        return "UTC"
    return target.rpartition(_ZONES)[2] if _ZONES in target else "UTC"


def known_zone(environment: Environment) -> str:
    """IANA name of the local zone; empty when this machine does not know its rules."""
    name = local_zone(environment)
    try:
        ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return ""
    return name


def local_tzinfo(environment: Environment) -> dt.tzinfo:
    """The local zone itself; UTC when this machine does not know its rules."""
    try:
        return ZoneInfo(local_zone(environment))
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return dt.UTC
