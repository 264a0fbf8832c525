"""One at a time for each key: who asks for what is being made already waits for it instead of making it again."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Hashable
from typing import Generic, TypeVar

import anyio

K = TypeVar("K", bound=Hashable)
T = TypeVar("T")


class SingleFlight(Generic[K]):
    """Keeps nothing itself: whoever uses it says what is known, and remembers what was made.

    What a maker raises goes to its own caller alone. Whoever waited looks again then, and makes the value if it is
    still not known; so does everybody who waited for a caller that was cancelled, one after another.
    """

    def __init__(self) -> None:
        self._running: dict[K, anyio.Event] = {}

    async def get(self, key: K, *, known: Callable[[], T | None], make: Callable[[], Awaitable[T]]) -> tuple[T, bool]:
        """The value of a key, and whether it was known, at once or after waiting for another caller's.

        Args:
            key: Which value.
            known: What is remembered of it; None: nothing that would do.
            make: Makes it, and remembers it if it is worth it.
        """
        while True:
            found = known()
            if found is not None:
                return found, True
            running = self._running.get(key)
            if running is None:
                break
            await running.wait()
        ended = self._running[key] = anyio.Event()
        try:
            return await make(), False
        finally:
            del self._running[key]
            ended.set()
