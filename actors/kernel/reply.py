"""The answer to an ask: given exactly once, or known never to come.

Replies live on the event loop's thread. A worker thread that has an answer hands it to the loop first.
"""

from __future__ import annotations

import enum
from collections.abc import Callable
from typing import Generic, TypeVar

import anyio

from recalld.actors.ports import Clock
from recalld.models.domain.errors import InvariantError, RecalldError

R = TypeVar("R")


class AskFailure(enum.StrEnum):
    """Why an ask got no answer from its actor."""

    BUSY = "busy"
    """The mailbox was full; nothing was delivered."""
    CLOSED = "closed"
    """The actor no longer takes messages, or was stopped before it came to this one."""
    TIMEOUT = "timeout"
    """The deadline passed first; the actor may still do the work, and its answer goes nowhere."""
    DIED = "died"
    """The actor failed or was killed after it had taken the message and before it had answered."""


class AskError(Exception):
    """An ask that was not answered.

    Attributes:
        failure: Why.
        actor: Name of the actor that was asked.
    """

    def __init__(self, failure: AskFailure, actor: str) -> None:
        super().__init__(f"{actor}: {failure}")
        self.failure = failure
        self.actor = actor


class Reply(Generic[R]):
    """Where an actor puts its one answer to an ask.

    Attributes:
        deadline_s: When the asker stops waiting, in seconds on the monotonic clock.
    """

    def __init__(self, *, actor: str, deadline_s: float, clock: Clock) -> None:
        self.deadline_s = deadline_s
        self._actor = actor
        self._clock = clock
        self._is_answered = False
        self._outcome: Callable[[], R] | None = None
        self._is_settled = False
        self._settled = anyio.Event()
        self._watchers: list[Callable[[], None]] = []

    def send(self, value: R) -> bool:
        """Answer with a value.

        Returns:
            True when the asker was still there to take it; False when it had left, so that the value goes nowhere.

        Raises:
            InvariantError: This reply was answered before.
        """
        return self._answer(lambda: value)

    def fail(self, error: RecalldError) -> bool:
        """Answer with an operating error, which `Address.ask` raises. Otherwise as `send`."""

        def raise_error() -> R:
            raise error

        return self._answer(raise_error)

    def is_wanted(self) -> bool:
        """Whether somebody still waits for an answer and its deadline has not passed."""
        return not self._is_settled and self._clock.monotonic_s() < self.deadline_s

    def watch(self, on_settled: Callable[[], None]) -> None:
        """Call back once the reply is answered, abandoned or no longer waited for; at once if it is already.

        This is how an actor learns that the work for an ask may be dropped. The callback must not raise or wait.
        """
        if self._is_settled:
            on_settled()
        else:
            self._watchers.append(on_settled)

    def abandon(self, failure: AskFailure) -> None:
        """Tell the asker that no answer will come, unless one came already. For the kernel."""
        if self._is_settled:
            return

        def raise_failure() -> R:
            raise AskError(failure, self._actor)

        self._outcome = raise_failure
        self._settle()

    async def wait(self) -> R:
        """Wait for the answer until the deadline. For `Address.ask`, which calls it once.

        Raises:
            AskError: `TIMEOUT`, or whatever the reply was abandoned with.
            RecalldError: The actor answered with it.
        """
        try:
            # Relative to the clock that made the deadline, so that the loop's own clock need not agree with it.
            with anyio.move_on_after(self.deadline_s - self._clock.monotonic_s()):
                await self._settled.wait()
        finally:
            # Also on cancellation: from here on an answer is told that nobody waits.
            self._settle()
        # An answer given in the very tick of the deadline counts: its sender was told that it arrived.
        if self._outcome is None:
            raise AskError(AskFailure.TIMEOUT, self._actor)
        return self._outcome()

    def _answer(self, outcome: Callable[[], R]) -> bool:
        if self._is_answered:
            msg = f"{self._actor} answered the same ask twice"
            raise InvariantError(msg)
        self._is_answered = True
        if self._is_settled:
            return False
        self._outcome = outcome
        self._settle()
        return True

    def _settle(self) -> None:
        if self._is_settled:
            return
        self._is_settled = True
        self._settled.set()
        watchers, self._watchers = self._watchers, []
        for on_settled in watchers:
            on_settled()
