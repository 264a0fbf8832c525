"""Publish to sinks (the log) and to bounded streams (subscribers). Publishing never blocks and never fails."""

from __future__ import annotations

import collections
import enum
from collections.abc import Callable

import anyio

from recalld.models.domain.events import Event, EventName

STREAM_EVENTS_MAX = 1024
"""Events a slow subscriber may lag behind before the oldest are dropped (with a count)."""


class EventLevel(enum.StrEnum):
    """How loud an event is in the log."""

    DEBUG = "debug"
    INFO = "info"
    WARNING = "warning"
    ERROR = "error"


class BoundedEventStream:
    """What one subscriber receives: drop-oldest, with the number dropped told at the next read."""

    def __init__(
        self, names: frozenset[EventName], user: str | None, on_close: Callable[[BoundedEventStream], None]
    ) -> None:
        self._names = names
        self._user = user
        self._on_close = on_close
        self._events: collections.deque[Event] = collections.deque()
        self._dropped = 0
        self._arrived = anyio.Event()
        self._is_closed = False

    def offer(self, event: Event) -> None:
        """Take the event if it was asked for."""
        if self._is_closed or (self._names and event.name not in self._names):
            return
        if self._user is not None and event.user not in ("", self._user):
            return
        if len(self._events) >= STREAM_EVENTS_MAX:
            self._events.popleft()
            self._dropped += 1
        self._events.append(event)
        self._arrived.set()

    async def next_event(self) -> tuple[Event, int]:
        """The next event and how many were dropped before it.

        Raises:
            anyio.EndOfStream: The stream was closed and everything received was read.
        """
        while not self._events:
            if self._is_closed:
                raise anyio.EndOfStream
            self._arrived = anyio.Event()
            await self._arrived.wait()
        dropped, self._dropped = self._dropped, 0
        return self._events.popleft(), dropped

    def close(self) -> None:
        """Stop receiving. Idempotent."""
        if not self._is_closed:
            self._is_closed = True
            self._arrived.set()
            self._on_close(self)


class EventBus:
    """Hands every event to the sink and to each interested stream."""

    def __init__(self, sink: Callable[[Event, EventLevel], None] | None = None) -> None:
        self._sink = sink
        self._streams: list[BoundedEventStream] = []

    def publish(self, event: Event, level: EventLevel = EventLevel.INFO) -> None:
        """Publish to the sink first, then to the streams."""
        if self._sink is not None:
            self._sink(event, level)
        for stream in tuple(self._streams):
            stream.offer(event)

    def subscribe(self, names: frozenset[EventName] = frozenset(), user: str | None = None) -> BoundedEventStream:
        """A stream of events from now on; no names means all of them."""
        stream = BoundedEventStream(names, user, self._streams.remove)
        self._streams.append(stream)
        return stream

    def close(self) -> None:
        """End every stream."""
        for stream in tuple(self._streams):
            stream.close()
