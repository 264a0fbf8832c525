"""Host text: what a runtime wrote into a user's message, which is not the user's word.

Stripped: elements such as `<system-reminder>…</system-reminder>` and the daemon's own `<recalled-memory …>` block
(nested, doubled or never closed, in any spelling of brackets and name), marked lines with the JSON that hangs on them,
and time stamps in brackets at the start of a line. Linear in the text; idempotent.

Fails by default towards the user's words, because a recall that loses them finds nothing. Where a mistake would be
stored, `is_strict` fails the other way: a message in which a host element ends that never began, and the lines under a
marked line, may be the host's.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache

from recalld.models.policy import word_lists
from recalld.models.policy.markup import ATTRIBUTE_CHARS_MAX, SPACES_MAX, level_brackets

_TIMESTAMP = re.compile(r"\[[^\]\n]{0,60}?\d{4}-\d{2}-\d{2}[ T]\d{2}:\d{2}[^\]\n]{0,30}\][ \t]*")
_MOMENT = re.compile(r"\d{4}-\d{2}-\d{2}[ T]\d{2}:\d{2}")
_BLANK_LINES = re.compile(r"\n[ \t]*\n(?:[ \t]*\n)+")
_LEADING_BLANK_LINES = re.compile(r"\A(?:[ \t]*\n)+")
_FENCE = "```"
_ATTACHED_LINES_MAX = 60
"""Lines of JSON that may hang on a marked line; a longer one is taken for the user's."""
_ROUNDS_MAX = 8


def strip_host_text(text: str, *, line_markers: Sequence[str] | None = None, is_strict: bool = False) -> str:
    """The user's own words in a message, trimmed; empty when there are none.

    Removing a block may bring two halves of another tag together, so this repeats until nothing changes; text that
    still changes after a few rounds was built to do that, and nothing of it is the user's.

    Args:
        text: The message as the runtime sent it.
        line_markers: Beginnings of lines that the host writes, in any case; None for the shipped list.
        is_strict: Whether doubt means that words are not the user's.
    """
    listed = word_lists.entries("host_line_markers.txt") if line_markers is None else line_markers
    markers = tuple(marker.casefold() for marker in listed)
    for _ in range(_ROUNDS_MAX):
        own = _strip_elements(text, is_strict=is_strict)
        stripped = _strip_lines(own, markers, is_strict=is_strict)
        if stripped == text:
            return text
        text = stripped
    return ""


@cache
def _tags() -> re.Pattern[str]:
    """Host tags in a levelled text: spaced, and with any of `-`, `_` and a space between the words of a name."""
    names = "|".join(
        "[-_ ]".join(map(re.escape, re.split("[-_]", name))) for name in word_lists.entries("host_tags.txt")
    )
    gap = rf"[ \t]{{0,{SPACES_MAX}}}"
    return re.compile(
        rf"<{gap}(?=[/\w])(?P<close>/?){gap}(?P<name>{names})(?P<rest>(?:[\s/][^<>]{{0,{ATTRIBUTE_CHARS_MAX}}})?)>",
        re.IGNORECASE,
    )


def _strip_elements(text: str, *, is_strict: bool) -> str:
    """Cut every host element, from its opening tag to its own closing tag, or to the end if that never comes.

    An empty element (`<system-reminder/>`) is cut alone. A strict text with a closing tag of nothing is the host's.
    """
    kept: list[str] = []
    position = 0
    name, depth = "", 0
    for tag in _tags().finditer(level_brackets(text)):
        found = re.sub("[_ ]", "-", tag["name"].lower())
        if depth == 0:
            if tag["close"] and is_strict:
                return ""
            kept.append(text[position : tag.start()])
            position = tag.end()
            if not tag["close"] and not tag["rest"].rstrip().endswith("/"):
                name, depth = found, 1
        elif found == name:
            depth += -1 if tag["close"] else int(not tag["rest"].rstrip().endswith("/"))
            position = tag.end()
    if depth == 0:
        kept.append(text[position:])
    return "\n".join(kept) if len(kept) > 1 else "".join(kept)


def _strip_lines(text: str, markers: tuple[str, ...], *, is_strict: bool) -> str:
    lines = text.split("\n")
    kept = [] if _may_have_marked_lines(text, markers) else lines
    place = len(kept)
    while place < len(lines):
        line = _without_stamps(lines[place])
        place += 1
        if not markers or not line.lstrip().casefold().startswith(markers):
            kept.append(line)
            continue
        attached = _attached_lines(line, lines, place)
        place += attached or 0
        if is_strict and attached is None:
            while place < len(lines) and lines[place].strip():
                place += 1
    own = _BLANK_LINES.sub("\n\n", "\n".join(kept))
    # Strictly, the indentation of the first line tells code from words.
    return _LEADING_BLANK_LINES.sub("", own).rstrip() if is_strict else own.strip()


def _may_have_marked_lines(text: str, markers: tuple[str, ...]) -> bool:
    """Whether any line needs a look: a quick check that spares a paste of many lines one at each."""
    if "[" in text and _MOMENT.search(text) is not None:  # brackets may be many, moments are few
        return True
    folded = text.casefold()
    return any(marker in folded for marker in markers)


def _without_stamps(line: str) -> str:
    """The line without the time stamps it starts with."""
    start = end = len(line) - len(line.lstrip())
    while (stamp := _TIMESTAMP.match(line, end)) is not None:
        end = stamp.end()
    return line if end == start else line[end:]


def _attached_lines(marked: str, lines: Sequence[str], start: int) -> int | None:
    """How many lines after a marked one belong to it; None where nothing hangs on it.

    What hangs on it is a fenced block, or JSON in braces or brackets. JSON may begin on the marked line itself, and a
    blank line may come before either.
    """
    opening = marked.find("{")
    if opening >= 0:
        return 0 if marked.rstrip().endswith("}") else _json_lines(lines, start, "}")
    gap = next((place for place, line in enumerate(lines[start : start + 2]) if line.strip()), None)
    if gap is None:
        return None
    first = lines[start + gap].strip()
    if first.startswith(_FENCE):
        closes = (line.strip() == _FENCE for line in lines[start + gap + 1 : start + gap + _ATTACHED_LINES_MAX])
        return next((gap + place + 2 for place, is_closing in enumerate(closes) if is_closing), len(lines) - start)
    closing = {"{": "}", "[": "]"}.get(first[:1])
    if closing is None or (first[0] == "[" and first != "["):
        return None
    attached = _json_lines(lines, start + gap, closing)
    return None if attached is None else gap + attached


def _json_lines(lines: Sequence[str], start: int, closing: str) -> int | None:
    """How many lines from `start` on JSON takes that ends with `closing`; None if it does not end."""
    for place, line in enumerate(lines[start : start + _ATTACHED_LINES_MAX]):
        if line.rstrip().endswith(closing) and (place == 0 or not line.startswith((" ", "\t"))):
            return place + 1
    return None
