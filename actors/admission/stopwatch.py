"""Telling how long each step of a turn took."""

from __future__ import annotations

from recalld.actors.ports import Clock


class Stopwatch:
    """Laps on the monotonic clock; the first one begins when the watch is made.

    Args:
        clock: Time.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._since_s = clock.monotonic_s()

    def lap_ms(self) -> float:
        """Milliseconds since the last lap, to the microsecond; begins the next one."""
        now_s = self._clock.monotonic_s()
        elapsed_ms, self._since_s = (now_s - self._since_s) * 1000, now_s
        return round(elapsed_ms, 3)
