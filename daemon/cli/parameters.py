"""Options and arguments: every refusal says what is wrong with the value and what to do instead.

They know the limits of the protocol, so that a value no daemon would take is refused by the name of its option. The
converters here are plain functions; click puts the name of the option to what they refuse, and their own name into the
help.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Final

import click
import msgspec

from recalld.protocol import fields


class TextRule(msgspec.Struct, frozen=True, kw_only=True):
    """What a text must be like.

    Attributes:
        chars_max: Longest value, in Unicode code points.
        remedy: What to do when it is empty or blank.
        bytes_max: Longest value in UTF-8, where that is limited, too.
        is_empty_allowed: Whether an empty value means something of its own; a blank one never does.
    """

    chars_max: int
    remedy: str
    bytes_max: int | None = None
    is_empty_allowed: bool = False

    def problem(self, value: str) -> str:
        """What is wrong with a value and what to do; empty when nothing is."""
        if not value:
            return "" if self.is_empty_allowed else f"is empty; {self.remedy}"
        if not value.strip():
            return f"is blank; {self.remedy}"
        if any(0xD800 <= ord(char) <= 0xDFFF for char in value):  # how Python hands over what is not UTF-8
            return "is not valid UTF-8; write it in UTF-8"
        if len(value) > self.chars_max:
            return f"has {len(value)} characters; shorten it to {self.chars_max}"
        used = len(value.encode())
        if self.bytes_max is not None and used > self.bytes_max:
            return f"has {used} bytes; shorten it to {self.bytes_max}"
        return ""


USER: Final = TextRule(
    chars_max=fields.USER_CHARS_MAX, bytes_max=fields.USER_CHARS_MAX, remedy="name a user, or leave it out"
)
SESSION: Final = TextRule(
    chars_max=fields.NAME_CHARS_MAX, remedy="name a session, or leave it out", is_empty_allowed=True
)
SCOPE: Final = TextRule(
    chars_max=fields.SCOPE_CHARS_MAX,
    remedy="name a scope, or give an empty one for what holds everywhere",
    is_empty_allowed=True,
)
CUE: Final = TextRule(chars_max=fields.CUE_CHARS_MAX, remedy="leave it out")
ASK: Final = TextRule(chars_max=fields.ASK_CHARS_MAX, remedy="leave it out")
QUERY: Final = TextRule(chars_max=fields.QUERY_CHARS_MAX, remedy="give words to look for")
CONTAINS: Final = TextRule(
    chars_max=fields.QUERY_CHARS_MAX, remedy="give characters to look for, or leave it out", is_empty_allowed=True
)
CURSOR: Final = TextRule(chars_max=fields.CURSOR_CHARS_MAX, remedy="copy it from the page before, or leave it out")
ZONE: Final = TextRule(chars_max=fields.TIME_CHARS_MAX, remedy="name a zone such as Europe/Berlin, or leave it out")
RECORD_ID: Final = TextRule(chars_max=fields.ID_CHARS_MAX, remedy="give an id as it was printed")

_EXPIRY_FORMS: Final = (
    "use a date such as 2026-11-01, RFC 3339 such as 2026-11-01T18:00:00+01:00, or epoch milliseconds"
)
_EXPIRY: Final = TextRule(chars_max=fields.TIME_CHARS_MAX, remedy=f"{_EXPIRY_FORMS}, or leave it out")


def text_of(rule: TextRule) -> Callable[[str], str]:
    """A converter for text that follows a rule."""

    def text(value: str) -> str:
        if problem := rule.problem(value):
            raise click.BadParameter(problem)
        return value

    return text


def path(value: str | Path) -> Path:
    """Convert a path. An empty one, as an unset shell variable leaves behind, is refused rather than taken for `.`."""
    if value == "":
        message = "is empty; name a path, or leave it out"
        raise click.BadParameter(message)
    return Path(value)


def whole(least: int, most: int | None = None) -> Callable[[str | int], int]:
    """A converter for a whole number within bounds, both inclusive."""
    bounds = f"one from {least} to {most}" if most is not None else f"{least} or more"

    def integer(value: str | int) -> int:
        try:
            number = int(value)
        except ValueError as error:
            message = f"{_shown(value)} is not a whole number; give {bounds}"
            raise click.BadParameter(message) from error
        if number < least or (most is not None and number > most):
            message = f"{_shown(value)} is out of range; give {bounds}"
            raise click.BadParameter(message)
        return number

    return integer


def seconds(value: str | float) -> float:
    """Convert a number of seconds above 0."""
    try:
        number = float(value)
    except ValueError:
        number = math.nan
    if not 0 < number < math.inf:
        message = f"{_shown(value)} is not a number of seconds above 0; give one such as 2.5"
        raise click.BadParameter(message)
    return number


def time(value: str) -> str | int:
    """Convert an expiry. Digits alone are milliseconds since the epoch; anything else is for the daemon to read."""
    if problem := _EXPIRY.problem(value):
        raise click.BadParameter(problem)
    if not (value.isascii() and value.isdigit()):
        return value
    if int(value) > fields.EPOCH_MS_MAX:
        message = f"{value} milliseconds lie beyond the year 9999; {_EXPIRY_FORMS}"
        raise click.BadParameter(message)
    return int(value)


def _shown(value: str | float) -> str:
    text = repr(value)
    return text if len(text) <= 40 else f"{text[:37]}..."
