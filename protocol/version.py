"""Versions of the wire protocol, and how two sides agree on one."""

from __future__ import annotations

PROTOCOL_VERSION = 1
"""The version this package speaks. A changed meaning is a new message tag; only a changed framing is a new version."""

PROTOCOL_VERSION_MIN = 1
PROTOCOL_VERSION_MAX = 1


def choose_version(offered: tuple[int, int]) -> int | None:
    """Return the highest version that both sides speak, or None when there is none.

    Args:
        offered: Lowest and highest version of the other side, both inclusive. A range that is the wrong way round holds
            no version.
    """
    low, high = offered
    best = min(high, PROTOCOL_VERSION_MAX)
    return best if best >= max(low, PROTOCOL_VERSION_MIN) else None
