"""What is remembered: memories, their kinds and their states."""

from __future__ import annotations

import enum

import msgspec

CUES_MAX = 3
"""Headings a record may carry; each costs a vector, and only the nearest is judged."""
ASKS_MAX = 4
"""Questions a record may say it answers; each costs a vector, and only the nearest counts."""
MEMORY_CHARS_MAX = 8_000
"""Longest memory text in characters; longer material belongs in a document store."""
CUE_CHARS_MAX = 120
ASK_CHARS_MAX = 240
USER_BYTES_MAX = 256
SCOPE_CHARS_MAX = 256


class MemoryKind(enum.StrEnum):
    """What sort of thing a memory is."""

    FACT = "fact"
    PREFERENCE = "preference"
    CONVENTION = "convention"
    PROCEDURE = "procedure"
    ENTITY = "entity"
    NOTE = "note"


class MemoryStatus(enum.StrEnum):
    """The life of a memory. Only `active` ones are recalled."""

    ACTIVE = "active"
    SUPERSEDED = "superseded"
    FORGOTTEN = "forgotten"


class MemorySource(enum.StrEnum):
    """Which gate let the memory in."""

    EXPLICIT = "explicit"
    HEURISTIC = "heuristic"
    MODEL = "model"
    CONFIRMED = "confirmed"
    IMPORTED = "imported"


class VectorRole(enum.StrEnum):
    """Which text of a record a vector stands for."""

    RECORD = "record"
    CUE = "cue"
    ASK = "ask"


class TextOrigin(enum.StrEnum):
    """Who wrote a cue or an ask."""

    GIVEN = "given"
    """Whoever stored or changed the memory."""
    RULE = "rule"
    """A slot or the gazetteer, when the memory was stored; makes room for what is given or a model writes."""
    MODEL = "model"
    """A lent model, in a backfill; makes room for what is given."""


class NewMemory(msgspec.Struct, frozen=True, kw_only=True):
    """A memory that asks to be stored: everything but its identity and times."""

    user: str
    text: str
    kind: MemoryKind = MemoryKind.FACT
    scope: str = ""
    """Empty: everywhere. Otherwise the project or context it belongs to."""
    cues: tuple[str, ...] = ()
    asks: tuple[str, ...] = ()
    source: MemorySource = MemorySource.EXPLICIT
    expires_at_ms: int | None = None
    added_cues: int = 0
    """How many of the cues, from the end, were added and not given: they never displace any that are stored."""
    added_asks: int = 0
    """As `added_cues`, of the asks."""


class Memory(msgspec.Struct, frozen=True, kw_only=True):
    """A stored memory. Times are Unix epoch milliseconds, UTC."""

    id: str
    user: str
    text: str
    kind: MemoryKind
    scope: str
    cues: tuple[str, ...]
    asks: tuple[str, ...]
    source: MemorySource
    status: MemoryStatus
    created_at_ms: int
    updated_at_ms: int
    expires_at_ms: int | None
    revision: int
    """Starts at 1 and grows by one with each change of cues or asks, and with each update; part of every score-cache
    key."""
    cue_origins: tuple[TextOrigin, ...] = ()
    """One for each cue; none at all: all were given."""
    ask_origins: tuple[TextOrigin, ...] = ()
    """As `cue_origins`, of the asks."""

    def is_live(self, now_ms: int) -> bool:
        """Whether the memory may be recalled at `now_ms`: active, and not yet expired (expiry is exclusive)."""
        return self.status is MemoryStatus.ACTIVE and (self.expires_at_ms is None or now_ms < self.expires_at_ms)
