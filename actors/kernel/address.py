"""Where messages to an actor are sent: stable across its restarts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

from recalld.actors.kernel.mailbox import Envelope, Mailbox, PostOutcome
from recalld.actors.kernel.reply import AskError, AskFailure, Reply
from recalld.actors.ports import Clock

M_contra = TypeVar("M_contra", contravariant=True)
R = TypeVar("R")


class Address(Generic[M_contra]):
    """A handle for sending messages to one actor, from the event loop's thread.

    An actor's own address (`ActorContext.address`) keeps working while the actor drains; everybody else's is closed
    then.

    Attributes:
        name: The actor's name.
    """

    def __init__(self, *, name: str, mailbox: Mailbox[M_contra], clock: Clock, is_own: bool = False) -> None:
        self.name = name
        self._mailbox = mailbox
        self._clock = clock
        self._is_own = is_own

    @property
    def is_open(self) -> bool:
        """Whether the actor takes messages from outside; a full mailbox is still open."""
        return not self._mailbox.is_closed

    @property
    def depth(self) -> int:
        """Messages waiting."""
        return len(self._mailbox)

    def post(self, message: M_contra) -> PostOutcome:
        """Send a message without waiting for anything. Never blocks."""
        return self._mailbox.put(Envelope(message, None), is_own=self._is_own)

    async def ask(self, build: Callable[[Reply[R]], M_contra], *, deadline_s: float) -> R:
        """Send a message that carries a reply, and wait for the answer.

        Args:
            build: Makes the message around the reply.
            deadline_s: When to stop waiting, in seconds on the monotonic clock.

        Raises:
            AskError: `BUSY`, `CLOSED`, `TIMEOUT` or `DIED`.
            RecalldError: The actor answered with it.
        """
        if self._clock.monotonic_s() >= deadline_s:
            raise AskError(AskFailure.TIMEOUT, self.name)
        reply: Reply[R] = Reply(actor=self.name, deadline_s=deadline_s, clock=self._clock)
        match self._mailbox.put(Envelope(build(reply), reply), is_own=self._is_own):
            case PostOutcome.FULL:
                raise AskError(AskFailure.BUSY, self.name)
            case PostOutcome.CLOSED:
                raise AskError(AskFailure.CLOSED, self.name)
            case PostOutcome.ACCEPTED:
                return await reply.wait()
