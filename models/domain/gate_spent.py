"""What the write gate spent on a turn."""

from __future__ import annotations

from typing import Final

import msgspec


class GateSpent(msgspec.Struct, frozen=True, kw_only=True):
    """Milliseconds of waiting included, since that is what the turn's answer waited for.

    Attributes:
        read_ms: Finding facts by rules.
        judge_ms: The local judge, with the embeddings that it asks for.
        policy_ms: Ruling on what was found.
    """

    read_ms: float = 0.0
    judge_ms: float = 0.0
    policy_ms: float = 0.0


UNSPENT: Final = GateSpent()
"""Of a turn that no gate read."""
