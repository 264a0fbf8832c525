"""A circuit breaker as a pure state machine: state in, state out, time as an argument (seconds, monotonic)."""

from __future__ import annotations

import msgspec

from recalld.models.domain.health import BreakerState


class BreakerPolicy(msgspec.Struct, frozen=True, kw_only=True):
    """When to open, and how long to stay open.

    Attributes:
        failures_max: Failures in a row that open the breaker.
        open_s: How long it stays open before one call is let through to try.
        trial_s: How long that one call may take before another is let through: a lost answer must not keep it shut for
            ever.
    """

    failures_max: int = 5
    open_s: float = 10.0
    trial_s: float = 10.0

    def __post_init__(self) -> None:
        if self.failures_max < 1 or self.open_s <= 0 or self.trial_s <= 0:
            message = f"failures_max must be at least 1, open_s and trial_s above 0, got {self}"
            raise ValueError(message)


class Breaker(msgspec.Struct, frozen=True, kw_only=True):
    """The breaker at one moment; starts closed."""

    state: BreakerState = BreakerState.CLOSED
    failures: int = 0
    """Failures in a row while closed."""
    since_s: float = 0.0
    """When it opened, or when the trial began."""


def admit(breaker: Breaker, policy: BreakerPolicy, *, now_s: float) -> tuple[Breaker, bool]:
    """Whether a call may be made now, and the breaker afterwards.

    Open, it lets exactly one call through once `open_s` has passed; until that one answers (or `trial_s` has passed),
    no other.
    """
    if breaker.state is BreakerState.CLOSED:
        return breaker, True
    wait_s = policy.open_s if breaker.state is BreakerState.OPEN else policy.trial_s
    if now_s - breaker.since_s < wait_s:
        return breaker, False
    return Breaker(state=BreakerState.HALF_OPEN, since_s=now_s), True


def on_success(breaker: Breaker) -> Breaker:
    """The breaker after a call that worked: closed. An answer that comes in while it is open changes nothing."""
    return breaker if breaker.state is BreakerState.OPEN else Breaker()


def on_failure(breaker: Breaker, policy: BreakerPolicy, *, now_s: float) -> Breaker:
    """The breaker after a call that failed: open if it was the last straw or the trial."""
    if breaker.state is BreakerState.OPEN:
        return breaker
    failures = breaker.failures + 1
    if breaker.state is BreakerState.HALF_OPEN or failures >= policy.failures_max:
        return Breaker(state=BreakerState.OPEN, since_s=now_s)
    return Breaker(failures=failures)
