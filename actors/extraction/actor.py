"""The extraction actor: looks at each user's waiting turns when they are due, however late it is.

What waits is in the store, so nothing is lost with the process: an actor that starts looks at every user of whom
something waits. A model that does not answer holds up nobody but its own user.
"""

from __future__ import annotations

import anyio

from recalld.actors.extraction.dependencies import CALLS_MAX, ExtractionDependencies
from recalld.actors.extraction.messages import ExtractionMessage, ExtractNow, TurnWaits
from recalld.actors.extraction.user_queue import Look, UserQueue
from recalld.actors.kernel import Actor, ActorContext
from recalld.models.domain.errors import RecalldError
from recalld.models.policy.debounce import DebounceCode


class _Bell:
    """Wakes the task of one user."""

    def __init__(self) -> None:
        self._rung = anyio.Event()
        self.is_forced = False

    def ring(self, *, is_forced: bool) -> None:
        self.is_forced = self.is_forced or is_forced
        self._rung.set()

    @property
    def is_rung(self) -> bool:
        return self._rung.is_set()

    async def wait(self) -> None:
        await self._rung.wait()

    def quieten(self) -> bool:
        """Be ready for the next ring; whether somebody wants it now."""
        is_forced, self.is_forced = self.is_forced, False
        self._rung = anyio.Event()
        return is_forced


class ExtractionActor(Actor[ExtractionMessage]):
    """Serves all users, each in a task of its own for as long as something of the user waits."""

    def __init__(self, deps: ExtractionDependencies) -> None:
        self._deps = deps
        self._bells: dict[str, _Bell] = {}
        self._calls = anyio.CapacityLimiter(CALLS_MAX)

    async def started(self, ctx: ActorContext[ExtractionMessage]) -> None:
        """Look at whatever an earlier process, or incarnation, left waiting."""
        ctx.spawn(self._resume, ctx, name="resume", is_background=True)

    async def handle(self, message: ExtractionMessage, ctx: ActorContext[ExtractionMessage]) -> None:
        """See to it that the user's turns are looked at."""
        match message:
            case TurnWaits(user=user):
                self._wake(user, ctx, is_forced=False)
            case ExtractNow(user=user):
                self._wake(user, ctx, is_forced=True)

    async def _resume(self, ctx: ActorContext[ExtractionMessage]) -> None:
        while True:
            try:
                users = await self._deps.reader.pending_users()
            except RecalldError:
                await anyio.sleep(self._deps.rules.pause_ms / 1000)
                continue
            for user in users:
                self._wake(user, ctx, is_forced=False)
            return

    def _wake(self, user: str, ctx: ActorContext[ExtractionMessage], *, is_forced: bool) -> None:
        if ctx.is_draining:
            return
        bell = self._bells.get(user)
        if bell is None:
            bell = self._bells[user] = _Bell()
            ctx.spawn(self._serve, user, bell, name="queue", is_background=True)
        bell.ring(is_forced=is_forced)

    async def _serve(self, user: str, bell: _Bell) -> None:
        """Look, wait until it is due or a turn comes, and look again, until nothing waits any more."""
        queue = UserQueue(user, self._deps, self._calls)
        while True:
            is_forced = bell.quieten()
            look = await self._look(queue, is_forced=is_forced)
            # A turn may have come while the store was asked; the cooldown must outlive what it began with.
            if look.code is None and queue.is_cool and not bell.is_rung:
                del self._bells[user]
                return
            with anyio.move_on_after(max(0, look.look_at_ms - queue.now_ms()) / 1000):
                await bell.wait()

    async def _look(self, queue: UserQueue, *, is_forced: bool) -> Look:
        try:
            return await queue.look(is_forced=is_forced)
        except RecalldError:
            self._deps.counters["extraction_store_failures"] += 1
            return Look(code=DebounceCode.ERROR, look_at_ms=queue.now_ms() + self._deps.rules.pause_ms)
