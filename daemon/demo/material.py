"""The demo's memories and turns: one made-up small team, written for this project.

The memories came first; the turns were written by somebody who saw the memories' texts alone, and their labels were
read again by a third. No fit has seen any of it.
"""

from __future__ import annotations

from importlib.resources import files
from typing import Literal

import msgspec


class DemoMemory(msgspec.Struct, frozen=True, kw_only=True):
    """A memory of the team. `id` is the demo's own; the daemon gives another."""

    id: str
    text: str
    kind: Literal["fact", "preference", "convention", "procedure", "entity", "note"]
    cues: tuple[str, ...]
    asks: tuple[str, ...]


class DemoTurn(msgspec.Struct, frozen=True, kw_only=True):
    """A user's turn, and which memories help with it."""

    id: str
    query: str
    query_kind: str
    relevant: tuple[str, ...]
    nothing_relevant: bool


def demo_memories() -> tuple[DemoMemory, ...]:
    """About 40 memories."""
    return tuple(msgspec.json.decode(line, type=DemoMemory) for line in _lines("memories.jsonl"))


def demo_turns() -> tuple[DemoTurn, ...]:
    """About 20 turns of one working day."""
    return tuple(msgspec.json.decode(line, type=DemoTurn) for line in _lines("turns.jsonl"))


def _lines(name: str) -> list[bytes]:
    return (files("recalld.daemon.demo") / "data" / name).read_bytes().splitlines()
