"""What an actor is: three hooks, and the context they are called with."""

from __future__ import annotations

import enum
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable
from typing import Generic, Protocol, TypeVar, TypeVarTuple

from recalld.actors.kernel.address import Address
from recalld.actors.ports import Clock

M = TypeVar("M")
Args = TypeVarTuple("Args")


class StopReason(enum.StrEnum):
    """Why an incarnation of an actor ended."""

    DRAINED = "drained"
    """It finished everything it had taken."""
    KILLED = "killed"
    """It was cancelled: by `kill`, at a drain's deadline, or because its supervisor ended."""
    FAILED = "failed"
    """It raised, or one of its child tasks did; another incarnation may follow."""
    ESCALATED = "escalated"
    """It raised once too often; its supervisor ends with it."""


class ChildTasks(Protocol):
    """What the kernel offers the context for child tasks."""

    def spawn(self, fn: Callable[[*Args], Awaitable[None]], *args: *Args, name: str, is_background: bool) -> None:
        """Start a child task of the incarnation."""
        ...


class ActorContext(Generic[M]):
    """What one incarnation of an actor may use of the kernel.

    Attributes:
        name: The actor's name.
        address: The actor's own address, open until the actor has really ended.
        clock: Time.
        restarts: How many incarnations failed before this one.
    """

    def __init__(self, *, address: Address[M], clock: Clock, restarts: int, tasks: ChildTasks) -> None:
        self.name = address.name
        self.address = address
        self.clock = clock
        self.restarts = restarts
        self._tasks = tasks

    @property
    def is_draining(self) -> bool:
        """Whether the actor has stopped taking messages from outside."""
        return not self.address.is_open

    def spawn(
        self,
        fn: Callable[[*Args], Awaitable[None]],
        *args: *Args,
        name: str,
        is_background: bool = False,
    ) -> None:
        """Start a child task that lives no longer than this incarnation.

        An exception in it fails the whole actor. It is cancelled when the actor is killed or fails. When the actor
        drains it is waited for, unless it `is_background` (a timer, a watcher): then it is cancelled once all else is
        done.

        Raises:
            InvariantError: The incarnation has ended already.
        """
        self._tasks.spawn(fn, *args, name=name, is_background=is_background)


class Actor(ABC, Generic[M]):
    """Base of all actors. Hooks run one at a time; anything slow belongs in a child task (`ActorContext.spawn`).

    An exception that leaves a hook fails the incarnation: its child tasks are cancelled, every ask it took and did not
    answer fails with `DIED`, and what still waits in the mailbox goes to the next incarnation.
    """

    async def started(self, ctx: ActorContext[M], /) -> None:
        """Prepare; no message is handled before this returns."""

    @abstractmethod
    async def handle(self, message: M, ctx: ActorContext[M], /) -> None:
        """Handle one message."""

    async def stopped(self, reason: StopReason, ctx: ActorContext[M], /) -> None:
        """Let go of what `started` took; called once, also when `started` failed. Bounded by `STOPPED_HOOK_S_MAX`."""
