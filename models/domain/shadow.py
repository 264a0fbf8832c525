"""Shadow mode: the gates decide and are logged, and something else is done."""

from __future__ import annotations

import enum
from typing import Final

SHADOW_RULE: Final = "shadow:"
"""How the rule of a fact begins that shadow mode has only noted; the rest is what would have become of it, and the rule
that decided so: `shadow:record/stated`."""


class GateMode(enum.StrEnum):
    """What is done with what the gates of a recall decide; the values are those of `recall.mode`."""

    ENFORCE = "enforce"
    """It is done."""
    SHADOW_INJECT = "shadow_inject"
    """It is written down; what the similarity floor alone would inject is injected, also where no search was
    warranted."""
    SHADOW_SILENT = "shadow_silent"
    """It is written down; nothing is injected."""


class WriteMode(enum.StrEnum):
    """What is done with what the write gate decides about a turn; the values are those of `admission.mode`."""

    ENFORCE = "enforce"
    """It is done."""
    SHADOW = "shadow"
    """It is written down; whatever would be stored or asked is an observation, which no recall hands over and no
    number of turns promotes."""
