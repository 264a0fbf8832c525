"""One life of an actor: from `started`, through its messages and child tasks, to `stopped`."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Generic, TypeVar, TypeVarTuple

import anyio
import anyio.abc
import anyio.lowlevel

from recalld.actors.kernel.actor import Actor, ActorContext, StopReason
from recalld.actors.kernel.address import Address
from recalld.actors.kernel.bounds import STOPPED_HOOK_S_MAX
from recalld.actors.kernel.mailbox import Mailbox, PendingReply
from recalld.actors.kernel.reply import AskFailure
from recalld.actors.ports import Clock
from recalld.models.domain.errors import InvariantError

M = TypeVar("M")
Args = TypeVarTuple("Args")


class Incarnation(Generic[M]):
    """Runs one actor object over a mailbox that outlives it.

    It knows every ask that was delivered to the actor and is not answered yet, so that no asker is left waiting when
    the actor fails, and so that a drain waits for answers which worker threads still owe.
    """

    def __init__(
        self,
        *,
        build: Callable[[], Actor[M]],
        mailbox: Mailbox[M],
        own_address: Address[M],
        clock: Clock,
        restarts: int,
    ) -> None:
        self._build = build
        self._mailbox = mailbox
        self._ctx = ActorContext(address=own_address, clock=clock, restarts=restarts, tasks=self)
        self._actor: Actor[M] | None = None
        self._task_group: anyio.abc.TaskGroup | None = None
        self._foreground_tasks = 0
        self._unanswered: dict[int, PendingReply] = {}

    async def run(self) -> None:
        """Live until drained. Raises whatever a hook or a child task raised, possibly inside an exception group."""
        try:
            async with anyio.create_task_group() as task_group:
                self._task_group = task_group
                self._actor = self._build()
                await self._actor.started(self._ctx)
                await self._handle_messages(self._actor)
                task_group.cancel_scope.cancel()  # only background tasks are left
        finally:
            self._task_group = None

    async def stop(self, reason: StopReason) -> str:
        """Call `stopped`, then fail every ask that is still unanswered.

        The hook comes first, so that an actor may answer what is pending in its own way. It is shielded, because it
        must also run when the actor is killed, and bounded, because nothing could cancel it otherwise.

        Returns:
            The type name of what went wrong in the hook; empty when nothing did.
        """
        error_type = ""
        try:
            with anyio.move_on_after(STOPPED_HOOK_S_MAX, shield=True) as scope:
                if self._actor is not None:
                    await self._actor.stopped(reason, self._ctx)
            if scope.cancelled_caught:
                error_type = TimeoutError.__name__
        except Exception as error:  # noqa: BLE001 - run loop: a failing hook must not keep askers waiting
            error_type = type(error).__name__
        finally:
            for reply in tuple(self._unanswered.values()):
                reply.abandon(AskFailure.DIED)
        return error_type

    def spawn(self, fn: Callable[[*Args], Awaitable[None]], *args: *Args, name: str, is_background: bool) -> None:
        """Start a child task (see `ActorContext.spawn`)."""
        if self._task_group is None:
            msg = f"{self._ctx.name} started the task {name!r} outside its life"
            raise InvariantError(msg)
        task_name = f"{self._ctx.name}:{name}"
        if not is_background:
            self._foreground_tasks += 1
        self._task_group.start_soon(self._run_task, lambda: fn(*args), is_background, name=task_name)

    async def _run_task(self, call: Callable[[], Awaitable[None]], is_background: bool) -> None:  # noqa: FBT001 - start_soon passes by position
        try:
            await call()
        finally:
            if not is_background:
                self._foreground_tasks -= 1
                self._mailbox.wake()

    async def _handle_messages(self, actor: Actor[M]) -> None:
        while True:
            # A handler that never awaits must not starve the loop; and cancellation strikes here, before a message is
            # taken, rather than between taking and handling it.
            await anyio.lowlevel.checkpoint()
            envelope = self._mailbox.take()
            if envelope is not None:
                if envelope.reply is not None:
                    self._owe(envelope.reply)
                await actor.handle(envelope.message, self._ctx)
            elif self._mailbox.is_closed and not self._foreground_tasks and not self._unanswered:
                self._mailbox.seal()  # in the same step, so that nothing can be accepted and then forgotten
                return
            else:
                await self._mailbox.wait_for_change()

    def _owe(self, reply: PendingReply) -> None:
        key = id(reply)
        self._unanswered[key] = reply

        def settled() -> None:
            del self._unanswered[key]
            self._mailbox.wake()

        reply.watch(settled)
