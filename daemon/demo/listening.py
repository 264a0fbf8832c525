"""Counting a daemon's events from blocking code: a thread reads the subscription until it is closed."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from itertools import islice
from pathlib import Path

from recalld.daemon.clock import SystemClock
from recalld.protocol.client import Client, ClientError
from recalld.protocol.replies import Event
from recalld.protocol.requests import Subscribe

SUBSCRIBE_S_MAX = 60.0
"""Longest wait for the subscription; events are then waited for as long as they take."""


class EventListener:
    """Gathers events of some names.

    Args:
        socket_path: The daemon's socket.
        names: Which events.
    """

    def __init__(self, socket_path: Path, names: Sequence[str]) -> None:
        self._client = Client(socket_path, name="recalld-demo-events", timeout_s=SUBSCRIBE_S_MAX)
        self._names = tuple(names)
        self._events: list[Event] = []
        self._changed = threading.Condition()
        # A daemon thread: it ends with the subscription, and must never keep the process from ending.
        self._thread = threading.Thread(target=self._listen, name="recalld-demo-events", daemon=True)

    def start(self) -> None:
        """Subscribe."""
        self._thread.start()

    def _listen(self) -> None:
        try:
            for event in self._client.subscribe(Subscribe(events=self._names)):
                with self._changed:
                    self._events.append(event)
                    self._changed.notify_all()
        except ClientError:
            return

    def named(self, name: str) -> list[Event]:
        """Events of one name so far."""
        with self._changed:
            return [event for event in self._events if event.name == name]

    def wait_for(self, name: str, *, seconds_max: float, reason: str | None = None, after: int = 0) -> Event | None:
        """The first event of a name (and, if given, of a reason), waited for if need be; None if it did not come.

        Args:
            name: Which event.
            seconds_max: How long to wait.
            reason: Which reason; None: any.
            after: How many such events are passed over, because they had come before what is waited for.
        """
        clock = SystemClock()
        deadline_s = clock.monotonic_s() + seconds_max
        with self._changed:
            while True:
                wanted = (event for event in self._events if _is_wanted(event, name, reason))
                found = next(islice(wanted, after, None), None)
                left_s = deadline_s - clock.monotonic_s()
                if found is not None or left_s <= 0:
                    return found
                self._changed.wait(left_s)


def _is_wanted(event: Event, name: str, reason: str | None) -> bool:
    return event.name == name and reason in {None, event.fields.get("reason")}
