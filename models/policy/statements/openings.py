r"""How what a pattern matches can begin: the first few characters, read off the pattern itself.

Guards: the time of every turn. Most clauses begin in a way that no rule does ("the log says …"), and a dictionary tells
so before any pattern is tried. Derived from the patterns, so that it cannot drift away from them.
Cost: once per pattern, at start-up; then a few look-ups for each place. Fails: towards trying: whatever in a pattern is
not read (classes such as `\w`, letters outside ASCII, syntax that no rule uses) may be anything.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from itertools import product
from typing import Final

import msgspec

OPENING_CHARS: Final = 4
"""Characters of a beginning that are told apart: "i us" from "i wo"."""
OPENINGS_MAX: Final = 1_000
"""Beginnings of one piece of a pattern; where there would be more, anything may follow."""
_REMEMBERED_MAX: Final = 4_096
"""Beginnings of clauses whose patterns are remembered: people begin them in few ways."""
NAME_MARK: Final = "\ue000"
"""Stands for any character of private use: names of the gazetteer are made of such, see `names`."""
_PRIVATE: Final = re.compile("[\ue000-\uf8ff]")
_UNLIKE_LOWER: Final = frozenset("\u0130\u0131\u017f\u212a")
"""Characters that match an ASCII letter where case is ignored, and are not it in lower case."""

_ATOM: Final = re.compile(
    r"(?P<look>\(\?<?[=!])|(?P<group>\((?:\?(?:P<\w+>|[a-z]*(?:-[a-z]+)?:))?(?!\?))|(?P<class>\[\^?\]?(?:\\.|[^\]\\])*\])"
    r"|(?P<width>\\[bBAZ]|[$^])|(?P<escape>\\(?:u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|.))|(?P<plain>[^()|])",
    re.DOTALL,
)
_MARK: Final = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|[()|]", re.DOTALL)
"""What tells how a pattern is put together: brackets and bars, and what may hold others."""
_REPEAT: Final = re.compile(r"(?:(?P<sign>[*+?])|\{(?!\})(?P<low>\d*)(?P<comma>,?)(?P<high>\d*)\})[?+]?")
_RANGE: Final = re.compile(r"(?P<first>[ -~])-(?P<last>[ -~])")
_CONTROLS: Final = {"n": "\n", "t": "\t"}


class _Openings(msgspec.Struct, frozen=True):
    """How a piece of a pattern can begin.

    Attributes:
        whole: All that it matches, where that is shorter than `OPENING_CHARS`.
        heads: Beginnings behind which anything may follow.
    """

    whole: frozenset[str] = frozenset()
    heads: frozenset[str] = frozenset()


_NOTHING: Final = _Openings(frozenset({""}))
_ANYTHING: Final = _Openings(heads=frozenset({""}))


class _UnreadError(Exception):
    """A pattern has syntax that is not read."""


def openings_of(pattern: str) -> frozenset[str]:
    """The beginnings, in lower case, one of which any text has that the pattern matches, whatever its case.

    Args:
        pattern: A regular expression that compiles; `""` among the result says that it may begin with anything.
    """
    try:
        found, end = _alternatives(pattern, 0)
    except _UnreadError:
        return _ANYTHING.heads
    return _ANYTHING.heads if end < len(pattern) else found.whole | found.heads


class OpeningIndex:
    """Which of many patterns may match at a place, as bits: bit n stands for the pattern n.

    Args:
        patterns: Regular expressions.
    """

    def __init__(self, patterns: Sequence[str]) -> None:
        self._bits: dict[str, int] = {}
        for number, pattern in enumerate(patterns):
            for opening in openings_of(pattern):
                self._bits[opening] = self._bits.get(opening, 0) | 1 << number
        self._all = (1 << len(patterns)) - 1
        self.of: Final[Callable[[str], int]] = lru_cache(maxsize=_REMEMBERED_MAX)(self._of)
        """The patterns that may match a text of which the first `OPENING_CHARS` characters are given, in lower case."""

    def _of(self, head: str) -> int:
        if not head.isascii():
            if not _UNLIKE_LOWER.isdisjoint(head):
                return self._all
            head = _PRIVATE.sub(NAME_MARK, head)
        found = 0
        for length in range(len(head) + 1):
            found |= self._bits.get(head[:length], 0)
        return found


def _alternatives(pattern: str, at: int) -> tuple[_Openings, int]:
    """Read up to the end of a group or of the pattern; what was read, and where it ended."""
    branches: list[_Openings] = []
    while True:
        found, at = _sequence(pattern, at)
        branches.append(found)
        if at >= len(pattern) or pattern[at] == ")":
            return _either(branches), at
        at += 1


def _sequence(pattern: str, at: int) -> tuple[_Openings, int]:
    """Read up to the next `|` or `)`."""
    found = _NOTHING
    while at < len(pattern) and pattern[at] not in "|)":
        if not found.whole:  # whatever comes, it is not of the beginning
            return found, _branch_end(pattern, at)
        piece, at = _atom(pattern, at)
        repeat = _REPEAT.match(pattern, at)
        if repeat is not None:
            piece, at = _repeated(piece, repeat), repeat.end()
        found = _followed(found, piece)
    return found, at


def _atom(pattern: str, at: int) -> tuple[_Openings, int]:
    atom = _ATOM.match(pattern, at)
    if atom is None:
        raise _UnreadError
    end = atom.end()
    match atom.lastgroup:
        case "look":
            return _NOTHING, _group_end(pattern, end)
        case "group":
            inner, end = _alternatives(pattern, end)
            return inner, end + 1
        case "class":
            return _characters(_members(atom.group()[1:-1])), end
        case "width":
            return _NOTHING, end
        case "escape":
            return _characters(_escaped(atom.group()[1:])), end
        case _:
            return _characters(None if atom.group() == "." else [atom.group()]), end


def _branch_end(pattern: str, at: int) -> int:
    """Where the branch that goes on at a place ends: at a `|` or `)` of its own, or with the pattern."""
    while (found := _MARK.search(pattern, at)) is not None:
        if found.group() in "|)":
            return found.start()
        at = _group_end(pattern, found.end()) if found.group() == "(" else found.end()
    return len(pattern)


def _group_end(pattern: str, at: int) -> int:
    """Behind the bracket that closes a group whose inside goes on at a place."""
    depth = 1
    for found in _MARK.finditer(pattern, at):
        depth += {"(": 1, ")": -1}.get(found.group(), 0)
        if depth == 0:
            return found.end()
    raise _UnreadError


def _escaped(escape: str) -> list[str] | None:
    """The character of an escape; None: any."""
    if escape in _CONTROLS:
        return [_CONTROLS[escape]]
    return None if escape[0].isalnum() else [escape]


def _members(inside: str) -> list[str] | None:
    """The characters of a class; None: any."""
    if _PRIVATE.sub("", inside) == "":
        return [NAME_MARK]
    if inside.startswith("^") or "\\" in inside.replace("\\-", "") or not inside.isascii():
        return None
    plain = inside.replace("\\-", "")
    members = ["-"] if plain != inside else []
    for found in _RANGE.finditer(plain):
        members += map(chr, range(ord(found["first"]), ord(found["last"]) + 1))
    members += _RANGE.sub("", plain)
    return members


def _characters(members: Iterable[str] | None) -> _Openings:
    """One of some characters; None: any."""
    if members is None:
        return _ANYTHING
    lowered = frozenset(each.lower() for each in members)
    return _Openings(lowered) if all(each.isascii() or each == NAME_MARK for each in lowered) else _ANYTHING


def _repeated(piece: _Openings, repeat: re.Match[str]) -> _Openings:
    sign = repeat["sign"]
    if sign is not None:
        low, high = int(sign == "+"), 1 if sign == "?" else OPENING_CHARS
    else:
        low = int(repeat["low"] or 0)
        high = (int(repeat["high"]) if repeat["high"] else OPENING_CHARS) if repeat["comma"] else low
    low, high = min(low, OPENING_CHARS), min(high, OPENING_CHARS)
    found = _NOTHING
    counted = [found] if low == 0 else []
    for count in range(1, high + 1):
        found = _followed(found, piece)
        if count >= low:
            counted.append(found)
    return _either(counted)


def _followed(first: _Openings, then: _Openings) -> _Openings:
    if not first.whole:
        return first
    if len(first.whole) * (len(then.whole) + len(then.heads)) > OPENINGS_MAX:
        return _Openings(heads=first.heads | first.whole)
    whole: set[str] = set()
    heads = set(first.heads)
    for start, rest in product(first.whole, then.whole):
        joined = (start + rest)[:OPENING_CHARS]
        (heads if len(joined) == OPENING_CHARS else whole).add(joined)
    heads.update((start + rest)[:OPENING_CHARS] for start, rest in product(first.whole, then.heads))
    return _Openings(frozenset(whole), frozenset(heads))


def _either(branches: Sequence[_Openings]) -> _Openings:
    return _Openings(
        frozenset().union(*(each.whole for each in branches)), frozenset().union(*(each.heads for each in branches))
    )
