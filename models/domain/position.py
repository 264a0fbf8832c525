"""Where on the curve between missed facts and wrong records a deployment stands."""

from __future__ import annotations

import enum


class Position(enum.StrEnum):
    """Which generators may write; the values are those of `admission.position` in the configuration."""

    STRICT = "strict"
    """Rules, explicit saves and what the user confirmed."""
    BALANCED = "balanced"
    """Also what a language model brings, as observations: enough of them make a record."""
    OPEN = "open"
    """Also what a language model brings, through policy alone. It has to be earned; see `policy.position`."""
