"""Time and stopping, passed in."""

from __future__ import annotations

from typing import Protocol


class MonotonicClock(Protocol):
    """A clock of which only differences mean something."""

    def monotonic_s(self) -> float:
        """Seconds."""
        ...


class StopSignal(Protocol):
    """How the owner ends provisioning early; a `threading.Event` is one. Also what waiting is done with."""

    def is_set(self) -> bool:
        """Whether to stop."""
        ...

    def wait(self, timeout: float) -> bool:
        """Wait for at most `timeout` seconds; True when to stop."""
        ...
