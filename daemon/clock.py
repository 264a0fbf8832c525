"""The real clock and the real source of ids; everything else gets them passed in."""

from __future__ import annotations

import random
import time

from recalld.models.policy.ids import encode_id

RANDOM_BITS = 80
"""Of a ULID-like id: two ids of one millisecond collide with a chance of one in 10²⁴."""


class SystemClock:
    """The system's monotonic clock, which is also the event loop's, and its wall clock. Usable from any thread."""

    def monotonic_s(self) -> float:
        """Seconds since some moment in the past."""
        return time.monotonic()  # noqa: TID251 - this is the clock that everybody else is handed

    def now_ms(self) -> int:
        """Unix epoch milliseconds, UTC."""
        return time.time_ns() // 1_000_000


class RandomIds:
    """Sortable ids from the clock and a source of chance.

    Args:
        clock: Wall time; ids of a later millisecond sort later.
        rng: Chance; the composition root passes `random.SystemRandom()`.
    """

    def __init__(self, clock: SystemClock, rng: random.Random) -> None:
        self._clock = clock
        self._rng = rng

    def new_id(self, prefix: str) -> str:
        """A new id, such as `mem_01J…`."""
        return encode_id(prefix, self._clock.now_ms(), self._rng.getrandbits(RANDOM_BITS))
