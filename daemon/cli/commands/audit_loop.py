"""Going through the newest memories, one key for each decision."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Protocol

import msgspec

from recalld.daemon.cli.commands.review_loop import Keys, Said
from recalld.protocol.items import MemoryItem

HELP: Final = "k keep, e edit, f forget, q quit"
_END: Final = frozenset({"", "q", "\x03", "\x04", "\x1b"})
"""Nothing left to read, q, Ctrl-C, Ctrl-D and escape."""
_WORDS: Final = {"keep": "k", "edit": "e", "forget": "f", "quit": "q"}
"""Whole words, where a line of standard input decides."""


class AuditScreen(Protocol):
    """Where memories are shown."""

    def show(self, memory: MemoryItem, place: int, total: int) -> None:
        """One memory, as the `place`th of `total`."""
        ...

    def say(self, text: str) -> None:
        """One line."""
        ...


class AuditDesk(Protocol):
    """Carries decisions out."""

    def forget(self, memory: MemoryItem) -> Said:
        """Forget it."""
        ...

    def edit(self, memory: MemoryItem) -> str | None:
        """Have its words edited; None when nothing was saved, or nothing changed."""
        ...

    def reword(self, memory: MemoryItem, text: str) -> Said:
        """Keep it in other words."""
        ...

    def note(self, memory: MemoryItem, *, is_right: bool) -> None:
        """Note for the figures whether it was right as it stood. What cannot be noted is lost for them alone."""
        ...


class Audited(msgspec.Struct, kw_only=True):
    """What was decided."""

    kept: int = 0
    edited: int = 0
    forgotten: int = 0
    left: int = 0
    """Not looked at."""

    @property
    def is_whole(self) -> bool:
        """Whether somebody decided about every one of them."""
        return self.left == 0


def audit(memories: Sequence[MemoryItem], desk: AuditDesk, keys: Keys, screen: AuditScreen) -> Audited:
    """Show each memory until a key decides about it; a decision that cannot be carried out asks again.

    Args:
        memories: What is to be looked at, newest first.
        desk: Carries decisions out.
        keys: Where they come from.
        screen: Where memories are shown.
    """
    done = Audited(left=len(memories))
    for place, memory in enumerate(memories, 1):
        screen.show(memory, place, len(memories))
        decided = _decide(memory, desk, keys, screen)
        if decided == "q":
            break
        desk.note(memory, is_right=decided == "k")
        match decided:
            case "e":
                done.edited += 1
            case "f":
                done.forgotten += 1
            case _:
                done.kept += 1
        done.left -= 1
    return done


def _decide(memory: MemoryItem, desk: AuditDesk, keys: Keys, screen: AuditScreen) -> str:
    """Carry out what the keys say of one memory: `k`, `e`, `f` or `q`."""
    while True:
        said_key = keys.next_key()
        key = _WORDS.get(said_key, said_key)
        said: Said | None = None
        match key:
            case "k":
                return key
            case "f":
                said = desk.forget(memory)
            case "e":
                text = desk.edit(memory)
                said = Said(text=f"Not changed. {HELP}", is_done=False) if text is None else desk.reword(memory, text)
            case _ if key in _END:
                return "q"
            case _:
                said = Said(text=HELP, is_done=False)
        screen.say(said.text)
        if said.is_done:
            return key
