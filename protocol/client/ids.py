"""Request ids of one connection."""

from __future__ import annotations

from recalld.protocol.fields import REQUEST_ID_MAX


class RequestIds:
    """Counts from 1 and starts over after the largest id; 0 stands for "not given"."""

    def __init__(self, last: int = 0) -> None:
        self._last = last

    def next_id(self) -> int:
        """A request id that no recent request had."""
        self._last = self._last % REQUEST_ID_MAX + 1
        return self._last
