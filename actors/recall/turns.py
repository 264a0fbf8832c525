"""Turns: how many recalls are worked on at once, and which are told at once that they would come too late."""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager

import anyio

from recalld.actors.ports import Clock
from recalld.models.policy.recall_load import RecallLoad


class NoTurnError(Exception):
    """More recalls are in flight than can be answered in time; nothing was done for this one."""


class RecallTurns:
    """The recalls of all users take turns here: users one after another, the recalls of one user as they arrived.

    Args:
        clock: Time.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._load = RecallLoad()
        self._waiting: OrderedDict[str, deque[anyio.Event]] = OrderedDict()

    @asynccontextmanager
    async def turn(self, user: str, *, deadline_s: float) -> AsyncIterator[None]:
        """A turn for one recall.

        Args:
            user: Whose it is: a burst of one user is in the way of that user, and hardly of another.
            deadline_s: When it must have been answered, in seconds on the monotonic clock.

        Raises:
            NoTurnError: At once, when it cannot be answered by then; later, when its turn did not come early enough.
        """
        if not self._load.has_room(self._ahead_of(user), left_s=deadline_s - self._clock.monotonic_s()):
            raise NoTurnError
        self._load.take()
        await self._begin(user, deadline_s - self._load.cost_s)
        try:
            yield
        finally:
            self._end()

    def is_crowded(self, *, deadline_s: float) -> bool:
        """Whether a recall should do without models, so that the others are answered at all."""
        return self._load.is_crowded(left_s=deadline_s - self._clock.monotonic_s())

    @contextmanager
    def waiting(self) -> Iterator[None]:
        """While the block runs, the recall whose turn it is only waits for a thread, and another one may work."""
        self._load.pause(now_s=self._clock.monotonic_s())
        self._call_next()
        try:
            yield
        finally:
            # At once, also beyond the bound: it is nearer to its deadline than whoever has not begun.
            self._load.resume(now_s=self._clock.monotonic_s())

    def _ahead_of(self, user: str) -> int:
        """Recalls that come before a new one of this user: those begun, and what waits as turns are given."""
        own = len(self._waiting.get(user, ()))
        waiting = sum(len(calls) for calls in self._waiting.values())
        of_others = sum(min(len(calls), own + 1) for other, calls in self._waiting.items() if other != user)
        return self._load.in_flight - waiting + own + of_others

    async def _begin(self, user: str, until_s: float) -> None:
        if self._load.is_open and not self._waiting:
            self._load.begin(now_s=self._clock.monotonic_s())
            return
        called = anyio.Event()
        self._waiting.setdefault(user, deque()).append(called)
        try:
            with anyio.move_on_after(until_s - self._clock.monotonic_s()):
                await called.wait()
        except BaseException:
            self._leave(user, called)
            raise
        if not called.is_set():
            self._leave(user, called)
            raise NoTurnError

    def _leave(self, user: str, called: anyio.Event) -> None:
        if called.is_set():  # its turn came in the very moment in which its asker left
            self._end()
            return
        self._waiting[user].remove(called)
        if not self._waiting[user]:
            del self._waiting[user]
        self._load.give_up()

    def _end(self) -> None:
        self._load.end(now_s=self._clock.monotonic_s())
        self._call_next()

    def _call_next(self) -> None:
        """Hand the free turns to those who have waited longest, user by user."""
        while self._waiting and self._load.is_open:
            user, calls = self._waiting.popitem(last=False)
            self._load.begin(now_s=self._clock.monotonic_s())
            calls.popleft().set()
            if calls:
                self._waiting[user] = calls
