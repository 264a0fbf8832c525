"""A flag that one thread sets to make another abandon what it is running."""

from __future__ import annotations

import threading

from recalld.actors.ports import StopCallback


class StopSignal:
    """A `StopFlag` that can be set once, from any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._is_set = False
        self._callbacks: list[StopCallback] = []

    def is_set(self) -> bool:
        """Whether the work is to be abandoned."""
        return self._is_set

    def on_set(self, callback: StopCallback) -> None:
        """Call back once, from the thread that sets the flag; at once, from this thread, if it is set already."""
        with self._lock:
            if not self._is_set:
                self._callbacks.append(callback)
                return
        callback()

    def set(self) -> None:
        """Ask for the work to be abandoned; a second call does nothing."""
        with self._lock:
            self._is_set = True
            callbacks, self._callbacks = self._callbacks, []
        # Outside the lock: a callback may look at the flag.
        for callback in callbacks:
            callback()
