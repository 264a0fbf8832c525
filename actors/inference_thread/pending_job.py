"""A job that is being worked on: what is known of its results so far."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Generic, TypeVar

import anyio

V = TypeVar("V")


class PendingJob(Generic[V]):
    """Results of one job as they come in, each at its own place; lives on the event loop.

    Attributes:
        arrived_s: When the job arrived, in seconds on the monotonic clock.
        cached: Results that were known from the start.
        computed: Results that came in since.
        error_type: Type name of the first failure; empty when nothing failed.
    """

    def __init__(self, known: Sequence[V | None], *, arrived_s: float) -> None:
        self.arrived_s = arrived_s
        self.cached = sum(value is not None for value in known)
        self.computed = 0
        self.error_type = ""
        self._values = list(known)
        self._missing = {place for place, value in enumerate(known) if value is None}
        self._first_started_s: float | None = None
        self._done = anyio.Event()
        self._end_if_complete()

    @property
    def values(self) -> tuple[V | None, ...]:
        """What is known now; None where nothing is."""
        return tuple(self._values)

    @property
    def missing(self) -> tuple[int, ...]:
        """Places without a result, in order."""
        return tuple(sorted(self._missing))

    @property
    def queue_ms(self) -> float:
        """Milliseconds from the arrival to the first start; 0 while nothing has started."""
        return 0.0 if self._first_started_s is None else max(0.0, (self._first_started_s - self.arrived_s) * 1000)

    def put(self, place: int, value: V, *, started_s: float) -> None:
        """Note a result; one that comes a second time changes nothing."""
        self._note_start(started_s)
        if place in self._missing:
            self._missing.discard(place)
            self._values[place] = value
            self.computed += 1
        self._end_if_complete()

    def fail(self, place: int, error_type: str, *, started_s: float) -> None:
        """Note a failure: the place stays without a result."""
        self._note_start(started_s)
        self.error_type = self.error_type or error_type
        self._missing.discard(place)
        self._end_if_complete()

    def end(self) -> None:
        """Wait for no more results."""
        self._done.set()

    async def wait_done(self) -> None:
        """Wait until every place has its result or failure, or the job was ended."""
        await self._done.wait()

    def _note_start(self, started_s: float) -> None:
        if self._first_started_s is None or started_s < self._first_started_s:
            self._first_started_s = started_s

    def _end_if_complete(self) -> None:
        if not self._missing:
            self._done.set()
