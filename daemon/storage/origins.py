"""Origins of cues and asks as they are stored: a letter for each text, cues and asks apart by a slash.

An empty text says that all were given, as it does for memories that were stored before origins were kept.
"""

from __future__ import annotations

import sqlite3
from typing import Final

from recalld.models.domain.records import Memory, TextOrigin

_LETTERS: Final = {TextOrigin.GIVEN: "g", TextOrigin.RULE: "r", TextOrigin.MODEL: "m"}
_ORIGINS: Final = {letter: origin for origin, letter in _LETTERS.items()}


def keep_origins(db: sqlite3.Connection) -> None:
    """The migration: a column, empty for all that is stored."""
    db.execute("ALTER TABLE memories ADD COLUMN origins TEXT NOT NULL DEFAULT ''")


def text_from_origins(memory: Memory) -> str:
    """The origins of a memory's cues and asks as they are stored."""
    if not memory.cue_origins and not memory.ask_origins:
        return ""
    cues, asks = ("".join(map(_LETTERS.__getitem__, each)) for each in (memory.cue_origins, memory.ask_origins))
    return f"{cues}/{asks}"


def origins_from_text(stored: str) -> tuple[tuple[TextOrigin, ...], tuple[TextOrigin, ...]]:
    """Origins of cues and of asks; a letter that nobody wrote counts as given."""
    if not stored:
        return (), ()
    cues, _, asks = stored.partition("/")
    return _read(cues), _read(asks)


def _read(letters: str) -> tuple[TextOrigin, ...]:
    return tuple(_ORIGINS.get(letter, TextOrigin.GIVEN) for letter in letters)
