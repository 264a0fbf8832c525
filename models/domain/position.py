"""Where on the curve between missed facts and wrong records a deployment stands."""

from __future__ import annotations

import enum


class Position(enum.StrEnum):
    """Which generators may write; the values are those of `admission.position` in the configuration."""

    STRICT = "strict"
    """Rules, explicit saves, what the user confirmed, and what the local judge is sure of."""
    BALANCED = "balanced"
    """Also the judge's less certain finds; and what a language model brings, as observations: enough make a record."""
    OPEN = "open"
    """Also what a language model brings, through policy alone. It has to be earned; see `policy.position`."""
