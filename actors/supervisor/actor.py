"""The supervisor: judges how recalls go, opens the breaker, and announces trouble and recovery with a cooldown."""

from __future__ import annotations

import collections
from typing import Final

import anyio

from recalld.actors.events import EventBus, EventLevel
from recalld.actors.kernel import Actor, ActorContext, StopReason
from recalld.actors.ports import Clock
from recalld.actors.supervisor.guard import GateGuard
from recalld.actors.supervisor.latency import LatencyWindow
from recalld.actors.supervisor.messages import ActorFailed, Flush, GateTrouble, RecallFinished, SupervisorMessage
from recalld.actors.supervisor.reporter import Reporter
from recalld.models.domain.events import Event, EventName
from recalld.models.domain.reasons import DegradedReason
from recalld.models.policy import fallback_window
from recalld.models.policy.fallback_window import FallbackCounts, FallbackWindow

FLUSH_EVERY_S = 5.0
"""Seconds between two looks for held-back events whose cooldown has passed."""
WINDOW_S = 900.0
"""Seconds over which `health` states the fallback rate."""


class Conditions:
    """What the supervisor knows, read by `health` and `stats`."""

    def __init__(self) -> None:
        self.fallbacks = FallbackWindow(window_s=WINDOW_S)
        self.latencies = LatencyWindow()
        self.counters: collections.Counter[str] = collections.Counter()

    def counts(self, now_s: float) -> FallbackCounts:
        """Recalls in the window, and the degraded ones by reason."""
        return fallback_window.counts(self.fallbacks, now_s=now_s)


class SupervisorActor(Actor[SupervisorMessage]):
    """Root of the daemon's self-knowledge.

    Args:
        events: Where degraded, recovered and restarted events go.
        clock: Time.
        guard: The breaker that recalls read.
        conditions: Outlives a restart of the actor.
        cooldown_s: Seconds between two events of one cause.
    """

    def __init__(
        self, *, events: EventBus, clock: Clock, guard: GateGuard, conditions: Conditions, cooldown_s: float
    ) -> None:
        self._events = events
        self._clock = clock
        self._guard = guard
        self._conditions = conditions
        self._gate = Reporter(
            events=events,
            clock=clock,
            cooldown_s=cooldown_s,
            degraded=EventName.MEMORY_RECALL_GATE_DEGRADED,
            recovered=EventName.MEMORY_RECALL_GATE_RECOVERED,
        )
        self._vector = Reporter(
            events=events,
            clock=clock,
            cooldown_s=cooldown_s,
            degraded=EventName.MEMORY_RECALL_VECTOR_DEGRADED,
            recovered=EventName.MEMORY_RECALL_VECTOR_RECOVERED,
        )

    async def started(self, ctx: ActorContext[SupervisorMessage]) -> None:
        """Start the clockwork that lets held-back events out."""
        ctx.spawn(self._tick, ctx, name="flush", is_background=True)

    async def _tick(self, ctx: ActorContext[SupervisorMessage]) -> None:
        while True:
            await anyio.sleep(FLUSH_EVERY_S)
            ctx.address.post(Flush())

    async def handle(self, message: SupervisorMessage, _ctx: ActorContext[SupervisorMessage]) -> None:
        """Take note of what happened."""
        match message:
            case RecallFinished():
                self._recall_finished(message)
            case Flush():
                self._gate.flush()
                self._vector.flush()
            case ActorFailed():
                self._conditions.counters["actor_restarts"] += 1
                self._events.publish(
                    Event(
                        name=EventName.ACTOR_RESTARTED,
                        at_ms=self._clock.now_ms(),
                        fields={"actor": message.actor, "error_type": message.error_type},
                    ),
                    EventLevel.WARNING,
                )

    async def stopped(self, _reason: StopReason, _ctx: ActorContext[SupervisorMessage]) -> None:
        """Let out the counts that are still held back."""
        self._gate.close()
        self._vector.close()

    def _recall_finished(self, done: RecallFinished) -> None:
        trouble = done.gate or done.vector
        reason = None if trouble is None else trouble.reason
        is_chosen = done.is_budget_own and reason in _TIME_REASONS
        conditions = self._conditions
        conditions.fallbacks = fallback_window.record(
            conditions.fallbacks, None if is_chosen else reason, now_s=self._clock.monotonic_s()
        )
        conditions.latencies.add("total", done.total_ms)
        if done.has_gated:
            conditions.latencies.add("gate", done.gate_ms)
        conditions.counters["recalls"] += 1
        conditions.counters[f"recalls_{done.mode}"] += 1
        if done.gate is not None:
            conditions.counters[f"gate_{done.gate.reason}"] += 1
            self._gate.degraded(done.gate)
            if _is_failure(done.gate, was_alone=done.was_alone) and not is_chosen:
                self._guard.failed()
        elif done.has_gated:
            self._guard.succeeded()
            self._gate.recovered()
        if done.vector is not None:
            conditions.counters[f"vector_{done.vector.reason}"] += 1
            self._vector.degraded(done.vector)
        elif done.is_vector_used:
            self._vector.recovered()


_TIME_REASONS: Final = frozenset(
    {DegradedReason.SUB_BUDGET_EXCEEDED, DegradedReason.ENVELOPE_EXCEEDED, DegradedReason.EMBED_TIMEOUT}
)
"""What a caller brings about that allows too little time: no fallback of the daemon's, and no fault of the scorer's."""


def _is_failure(trouble: GateTrouble, *, was_alone: bool) -> bool:
    """Whether the breaker should count it.

    A recall that runs out of its own time says nothing about the scorer, nor does a burst that runs into its deadlines:
    the next recall must be gated again. A scorer that answers with an error, or is at a lone recall's deadline still
    busy with a pair that should have ended long before, has failed.
    """
    if trouble.reason is DegradedReason.SCORE_FAILED:
        return True
    return trouble.is_scorer_overdue and trouble.reason is DegradedReason.SUB_BUDGET_EXCEEDED and was_alone
