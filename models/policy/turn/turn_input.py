"""What the turn gate is given: one turn, as data."""

from __future__ import annotations

import enum
from collections.abc import Sequence
from datetime import datetime
from typing import Literal, Protocol
from zoneinfo import ZoneInfo

import msgspec

from recalld.models.domain.turn_parts import MessagePart, PartKind
from recalld.models.policy.host_text import strip_host_text
from recalld.models.policy.temporal.time_span import TimeSpan
from recalld.models.policy.turn.directions import GateCause
from recalld.models.policy.turn.probe import ProbeResult


class NotSupplied(enum.Enum):
    """The type of `NOT_SUPPLIED`."""

    NOT_SUPPLIED = "not_supplied"


NOT_SUPPLIED: Literal[NotSupplied.NOT_SUPPLIED] = NotSupplied.NOT_SUPPLIED
"""The caller does not know the turns before this one, which is not the same as there being none."""


class TurnInput(msgspec.Struct, frozen=True, kw_only=True):
    """One turn.

    Attributes:
        parts: The message; only the user's parts are read, and host text is removed from those too.
        recent: Texts of the turns before, the user's and the assistant's, oldest first; empty at a session's start.
        now: The moment of the turn, with its offset; None: no expression of time is looked for.
        zone: The user's time zone; None: as for `now`.
        probe: What the store said about the message's terms, or why it could not say; None: it was not asked.
    """

    parts: tuple[MessagePart, ...]
    recent: tuple[str, ...] | NotSupplied = NOT_SUPPLIED
    now: datetime | None = None
    zone: ZoneInfo | None = None
    probe: ProbeResult | GateCause | None = None


class FindTimes(Protocol):
    """Finds the expressions of time in a text."""

    def __call__(self, text: str, *, now: datetime, zone: ZoneInfo, language: str) -> Sequence[TimeSpan]:
        """The expressions in text order, read by one language's grammar."""
        ...


def own_words(parts: Sequence[MessagePart], *, line_markers: Sequence[str] | None = None) -> str:
    """The user's own words of a message: its user parts without host text, trimmed; empty when there are none.

    Args:
        parts: The message.
        line_markers: Beginnings of lines that the host writes; None for the shipped list.
    """
    own = (strip_host_text(part.text, line_markers=line_markers) for part in parts if part.kind is PartKind.USER)
    return "\n".join(text for text in own if text)
