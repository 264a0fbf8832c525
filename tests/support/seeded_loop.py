"""A virtual-time loop whose every choice repeats.

anyio keeps tasks and cancel scopes in sets, and cancels them in the order of the sets, which follows their addresses.
Here both are numbered in the order in which they are made.
"""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Callable, Coroutine
from typing import TypeVar

import anyio
from anyio._backends import _asyncio as asyncio_backend
from virtual_time import VirtualTimeLoop

T = TypeVar("T")

_numbers = itertools.count()


class _NumberedTask(asyncio.Task[T]):
    def __init__(self, *args: object, **options: object) -> None:
        self._number = next(_numbers)
        super().__init__(*args, **options)  # type: ignore[arg-type]

    def __hash__(self) -> int:
        return self._number


class _NumberedScope(asyncio_backend.CancelScope):
    def __init__(self, *args: object, **options: object) -> None:
        self._number = next(_numbers)
        super().__init__(*args, **options)  # type: ignore[arg-type]

    def __hash__(self) -> int:
        return self._number


class SeededLoop(VirtualTimeLoop):
    """Virtual time, and the same order of everything in each run."""

    def __init__(self) -> None:
        super().__init__()
        self.set_task_factory(lambda loop, coro, **options: _NumberedTask(coro, loop=loop, **options))


def run_seeded(fn: Callable[[int], Coroutine[object, object, T]], seed: int) -> T:
    """Run an async function in a loop of its own; the same function and seed do the same to the last digit."""
    global _numbers  # noqa: PLW0603 - the numbers start anew with each run
    _numbers = itertools.count()
    plain = asyncio_backend.CancelScope
    asyncio_backend.CancelScope = _NumberedScope  # type: ignore[misc]
    try:
        return anyio.run(fn, seed, backend_options={"loop_factory": SeededLoop})
    finally:
        asyncio_backend.CancelScope = plain  # type: ignore[misc]
