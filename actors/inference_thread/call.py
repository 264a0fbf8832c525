"""One call for a lane: made on the event loop, run in a thread, its outcome delivered back on the event loop."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from recalld.actors.ports import Clock, StopFlag

T = TypeVar("T")

Delivery = Callable[[], None]
"""Hands an outcome to whoever asked; to be called on the event loop's thread."""

Handoff = Callable[[Delivery], None]
"""Has a delivery called on the event loop's thread. Callable from any thread; never blocks and never raises."""


@dataclass(frozen=True, slots=True)
class Returned(Generic[T]):
    """The call returned. `started_s` is on the monotonic clock."""

    value: T
    started_s: float
    elapsed_ms: float


@dataclass(frozen=True, slots=True)
class Raised:
    """The call raised. The error is kept for its type and, where it is ours, its message."""

    error: Exception
    started_s: float

    @property
    def error_type(self) -> str:
        """Name of the error's type: what may be logged of it."""
        return type(self.error).__name__


@dataclass(frozen=True, slots=True)
class Stopped:
    """The call was abandoned on request, however it ended."""


Outcome = Returned[T] | Raised | Stopped


class AnyCall(Protocol):
    """A call whose result type does not matter to the thread that runs it."""

    def note_assigned(self, now_s: float) -> None:
        """Note when a lane was given the call."""
        ...

    def run(self, stop: StopFlag, clock: Clock) -> Delivery:
        """Run in this thread, and say how the outcome is to be delivered."""
        ...


class Call(Generic[T]):
    """A function for a lane and where its outcome goes.

    Attributes:
        running_since_s: When a lane was given it, on the monotonic clock; None before, and as soon as it has ended,
            which is before its outcome is delivered.
    """

    def __init__(self, fn: Callable[[StopFlag], T], on_outcome: Callable[[Outcome[T]], None]) -> None:
        self._fn = fn
        self._on_outcome = on_outcome
        self.running_since_s: float | None = None

    def note_assigned(self, now_s: float) -> None:
        """Note when a lane was given the call."""
        self.running_since_s = now_s

    def run(self, stop: StopFlag, clock: Clock) -> Delivery:
        """Run the function in this thread; never raises an `Exception`."""
        outcome = self._outcome(stop, clock)
        self.running_since_s = None
        return lambda: self._on_outcome(outcome)

    def _outcome(self, stop: StopFlag, clock: Clock) -> Outcome[T]:
        started_s = clock.monotonic_s()
        try:
            value = self._fn(stop)
        except Exception as error:  # noqa: BLE001 - adapter border: model runtimes raise types of their own
            # A run that was told to stop may end in any error of the runtime; that is not the model's failure.
            return Stopped() if stop.is_set() else Raised(error, started_s)
        return Returned(value, started_s, (clock.monotonic_s() - started_s) * 1000)
