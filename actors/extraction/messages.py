"""What the extraction actor can be told."""

from __future__ import annotations

import msgspec


class TurnWaits(msgspec.Struct, frozen=True, kw_only=True):
    """A turn of the user was put among those that wait."""

    user: str


class ExtractNow(msgspec.Struct, frozen=True, kw_only=True):
    """Read what waits of the user without waiting for quiet: a session has ended, or somebody asked for it."""

    user: str


ExtractionMessage = TurnWaits | ExtractNow
