"""Whether one more recall can be answered in time, learned from how fast recalls are answered.

Guards: the recalls that were taken. With more of them in flight than the process can finish within an envelope, all of
them would be late; so those beyond are told so at once.
Cost: a few additions for each recall.
Fails: towards taking the recall. Before anything was measured, a fast machine is assumed.

The measure is the utilisation law of queueing theory: over any period, busy time divided by completions is what one
recall costs (Denning and Buzen, "The Operational Analysis of Queueing Network Models", 1978). Busy is the time in which
at least one recall is being worked on; one that waits for a model is not, because models have queues and predictions of
their own.
"""

from __future__ import annotations

from collections import deque
from typing import Final

COST_PRIOR_S: Final = 0.002
"""Measured: a recall by words alone takes 2 ms of one core of a 2-core server."""
SAMPLES_MAX: Final = 32
"""Completions over which the cost is taken: one burst, so that a change of load shows within a second."""
ALWAYS_TAKEN: Final = 8
"""Recalls before another that are never too many: so few say little about the load, and one alone is always tried."""
WORKING_MAX: Final = 8
"""Recalls that are begun at the same time: enough to keep the event loop and the database's readers busy. Those behind
wait for their turn, in order, so that under load the first are answered early instead of all of them late."""
CROWDED_SHARE: Final = 0.3
"""When the recalls in flight need more than this share of the time left, models are left alone: what they compute for
one recall takes the cores from all the others, which would then have no answer at all."""
FILLED_SHARE: Final = 0.8
"""Share of the time left that may be promised away: what a recall costs varies."""


class RecallLoad:
    """The recalls in flight, and what each costs. Deterministic: time comes in, in seconds on the monotonic clock."""

    def __init__(self) -> None:
        self._in_flight = 0
        self._working = 0
        self._busy_s = 0.0
        self._busy_since_s = 0.0
        self._busy_at_ends_s: deque[float] = deque(maxlen=SAMPLES_MAX + 1)

    @property
    def in_flight(self) -> int:
        """Recalls that were taken and have not ended."""
        return self._in_flight

    @property
    def cost_s(self) -> float:
        """Seconds of work that one recall takes, without its waiting for models."""
        ends = self._busy_at_ends_s
        if len(ends) <= SAMPLES_MAX // 2:
            return COST_PRIOR_S
        return (ends[-1] - ends[0]) / (len(ends) - 1)

    @property
    def is_open(self) -> bool:
        """Whether one more recall may begin to work now."""
        return self._working < WORKING_MAX

    def has_room(self, ahead: int, *, left_s: float) -> bool:
        """Whether one more recall can be answered within `left_s`, when so many come before it."""
        return ahead < ALWAYS_TAKEN or (ahead + 1) * self.cost_s <= FILLED_SHARE * left_s

    def is_crowded(self, *, left_s: float) -> bool:
        """Whether a recall with so much time left should do without models, for the sake of the others."""
        return self._in_flight > ALWAYS_TAKEN and self._in_flight * self.cost_s > CROWDED_SHARE * left_s

    def take(self) -> None:
        """A recall was taken; it waits for its turn."""
        self._in_flight += 1

    def give_up(self) -> None:
        """It was taken, and its turn did not come in time."""
        self._in_flight -= 1

    def begin(self, *, now_s: float) -> None:
        """Its turn has come."""
        self.resume(now_s=now_s)

    def end(self, *, now_s: float) -> None:
        """It has ended, in whatever way."""
        self.pause(now_s=now_s)
        self._in_flight -= 1
        self._busy_at_ends_s.append(self._busy_s + (now_s - self._busy_since_s if self._working else 0.0))

    def pause(self, *, now_s: float) -> None:
        """A recall begins to wait for a model."""
        self._working -= 1
        if self._working == 0:
            self._busy_s += now_s - self._busy_since_s

    def resume(self, *, now_s: float) -> None:
        """It has its answer, or has stopped waiting."""
        if self._working == 0:
            self._busy_since_s = now_s
        self._working += 1
