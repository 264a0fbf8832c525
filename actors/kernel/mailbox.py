"""A bounded queue of messages with one reader, which outlives the incarnations of its actor."""

from __future__ import annotations

import enum
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

import anyio

from recalld.actors.kernel.reply import AskFailure

M = TypeVar("M")


class PostOutcome(enum.StrEnum):
    """What became of a post. Only `ACCEPTED` hands the message over; otherwise the sender still owns it."""

    ACCEPTED = "accepted"
    FULL = "full"
    CLOSED = "closed"


class PendingReply(Protocol):
    """A reply whose type does not matter to the kernel."""

    def watch(self, on_settled: Callable[[], None]) -> None:
        """Call back once when the reply is settled."""
        ...

    def abandon(self, failure: AskFailure) -> None:
        """Tell the asker that no answer will come."""
        ...


@dataclass(frozen=True, slots=True)
class Envelope(Generic[M]):
    """A message, and the reply it carries when it is an ask."""

    message: M
    reply: PendingReply | None


class Mailbox(Generic[M]):
    """Messages waiting for an actor.

    It closes in two steps. `close` refuses the public and lets the actor post to itself, so that work in flight can
    still be finished while it drains. `seal` refuses everybody.
    """

    def __init__(self, messages_max: int) -> None:
        if messages_max < 1:
            msg = f"mailbox_max is {messages_max}: give 1 or more"
            raise ValueError(msg)
        self._messages_max = messages_max
        self._envelopes: deque[Envelope[M]] = deque()
        self._is_closed = False
        self._is_sealed = False
        self._waiter: anyio.Event | None = None

    def __len__(self) -> int:
        return len(self._envelopes)

    @property
    def is_closed(self) -> bool:
        """Whether the public is refused."""
        return self._is_closed

    def put(self, envelope: Envelope[M], *, is_own: bool) -> PostOutcome:
        """Queue a message, or say why not. Never blocks."""
        if self._is_sealed or (self._is_closed and not is_own):
            return PostOutcome.CLOSED
        if len(self._envelopes) >= self._messages_max:
            return PostOutcome.FULL
        self._envelopes.append(envelope)
        self.wake()
        return PostOutcome.ACCEPTED

    def take(self) -> Envelope[M] | None:
        """The oldest message, or None when none waits."""
        return self._envelopes.popleft() if self._envelopes else None

    def close(self) -> None:
        """Refuse the public from now on."""
        self._is_closed = True
        self.wake()

    def seal(self) -> list[Envelope[M]]:
        """Refuse everybody from now on, and hand out what was never delivered."""
        self._is_closed = True
        self._is_sealed = True
        undelivered = list(self._envelopes)
        self._envelopes.clear()
        return undelivered

    def wake(self) -> None:
        """Make the reader look again."""
        if self._waiter is not None:
            self._waiter.set()

    async def wait_for_change(self) -> None:
        """Wait until `wake` is called.

        A wake before the call is not remembered: the reader looks at everything it waits for right before, and does not
        await in between.
        """
        waiter = anyio.Event()
        self._waiter = waiter
        await waiter.wait()
