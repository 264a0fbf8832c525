"""One-for-one supervision: starts actors, restarts them when they fail, drains and kills them."""

from __future__ import annotations

import random
from collections.abc import Callable, Coroutine, Sequence
from types import TracebackType
from typing import Never, Protocol, Self, TypeVar

import anyio
import anyio.abc

from recalld.actors.kernel.actor import StopReason
from recalld.actors.kernel.address import Address
from recalld.actors.kernel.child import Child, Surroundings
from recalld.actors.kernel.spec import ActorEscalated, ActorSpec, Trouble
from recalld.actors.ports import Clock
from recalld.models.domain.errors import ErrorCode, InvariantError, RecalldError

M = TypeVar("M")

ActorRef = str | Address[Never]
"""An actor by name or by address. An address means this very actor, not a later one of the same name."""


class _AnyChild(Protocol):
    """A child whose message type does not matter."""

    name: str
    restarts: int
    reason: StopReason | None

    @property
    def address(self) -> Address[Never]: ...

    def begin_drain(self) -> None: ...

    def kill(self) -> None: ...

    async def wait_ended(self) -> None: ...


class Supervisor:
    """Runs actors inside an `async with` block; leaving the block kills those that still run.

    An actor that exhausts its restart window ends the block: all other actors are killed, the block's body is
    cancelled, and `ActorEscalated` leaves the `async with` statement.
    """

    def __init__(
        self,
        *,
        clock: Clock,
        rng: random.Random,
        on_restart: Callable[[str, str], None],
        on_trouble: Callable[[Trouble], None] | None = None,
    ) -> None:
        self._around = Surroundings(
            clock=clock, rng=rng, on_restart=on_restart, on_trouble=on_trouble or (lambda _trouble: None)
        )
        self._children: dict[str, _AnyChild] = {}
        self._restarts_of_ended = 0
        self._task_group: anyio.abc.TaskGroup | None = None
        self._is_draining = False

    async def __aenter__(self) -> Self:
        task_group = anyio.create_task_group()
        await task_group.__aenter__()
        self._task_group = task_group
        return self

    async def __aexit__(
        self, exc_type: type[BaseException] | None, exc: BaseException | None, traceback: TracebackType | None
    ) -> bool:
        task_group, self._task_group = self._task_group, None
        if task_group is None:
            msg = "the supervisor was left without having been entered"
            raise InvariantError(msg)
        for child in tuple(self._children.values()):
            child.kill()
        try:
            return bool(await task_group.__aexit__(exc_type, exc, traceback))
        except BaseExceptionGroup as group:
            escalations, others = group.split(ActorEscalated)
            if escalations is not None and others is None:
                # Naked, so that `except ActorEscalated` and `except* ActorEscalated` both work.
                escalated = _leaves(escalations)[0]
                raise escalated from escalated.__cause__
            if exc is not None and _leaves(group) == [exc]:
                return False  # the body's own error, as it was
            raise

    @property
    def restarts(self) -> int:
        """Restarts of all actors so far."""
        return self._restarts_of_ended + sum(child.restarts for child in self._children.values())

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the living actors, oldest first."""
        return tuple(self._children)

    def restarts_of(self, name: str) -> int:
        """Restarts of a living actor; 0 when there is none of that name."""
        child = self._children.get(name)
        return child.restarts if child is not None else 0

    def start(self, spec: ActorSpec[M]) -> Address[M]:
        """Start an actor; messages may be sent to its address at once.

        Raises:
            InvariantError: An actor of that name lives, or the supervisor is not running.
            RecalldError: `DRAINING` once `drain_all` has begun.
            ValueError: The spec is not valid; the message names the field.
        """
        if self._task_group is None:
            msg = f"{spec.name} was started outside its supervisor's block"
            raise InvariantError(msg)
        if self._is_draining:
            raise RecalldError(ErrorCode.DRAINING, "the daemon is shutting down; try again after its restart")
        if spec.name in self._children:
            msg = f"an actor named {spec.name} is running already"
            raise InvariantError(msg)
        child = Child(spec, self._around)
        self._children[spec.name] = child
        self._task_group.start_soon(self._run_child, child, child.run, name=spec.name)
        return child.address

    async def drain(self, actor: ActorRef, deadline_s: float) -> StopReason | None:
        """Close an actor's address, let it finish what it has taken, and wait until it has ended.

        Args:
            actor: Which one.
            deadline_s: When to kill it instead, in seconds on the monotonic clock.

        Returns:
            Why it ended; None when no such actor is running.
        """
        child = self._find(actor)
        return None if child is None else await self._drain_child(child, deadline_s)

    async def kill(self, actor: ActorRef) -> StopReason | None:
        """Cancel an actor and wait until it has ended; as `drain` otherwise."""
        child = self._find(actor)
        if child is None:
            return None
        child.kill()
        await child.wait_ended()
        return child.reason

    async def drain_all(self, order: Sequence[str], deadline_s: float) -> None:
        """Drain every actor, group by group, so that each group can still use the later ones while it finishes.

        Args:
            order: Names; each stands for the actor of that name and all whose names start with it and a slash. Actors
                that no entry covers come last, together.
            deadline_s: When to kill what is left, in seconds on the monotonic clock.
        """
        self._is_draining = True
        for group in order:
            await self._drain_group(
                [child for child in self._children.values() if f"{child.name}/".startswith(f"{group}/")], deadline_s
            )
        await self._drain_group(list(self._children.values()), deadline_s)

    async def _drain_group(self, group: Sequence[_AnyChild], deadline_s: float) -> None:
        for child in group:
            child.begin_drain()
        for child in group:
            await self._drain_child(child, deadline_s)

    async def _drain_child(self, child: _AnyChild, deadline_s: float) -> StopReason | None:
        child.begin_drain()
        with anyio.move_on_after(deadline_s - self._around.clock.monotonic_s()):
            await child.wait_ended()
        if child.reason is None:
            child.kill()
            await child.wait_ended()
        return child.reason

    def _find(self, actor: ActorRef) -> _AnyChild | None:
        if isinstance(actor, str):
            return self._children.get(actor)
        child = self._children.get(actor.name)
        return child if child is not None and child.address is actor else None

    async def _run_child(self, child: _AnyChild, run: Callable[[], Coroutine[None, None, None]]) -> None:
        try:
            await run()
        finally:
            del self._children[child.name]
            self._restarts_of_ended += child.restarts


def _leaves(group: BaseExceptionGroup[BaseException]) -> list[BaseException]:
    """All errors inside a group, however deeply nested, in order."""
    leaves: list[BaseException] = []
    for error in group.exceptions:
        if isinstance(error, BaseExceptionGroup):
            leaves.extend(_leaves(error))
        else:
            leaves.append(error)
    return leaves
