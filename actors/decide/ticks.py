"""Which ticks of which user's gates were started last, and which of them are still going on."""

from __future__ import annotations

from collections import OrderedDict
from typing import Final

import msgspec

from recalld.models.policy.profiles.knowledge import TickState

TICKS_MAX: Final = 4_096
"""Users times gates that are remembered. One that is forgotten may tick again early, which costs a few calls."""


class TickBook:
    """The latest tick of each user and gate. Lost with the process, and then the next tick may start at once."""

    def __init__(self) -> None:
        self._latest: OrderedDict[tuple[str, str], TickState] = OrderedDict()

    def latest(self, user: str, profile: str) -> TickState | None:
        """The latest tick; None when none is known."""
        return self._latest.get((user, profile))

    def start(self, user: str, profile: str, *, now_ms: int, lease_ms: int) -> None:
        """A tick starts, and holds the lease for so many milliseconds at most."""
        key = (user, profile)
        self._latest[key] = TickState(started_ms=now_ms, lease_until_ms=now_ms + lease_ms)
        self._latest.move_to_end(key)
        if len(self._latest) > TICKS_MAX:
            self._latest.popitem(last=False)

    def end(self, user: str, profile: str) -> None:
        """The tick that is going on ends, if one is."""
        key = (user, profile)
        if (tick := self._latest.get(key)) is not None:
            self._latest[key] = msgspec.structs.replace(tick, lease_until_ms=None)
