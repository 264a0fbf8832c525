"""Going through what waits, one key for each decision."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Final, Protocol

import click
import msgspec

from recalld.daemon.cli.commands.review_items import Waiting

HELP: Final = "a accept, r reject, e edit, s skip, q quit"
_END: Final = frozenset({"", "q", "\x03", "\x04", "\x1b"})
"""Nothing left to read, q, Ctrl-C, Ctrl-D and escape."""


class Keys(Protocol):
    """Where decisions come from."""

    def next_key(self) -> str:
        """The next key, lower case; empty at the end."""
        ...


class Screen(Protocol):
    """Where it is shown."""

    def show(self, item: Waiting, place: int, total: int) -> None:
        """One that waits, as the `place`th of `total`."""
        ...

    def say(self, text: str) -> None:
        """One line."""
        ...


class Said(msgspec.Struct, frozen=True, kw_only=True):
    """What became of a decision, in words, and whether it was carried out."""

    text: str
    is_done: bool = True


class Desk(Protocol):
    """Carries decisions out."""

    def accept(self, item: Waiting, text: str = "") -> Said:
        """Make a memory of it, in other words if given."""
        ...

    def reject(self, item: Waiting) -> Said:
        """Turn it down."""
        ...

    def edit(self, item: Waiting) -> str | None:
        """Have its words edited; None when nothing was saved."""
        ...


class TerminalKeys:
    """Single keys of a terminal."""

    def next_key(self) -> str:
        """Wait for a key; Ctrl-C raises `KeyboardInterrupt`, as everywhere."""
        try:
            return click.getchar().lower()
        except EOFError:
            return ""


_WORDS: Final = {"accept": "a", "reject": "r", "edit": "e", "skip": "s", "quit": "q"}
"""What a whole word on a line says; what is neither a key nor one of these is asked for again."""


class LineKeys:
    """A key or its word on each line, where no terminal gives single keys. A blank line skips; nothing else decides."""

    def next_key(self) -> str:
        """Wait for a line."""
        line = sys.stdin.readline()
        said = line.strip().lower()
        return (_WORDS.get(said, said) or "s") if line else ""


class Reviewed(msgspec.Struct, kw_only=True):
    """What was decided."""

    accepted: int = 0
    rejected: int = 0
    skipped: int = 0
    left: int = 0
    """Not looked at."""


def review(items: Sequence[Waiting], desk: Desk, keys: Keys, screen: Screen) -> Reviewed:
    """Show each item until a key decides about it.

    Args:
        items: What waits.
        desk: Carries decisions out.
        keys: Where they come from.
        screen: Where it is shown.
    """
    done = Reviewed(left=len(items))
    for place, item in enumerate(items, 1):
        screen.show(item, place, len(items))
        decision = _decide(item, desk, keys, screen)
        if decision == "q":
            break
        done.left -= 1
        match decision:
            case "a":
                done.accepted += 1
            case "r":
                done.rejected += 1
            case _:
                done.skipped += 1
    return done


def _decide(item: Waiting, desk: Desk, keys: Keys, screen: Screen) -> str:
    """Carry out what the keys say of one item: `a`, `r`, `s` or `q`."""
    while True:
        key = keys.next_key()
        match key:
            case "a":
                return _said(desk.accept(item), key, screen)
            case "r":
                return _said(desk.reject(item), key, screen)
            case "e":
                text = desk.edit(item)
                if text is not None:
                    return _said(desk.accept(item, text), "a", screen)
                screen.say(f"Not saved. {HELP}")
            case "s":
                return key
            case _ if key in _END:
                return "q"
            case _:
                screen.say(HELP)


def _said(said: Said, key: str, screen: Screen) -> str:
    """The key that was carried out; a decision that was not counts as a skip."""
    screen.say(said.text)
    return key if said.is_done else "s"
