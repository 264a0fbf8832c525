"""Degraded and recovered events of one part of recall, with a cooldown for each cause.

Every occurrence is told: the sum over all events of one plus their `suppressed_count` (a recovered event stands for no
occurrence of its own) is the number of times it happened.
"""

from __future__ import annotations

from recalld.actors.events import EventBus, EventLevel
from recalld.actors.ports import Clock
from recalld.actors.supervisor.messages import GateTrouble
from recalld.models.domain.events import Event, EventName
from recalld.models.domain.reasons import DegradedReason
from recalld.models.policy import rate_limit
from recalld.models.policy.rate_limit import Cooldowns

_QUIET = frozenset({DegradedReason.GATE_DISABLED_BY_CONFIG, DegradedReason.OUT_OF_DOMAIN})
"""Nothing is broken: logged at DEBUG, and nothing to recover from."""


class Reporter:
    """Says that a part of recall is degraded, and that it has recovered.

    Args:
        events: Where the events go.
        clock: Time.
        cooldown_s: Seconds between two degraded events of one cause.
        degraded: Name of the event for trouble.
        recovered: Name of the event for its end.
    """

    def __init__(
        self, *, events: EventBus, clock: Clock, cooldown_s: float, degraded: EventName, recovered: EventName
    ) -> None:
        self._events = events
        self._clock = clock
        self._cooldowns = Cooldowns(cooldown_s=cooldown_s)
        self._degraded = degraded
        self._recovered = recovered
        self._announced: dict[str, None] = {}
        """Causes announced since the last recovery: without one there is nothing to announce the end of."""

    def degraded(self, trouble: GateTrouble) -> None:
        """Something went wrong: announce it, or count it until its cause's cooldown has passed."""
        self._cooldowns, emission = rate_limit.offer(self._cooldowns, trouble.cause, now_s=self._clock.monotonic_s())
        if emission is not None:
            self._announce(emission.cause, emission.suppressed_count)

    def flush(self) -> None:
        """Announce what was held back and whose cooldown has passed without another occurrence."""
        self._cooldowns, emissions = rate_limit.flush(self._cooldowns, now_s=self._clock.monotonic_s())
        for emission in emissions:
            # The event stands for the last of those held back; the others are its count.
            self._announce(emission.cause, emission.suppressed_count - 1)

    def recovered(self) -> None:
        """It works again. Announced once for whatever was announced before."""
        if not self._announced:
            return
        self._cooldowns, emissions = rate_limit.recover(self._cooldowns)
        causes, self._announced = self._announced, {}
        self._events.publish(
            Event(
                name=self._recovered,
                at_ms=self._clock.now_ms(),
                fields={
                    "causes": " ".join(causes),
                    "suppressed_count": sum(emission.suppressed_count for emission in emissions),
                },
            )
        )

    def close(self) -> None:
        """Let go of every count that is still held back, cooldown or not: nobody else will tell it."""
        self._cooldowns, emissions = rate_limit.recover(self._cooldowns)
        for emission in emissions:
            if emission.suppressed_count:
                self._announce(emission.cause, emission.suppressed_count - 1)

    def _announce(self, cause: str, suppressed_count: int) -> None:
        reason, _, detail = cause.partition(":")
        if reason not in _QUIET:
            self._announced[cause] = None
        self._events.publish(
            Event(
                name=self._degraded,
                at_ms=self._clock.now_ms(),
                fields={"reason": reason, "detail": detail, "suppressed_count": suppressed_count},
            ),
            EventLevel.DEBUG if reason in _QUIET else EventLevel.WARNING,
        )
