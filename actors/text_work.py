"""Work on long texts, in threads of their own, so that one pasted text does not hold up everybody else's recall.

Reading a turn of ordinary length takes well under a millisecond and is done at once; a hundred times that would be felt
by every other request on the event loop. The threads take turns with it every millisecond.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Protocol, TypeVar

import anyio
from anyio import to_thread

T = TypeVar("T")

LONG_CHARS: Final = 1_000
"""From here on a text is long: reading one that is made to take long would hold up the others."""
THREADS_MAX: Final = 2
"""Long texts read at the same time; more would only take the cores, and the interpreter, from each other."""


def is_long(chars: int) -> bool:
    """Whether reading so many characters is left to threads."""
    return chars >= LONG_CHARS


class TextWork(Protocol):
    """Runs functions of texts somewhere."""

    async def run(self, work: Callable[[], T], *, chars: int) -> T:
        """Run `work`, which reads so many characters and touches nothing that others change."""
        ...

    async def run_apart(self, work: Callable[[], T]) -> T:
        """Run `work` where it holds up nobody, to its end whatever becomes of the caller."""
        ...


class ThreadedTextWork:
    """Reads short texts at once and long ones in threads, which are shared by nobody else."""

    def __init__(self) -> None:
        self._threads = anyio.CapacityLimiter(THREADS_MAX)

    async def run(self, work: Callable[[], T], *, chars: int) -> T:
        """Run `work`. When the caller is cancelled, it goes on by itself and its result goes nowhere."""
        if not is_long(chars):
            return work()
        return await to_thread.run_sync(work, abandon_on_cancel=True, limiter=self._threads)

    async def run_apart(self, work: Callable[[], T]) -> T:
        """Run `work` in a thread; a caller that is cancelled leaves when it is done."""
        return await to_thread.run_sync(work, limiter=self._threads)


class ImmediateTextWork:
    """Reads everything at once: for clocks that do not wait for threads."""

    async def run(self, work: Callable[[], T], *, chars: int) -> T:  # noqa: ARG002 - the protocol's
        """Run `work`."""
        return work()

    async def run_apart(self, work: Callable[[], T]) -> T:
        """Run `work`."""
        return work()
