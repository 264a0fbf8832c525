"""Text arguments: as given, or `-` for standard input."""

from __future__ import annotations

import sys
from typing import Final

from recalld.daemon.cli.errors import usage_error

STDIN: Final = "-"


def read_text(argument: str, *, chars_max: int) -> str:
    """The text itself; `-` reads standard input up to its end.

    Args:
        argument: What stood on the command line.
        chars_max: Longest text the daemon would take; more is not even read.

    Raises:
        CommandError: The text is empty, too long, or not UTF-8.
    """
    text = _from_stdin(chars_max) if argument == STDIN else argument
    if not text.strip():
        message = "the text is empty"
        raise usage_error(message)
    if len(text) > chars_max:
        message = f"the text is longer than {chars_max} characters; shorten or split it"
        raise usage_error(message)
    if any(0xD800 <= ord(char) <= 0xDFFF for char in text):  # how Python hands over an argument that is not UTF-8
        message = "the text is not valid UTF-8"
        raise usage_error(message)
    return text


def _from_stdin(chars_max: int) -> str:
    # One character is at most four bytes; one byte more shows that the text is too long.
    try:
        content = sys.stdin.buffer.read(4 * chars_max + 1)
    except OSError as error:
        message = f"standard input cannot be read ({error.strerror}); pipe the text in, or give it as an argument"
        raise usage_error(message) from error
    try:
        # A cut in the middle of a character only happens to a text that is too long anyway.
        return content.decode("utf-8", errors="strict" if len(content) <= 4 * chars_max else "ignore").rstrip("\n")
    except UnicodeDecodeError as error:
        message = f"standard input is not UTF-8 at byte {error.start}"
        raise usage_error(message) from error
