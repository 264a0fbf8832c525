"""Health, circuit breaker, and degraded events with their cooldown."""

from recalld.actors.supervisor.actor import Conditions, SupervisorActor
from recalld.actors.supervisor.guard import GateGuard
from recalld.actors.supervisor.messages import ActorFailed, Flush, GateTrouble, RecallFinished, SupervisorMessage

__all__ = [
    "ActorFailed",
    "Conditions",
    "Flush",
    "GateGuard",
    "GateTrouble",
    "RecallFinished",
    "SupervisorActor",
    "SupervisorMessage",
]
