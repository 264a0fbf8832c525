"""An actor whose messages are async functions, so that each test says in its own body what the actor does."""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import TypedDict, Unpack

from virtual_time import LoopClock

from recalld.actors.kernel import Actor, ActorContext, ActorSpec, Reply, Restart, StopReason, Supervisor, Trouble

Step = Callable[["ActorContext[Step]"], Awaitable[None]]
"""A message: what the actor does when it handles it."""


@dataclass
class Script:
    """What a scripted actor did and is to do."""

    starts: list[float] = field(default_factory=list)
    """When each incarnation started."""
    stops: list[StopReason] = field(default_factory=list)
    on_start: Step | None = None
    on_stop: Callable[[StopReason], Awaitable[None]] | None = None


class ScriptedActor(Actor[Step]):
    def __init__(self, script: Script) -> None:
        self._script = script

    async def started(self, ctx: ActorContext[Step]) -> None:
        self._script.starts.append(ctx.clock.monotonic_s())
        if self._script.on_start is not None:
            await self._script.on_start(ctx)

    async def handle(self, message: Step, ctx: ActorContext[Step]) -> None:
        await message(ctx)

    async def stopped(self, reason: StopReason, ctx: ActorContext[Step]) -> None:
        self._script.stops.append(reason)
        if self._script.on_stop is not None:
            await self._script.on_stop(reason)


@dataclass
class Watched:
    """A supervisor with everything it reported."""

    clock: LoopClock = field(default_factory=LoopClock)
    restarts: list[tuple[str, str]] = field(default_factory=list)
    troubles: list[Trouble] = field(default_factory=list)

    def supervisor(self, seed: int = 1) -> Supervisor:
        return Supervisor(
            clock=self.clock,
            rng=random.Random(seed),
            on_restart=lambda name, error_type: self.restarts.append((name, error_type)),
            on_trouble=self.troubles.append,
        )


class ScriptedOptions(TypedDict, total=False):
    """Fields of the spec that a test may set."""

    name: str
    mailbox_max: int
    restart: Restart
    restarts_max: int
    window_s: float
    backoff_initial_s: float
    backoff_max_s: float


def scripted(script: Script, **options: Unpack[ScriptedOptions]) -> ActorSpec[Step]:
    """A spec with small bounds; restarts back off for 0.5 to 4 seconds."""
    spec = ActorSpec(
        name="scripted",
        build=lambda: ScriptedActor(script),
        mailbox_max=8,
        restarts_max=3,
        window_s=10.0,
        backoff_initial_s=1.0,
        backoff_max_s=4.0,
    )
    return dataclasses.replace(spec, **options)


def answering(value: int, *, after: Callable[[], Awaitable[None]] | None = None) -> Callable[[Reply[int]], Step]:
    """Builds an ask that is answered with `value`, after awaiting something."""

    def build(reply: Reply[int]) -> Step:
        async def answer(ctx: ActorContext[Step]) -> None:
            if after is not None:
                await after()
            reply.send(value)

        return answer

    return build


async def nothing(ctx: ActorContext[Step]) -> None:
    """A message that does nothing."""


async def fail(ctx: ActorContext[Step]) -> None:
    """A message that fails its actor."""
    msg = "scripted failure"
    raise OSError(msg)
