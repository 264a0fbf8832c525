"""The drift actor: looks at every user's newest decisions now and then, and publishes what may be wrong."""

from __future__ import annotations

import collections
from typing import Final

import anyio
import msgspec

from recalld.actors.drift.desk import USERS_MAX, DriftDesk
from recalld.actors.events import EventBus, EventLevel
from recalld.actors.kernel import Actor, ActorContext
from recalld.models.domain.drift import DriftAlarm, DriftReport, GateDrift
from recalld.models.domain.errors import RecalldError
from recalld.models.domain.events import Event, EventName
from recalld.models.policy.rate_limit import Cooldowns, offer

COUNTER: Final = "drift_alarms"
"""Counts every alarm of every look; the events have a cooldown."""


class LookAtDrift(msgspec.Struct, frozen=True, kw_only=True):
    """Time has passed: look at the decisions made since."""


class DriftLimits(msgspec.Struct, frozen=True, kw_only=True):
    """How often.

    Attributes:
        check_every_s: Seconds between two looks.
        alarm_every_s: Seconds between two events of the same alarm for the same user.
    """

    check_every_s: float = 900.0
    alarm_every_s: float = 86_400.0


class DriftActor(Actor[LookAtDrift]):
    """Looks, and says what it sees.

    Args:
        desk: Makes the reports.
        events: Where alarms go.
        counters: The daemon's counters, as `stats` shows them.
        limits: How often.
    """

    def __init__(
        self, desk: DriftDesk, *, events: EventBus, counters: collections.Counter[str], limits: DriftLimits
    ) -> None:
        self._desk = desk
        self._events = events
        self._counters = counters
        self._limits = limits
        self._cooldowns: collections.OrderedDict[str, Cooldowns] = collections.OrderedDict()

    async def started(self, ctx: ActorContext[LookAtDrift]) -> None:
        """Start the clockwork."""
        ctx.spawn(self._tick, ctx, name="tick", is_background=True)

    async def _tick(self, ctx: ActorContext[LookAtDrift]) -> None:
        while True:
            await anyio.sleep(self._limits.check_every_s)
            ctx.address.post(LookAtDrift())

    async def handle(self, message: LookAtDrift, ctx: ActorContext[LookAtDrift]) -> None:
        """Look once. A ledger that cannot be read is looked at again at the next tick."""
        del message, ctx
        try:
            reports = await self._desk.lately()
        except RecalldError:
            return
        for report in reports:
            for gate in report.gates:
                for alarm in gate.alarms:
                    self._raise(report, gate, alarm)

    def _raise(self, report: DriftReport, gate: GateDrift, alarm: DriftAlarm) -> None:
        """Announce an alarm, or count it until its cooldown has passed."""
        self._counters[COUNTER] += 1
        cooldowns = self._cooldowns.pop(report.user, Cooldowns(cooldown_s=self._limits.alarm_every_s))
        now_s = self._desk.clock.monotonic_s()
        cooldowns, emission = offer(cooldowns, f"{gate.gate}:{alarm.name}", now_s=now_s)
        self._cooldowns[report.user] = cooldowns
        if len(self._cooldowns) > USERS_MAX:
            self._cooldowns.popitem(last=False)
        if emission is None:
            return
        self._events.publish(
            Event(
                name=EventName.GATE_DRIFT_ALARM,
                at_ms=self._desk.clock.now_ms(),
                user=report.user,
                fields={
                    "gate": gate.gate,
                    "alarm": alarm.name,
                    "seen": alarm.seen,
                    "remedy": alarm.remedy,
                    "decisions": gate.n,
                    "earlier_decisions": gate.earlier_n,
                    "suppressed_count": emission.suppressed_count,
                },
            ),
            EventLevel.WARNING,
        )
