"""The gate's guard: breaker, cooldowns and counts behind one small object that recalls may read without waiting.

The supervisor actor is its only writer, except for `enter` and `leave`, which count the recalls that are in the gate
now.
Everything runs on the event loop's thread, so a plain object is enough.
"""

from __future__ import annotations

from recalld.actors.ports import Clock
from recalld.models.domain.health import BreakerState
from recalld.models.policy import breaker as breaker_rules
from recalld.models.policy.breaker import Breaker, BreakerPolicy


class GateGuard:
    """Whether the scorer may be asked, and how many recalls are asking it."""

    def __init__(self, policy: BreakerPolicy, clock: Clock) -> None:
        self._policy = policy
        self._clock = clock
        self._breaker = Breaker()
        self._in_gate = 0
        self._entries = 0

    @property
    def state(self) -> BreakerState:
        """The breaker's state."""
        return self._breaker.state

    def admit(self) -> bool:
        """Whether the scorer may be asked now; half-open, exactly one caller is let through."""
        self._breaker, is_admitted = breaker_rules.admit(self._breaker, self._policy, now_s=self._clock.monotonic_s())
        return is_admitted

    def enter(self) -> int:
        """A recall enters the gate; keep the ticket for `leave`."""
        self._in_gate += 1
        self._entries += 1
        return self._entries if self._in_gate == 1 else -1

    def leave(self, ticket: int) -> bool:
        """It leaves. Returns whether it was alone all the time: it found the gate empty and nobody came after it."""
        self._in_gate -= 1
        return ticket == self._entries

    def succeeded(self) -> None:
        """A real pair was scored."""
        self._breaker = breaker_rules.on_success(self._breaker)

    def failed(self) -> None:
        """The scorer failed, or stayed silent though it had nothing else to do."""
        self._breaker = breaker_rules.on_failure(self._breaker, self._policy, now_s=self._clock.monotonic_s())
