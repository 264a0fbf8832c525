"""Which users are kept ready, decided purely: least recently used first, never one that is busy.

A user is *resident* while its actors run. The directory asks who has to leave after each activation and at each tick.
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec


class Resident(msgspec.Struct, frozen=True, kw_only=True):
    """One user's actors as the rule sees them.

    Attributes:
        key: Which resident.
        used_s: When it was last asked for anything, in seconds on the monotonic clock.
        is_busy: Whether something is waiting or in flight for it; a busy resident is never asked to leave.
        index_bytes: Bytes of its vector index.
    """

    key: str
    used_s: float
    is_busy: bool
    index_bytes: int


class ResidencyLimits(msgspec.Struct, frozen=True, kw_only=True):
    """How much may stay in memory.

    Attributes:
        residents_max: Users kept ready at the same time.
        index_bytes_max: Bytes of all indices together. The newest resident may exceed it alone: refusing to serve a
            large user would be worse than serving it cold.
        idle_s: Seconds without a request after which a resident leaves anyway.
    """

    residents_max: int
    index_bytes_max: int
    idle_s: float


def who_leaves(residents: Iterable[Resident], limits: ResidencyLimits, *, now_s: float) -> tuple[str, ...]:
    """Keys of the residents that should be put to rest, least recently used first.

    Busy residents stay even where the limits are exceeded: bounds are met again as soon as they fall idle.
    """
    oldest_first = sorted(residents, key=lambda resident: resident.used_s)
    count = len(oldest_first)
    total_bytes = sum(resident.index_bytes for resident in oldest_first)
    leaving: list[str] = []
    for position, resident in enumerate(oldest_first):
        is_idle = now_s - resident.used_s >= limits.idle_s
        is_over = count > limits.residents_max or total_bytes > limits.index_bytes_max
        is_newest = position == len(oldest_first) - 1
        if resident.is_busy or not (is_idle or (is_over and not is_newest)):
            continue
        leaving.append(resident.key)
        count -= 1
        total_bytes -= resident.index_bytes
    return tuple(leaving)
