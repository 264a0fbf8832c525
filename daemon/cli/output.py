"""What commands print: JSON for programs, and text that is safe on a terminal for people."""

from __future__ import annotations

import datetime as dt
import sys
import unicodedata
from collections.abc import Sequence
from typing import Final

import click
import msgspec

from recalld.daemon.cli.errors import CommandError

_DIRECTION_CONTROLS: Final = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
"""Characters that reorder what stands around them; in stored text they can make a line read as something else."""


class ErrorBody(msgspec.Struct, frozen=True, kw_only=True):
    """What went wrong, for programs."""

    code: str
    message: str


class ErrorDocument(msgspec.Struct, frozen=True, kw_only=True):
    """The one JSON object that a failing command prints with `--json`."""

    error: ErrorBody


def write_json(value: msgspec.Struct) -> None:
    """Print one struct as one line of JSON on standard output."""
    sys.stdout.write(msgspec.json.encode(value).decode("utf-8") + "\n")
    sys.stdout.flush()


def write_error(error: CommandError, *, as_json: bool) -> None:
    """Print an error: one line on standard error, or one JSON object on standard output."""
    if as_json:
        write_json(ErrorDocument(error=ErrorBody(code=error.code, message=error.message)))
    else:
        write_error_line(error.message)


def write_error_line(message: str) -> None:
    """Print one line about an error on standard error."""
    click.echo(f"recalld: {printable(message)}", err=True)


def printable(text: str, *, chars_max: int | None = None) -> str:
    """Text on one line that cannot steer a terminal.

    Stored text is not trusted: an escape sequence in it could rewrite the screen. White space becomes single spaces,
    every other control character becomes U+FFFD.

    Args:
        text: Anything.
        chars_max: Cut longer text and end it with an ellipsis.
    """
    line = " ".join(text.split())
    if chars_max is not None and len(line) > chars_max:
        line = f"{line[: chars_max - 1]}…"
    return "".join("\N{REPLACEMENT CHARACTER}" if _is_steering(char) else char for char in line)


def _is_steering(char: str) -> bool:
    return char in _DIRECTION_CONTROLS or unicodedata.category(char) in {"Cc", "Cs"}


def moment(epoch_ms: int) -> str:
    """A time such as `2026-11-30 15:56 UTC`; a number that no calendar has stays a number."""
    try:
        return dt.datetime.fromtimestamp(epoch_ms / 1000, tz=dt.UTC).strftime("%Y-%m-%d %H:%M UTC")
    except (OverflowError, ValueError, OSError):
        return str(epoch_ms)


def expiry(epoch_ms: int, zone: dt.tzinfo) -> str:
    """When a memory expires, in a zone: `end of 2029-12-31` for the midnight that ends a day, else a time with offset.

    A date alone means the end of that day, so it is shown as it was given.
    """
    try:
        local = dt.datetime.fromtimestamp(epoch_ms / 1000, tz=zone)
        if local.time() == dt.time.min:
            return f"end of {local.date() - dt.timedelta(days=1)}"
    except (OverflowError, ValueError, OSError):
        return str(epoch_ms)
    return local.isoformat(sep=" ", timespec="minutes")


def write_columns(rows: Sequence[Sequence[str]]) -> None:
    """Print rows in columns that line up. Nothing is cut: ids must stay whole for whoever copies them."""
    widths = [max(len(cell) for cell in column) for column in zip(*rows, strict=True)]
    for row in rows:
        click.echo("  ".join(f"{cell:{width}}" for cell, width in zip(row, widths, strict=True)).rstrip())
