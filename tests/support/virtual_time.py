"""Event loops whose time passes only when nothing is left to do, so that tests with time-outs take no time.

Real threads stay out of them: a thread that is still working looks to such a loop like nothing left to do.
"""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Mapping
from typing import Protocol

import anyio
import trio.testing


class HasFileno(Protocol):
    def fileno(self) -> int: ...


FileObject = int | HasFileno
BackendAndOptions = tuple[str, dict[str, object]]

EPOCH_MS = 1_790_000_000_000
"""Where the wall clock of `LoopClock` stands when the loop's own clock stands at zero."""


class NothingLeftToDoError(RuntimeError):
    """Every task waits, and no timer will ever wake one: the code under test would hang."""


class _JumpingSelector(selectors.BaseSelector):
    """Asks a real selector without waiting; when nothing is ready, moves the loop's time instead."""

    def __init__(self) -> None:
        self.now_s = 0.0
        self._selector = selectors.DefaultSelector()

    def register(self, fileobj: FileObject, events: int, data: object = None) -> selectors.SelectorKey:
        return self._selector.register(fileobj, events, data)

    def unregister(self, fileobj: FileObject) -> selectors.SelectorKey:
        return self._selector.unregister(fileobj)

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        ready = self._selector.select(0)
        if ready:
            return ready
        if timeout is None:
            msg = "all tasks wait and no timer is set"
            raise NothingLeftToDoError(msg)
        self.now_s += max(timeout, 0.0)
        return []

    def close(self) -> None:
        self._selector.close()

    def get_map(self) -> Mapping[FileObject, selectors.SelectorKey]:
        return self._selector.get_map()


class VirtualTimeLoop(asyncio.SelectorEventLoop):
    """An asyncio loop in virtual time; starts at 0 seconds."""

    def __init__(self) -> None:
        self._jumping_selector = _JumpingSelector()
        super().__init__(self._jumping_selector)

    def time(self) -> float:
        return self._jumping_selector.now_s


class LoopClock:
    """A `Clock` that reads the running loop's time; its wall clock starts at `EPOCH_MS`, and `jump_ms` moves it."""

    def __init__(self) -> None:
        self.jump_ms = 0

    def monotonic_s(self) -> float:
        return anyio.current_time()

    def now_ms(self) -> int:
        return EPOCH_MS + self.jump_ms + round(anyio.current_time() * 1000)


class ManualClock:
    """A `Clock` that stands still until it is told to move; for code that runs without a loop."""

    def __init__(self, at_s: float = 0.0) -> None:
        self.at_s = at_s

    def monotonic_s(self) -> float:
        return self.at_s

    def now_ms(self) -> int:
        return EPOCH_MS + round(self.at_s * 1000)

    def advance(self, by_s: float) -> None:
        self.at_s += by_s


def asyncio_backend() -> BackendAndOptions:
    """For an `anyio_backend` fixture: asyncio in virtual time."""
    return ("asyncio", {"loop_factory": VirtualTimeLoop})


def trio_backend() -> BackendAndOptions:
    """For an `anyio_backend` fixture: trio in virtual time. Each call makes a clock of its own."""
    return ("trio", {"clock": trio.testing.MockClock(autojump_threshold=0)})


VIRTUAL_BACKENDS = {"asyncio": asyncio_backend, "trio": trio_backend}
"""Parameters of a fixture `anyio_backend`, which returns `VIRTUAL_BACKENDS[request.param]()`."""
