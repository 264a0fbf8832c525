"""One supervised actor: its mailbox, its incarnations one after another, and how it ends."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

import anyio

from recalld.actors.kernel.actor import StopReason
from recalld.actors.kernel.address import Address
from recalld.actors.kernel.incarnation import Incarnation
from recalld.actors.kernel.mailbox import Mailbox
from recalld.actors.kernel.reply import AskFailure
from recalld.actors.kernel.spec import ActorEscalated, ActorSpec, Restart, Trouble, TroubleKind
from recalld.actors.ports import Clock
from recalld.models.policy.restart_window import decide_restart

M = TypeVar("M")


@dataclass(frozen=True, kw_only=True, slots=True)
class Surroundings:
    """What all children of a supervisor share.

    Attributes:
        clock: Time.
        rng: Chance, for the jitter of restarts.
        on_restart: Called with the actor's name and the failure's type name before each restart.
        on_trouble: Called with everything else worth knowing.
    """

    clock: Clock
    rng: random.Random
    on_restart: Callable[[str, str], None]
    on_trouble: Callable[[Trouble], None]


@dataclass(frozen=True, slots=True)
class _End:
    """How an incarnation ended, and after how many seconds the next one follows (None: none does)."""

    reason: StopReason
    error: Exception | None = None
    delay_s: float | None = None


class Child(Generic[M]):
    """Runs an actor until it is drained, killed, escalates, or fails as a temporary one.

    Attributes:
        name: The actor's name.
        address: Where everybody else sends messages; stable across restarts.
        restarts: Restarts so far.
        reason: Why it ended; None while it lives.
    """

    def __init__(self, spec: ActorSpec[M], around: Surroundings) -> None:
        self.name = spec.name
        self.restarts = 0
        self.reason: StopReason | None = None
        self._spec = spec
        self._policy = spec.restart_policy
        self._around = around
        self._mailbox: Mailbox[M] = Mailbox(spec.mailbox_max)
        self.address: Address[M] = Address(name=spec.name, mailbox=self._mailbox, clock=around.clock)
        self._own_address: Address[M] = Address(name=spec.name, mailbox=self._mailbox, clock=around.clock, is_own=True)
        self._granted_s: tuple[float, ...] = ()
        self._kill_scope = anyio.CancelScope()
        self._ended = anyio.Event()

    def begin_drain(self) -> None:
        """Close the public address; the actor ends once it has finished what it took."""
        self._mailbox.close()

    def kill(self) -> None:
        """Cancel whatever the actor is doing."""
        self._kill_scope.cancel()

    async def wait_ended(self) -> None:
        """Wait until nothing of the actor runs any more."""
        await self._ended.wait()

    async def run(self) -> None:
        """Run the actor; raises `ActorEscalated`."""
        reason = StopReason.KILLED
        try:
            with self._kill_scope:
                reason = await self._live()
        except ActorEscalated:
            reason = StopReason.ESCALATED
            raise
        finally:
            self.reason = reason
            self._refuse_what_is_left()
            self._ended.set()

    async def _live(self) -> StopReason:
        while True:
            end = await self._incarnate()
            if end.reason is StopReason.ESCALATED:
                raise ActorEscalated(self.name, type(end.error).__name__) from end.error
            if end.delay_s is None:
                return end.reason
            self.restarts += 1
            self._around.on_restart(self.name, type(end.error).__name__)
            await anyio.sleep(end.delay_s)

    async def _incarnate(self) -> _End:
        incarnation = Incarnation(
            build=self._spec.build,
            mailbox=self._mailbox,
            own_address=self._own_address,
            clock=self._around.clock,
            restarts=self.restarts,
        )
        end = _End(StopReason.KILLED)
        try:
            await incarnation.run()
            end = _End(StopReason.DRAINED)
        except Exception as error:  # noqa: BLE001 - run loop: this is where an actor's failure becomes a decision
            # What fails while it is being cancelled was killed: it must neither restart nor escalate.
            if anyio.current_effective_deadline() != -math.inf:
                end = self._judge(_first_cause(error))
        except BaseExceptionGroup as group:
            # It failed and was killed before its tasks had unwound: trio hands over both, and the kill counts.
            _, interruption = group.split(Exception)
            if interruption is None:
                raise
            raise interruption from None
        finally:
            stop_error_type = await incarnation.stop(end.reason)
            if stop_error_type:
                self._report(TroubleKind.STOP_FAILED, error_type=stop_error_type)
        return end

    def _judge(self, error: Exception) -> _End:
        has_nothing_left_to_do = self._mailbox.is_closed and len(self._mailbox) == 0
        if self._spec.restart is Restart.TEMPORARY or has_nothing_left_to_do:
            self._report(TroubleKind.DIED, error_type=type(error).__name__)
            return _End(StopReason.FAILED, error)
        decision = decide_restart(
            self._policy,
            self._granted_s,
            now_s=self._around.clock.monotonic_s(),
            jitter=self._around.rng.random(),
        )
        self._granted_s = decision.granted_s
        if decision.delay_s is None:
            return _End(StopReason.ESCALATED, error)
        return _End(StopReason.FAILED, error, decision.delay_s)

    def _refuse_what_is_left(self) -> None:
        posts = 0
        for envelope in self._mailbox.seal():
            if envelope.reply is None:
                posts += 1
            else:
                envelope.reply.abandon(AskFailure.CLOSED)
        if posts:
            self._report(TroubleKind.UNDELIVERED, count=posts)

    def _report(self, kind: TroubleKind, *, error_type: str = "", count: int = 1) -> None:
        self._around.on_trouble(Trouble(actor=self.name, kind=kind, error_type=error_type, count=count))


def _first_cause(error: Exception) -> Exception:
    """The first error inside an exception group: the one that made the task group cancel the others."""
    while isinstance(error, ExceptionGroup):
        error = error.exceptions[0]
    return error
