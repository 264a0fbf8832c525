"""A stretch of time, as stores and indices are asked for it."""

from __future__ import annotations

import msgspec


class TimeWindow(msgspec.Struct, frozen=True, kw_only=True):
    """A half-open interval: `start_ms` belongs to it, `end_ms` does not. Unix epoch milliseconds; None: unbounded."""

    start_ms: int | None = None
    end_ms: int | None = None

    def holds(self, at_ms: int) -> bool:
        """Whether an instant lies in it."""
        return (self.start_ms is None or self.start_ms <= at_ms) and (self.end_ms is None or at_ms < self.end_ms)
