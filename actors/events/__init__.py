"""The event bus: one place where events are published, logged and streamed to subscribers."""

from recalld.actors.events.bus import BoundedEventStream, EventBus, EventLevel

__all__ = ["BoundedEventStream", "EventBus", "EventLevel"]
